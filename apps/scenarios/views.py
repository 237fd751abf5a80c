"""The list of utterances, and one utterance as a model sees it."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from apps.projects.permissions import can_administer, get_project_to_read
from apps.projects.requests import HtmxHttpRequest
from apps.scenarios.domain.consistency import Inconsistency, InconsistencyReason, check
from apps.scenarios.forms import UtteranceFilter
from apps.scenarios.models import Utterance
from apps.trees.models import Tree

UTTERANCES_ON_PAGE = 25

FINDINGS = {
    InconsistencyReason.UNKNOWN_QUESTION: "It has a question that its tree does not ask.",
    InconsistencyReason.CONTRADICTS: (
        "Its turns contradict each other, or the tree ends in another final answer."
    ),
    InconsistencyReason.ASKS_KNOWN_FACT: (
        "It asks what its history or its evidence has already answered."
    ),
    InconsistencyReason.DECIDES_EARLY: "It passes over a question that the tree still asks.",
    InconsistencyReason.OPEN_BRANCH: "The tree goes no further here yet.",
}


@require_safe
@vary_on_headers("HX-Target")
def utterance_list(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    form = UtteranceFilter(request.GET)
    utterances = Utterance.objects.visible_to(request.user).filter(project=project)
    shown = form.filtered(utterances).with_source().order_by("utterance_id")
    page = Paginator(shown, UTTERANCES_ON_PAGE).get_page(request.GET.get("page"))
    trees = Tree.objects.visible_to(request.user).filter(project=project).with_source()
    tree = trees.filter(tree_id=form.cleaned_data.get("tree") or "").first()
    context = {"project": project, "form": form, "page": page, "tree": tree}
    if request.htmx.target == "results":
        return render(request, "scenarios/_results.html", context)
    return render(request, "scenarios/list.html", context)


@require_safe
def utterance_detail(request: HtmxHttpRequest, slug: str, utterance_id: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    utterances = Utterance.objects.visible_to(request.user).filter(project=project)
    utterance = get_object_or_404(
        utterances.with_source().with_provenance(), utterance_id=utterance_id
    )
    context = {
        "project": project,
        "utterance": utterance,
        "can_administer": can_administer(request.user, project),
        **_finding(utterance),
    }
    return render(request, "scenarios/detail.html", context)


def _finding(utterance: Utterance) -> dict[str, str | None]:
    """In words, how the answer differs from what the tree says; nothing when it follows."""
    if utterance.kind == Utterance.Kind.NEGATIVE_QUESTION:
        return {}
    found = check(
        utterance.tree.to_domain(),
        utterance.history_turns,
        utterance.evidence_turns,
        utterance.answer,
    )
    if not isinstance(found, Inconsistency):
        return {}
    return {"finding": FINDINGS[found.reason], "expected": found.expected}
