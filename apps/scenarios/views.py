"""The list of utterances, and one utterance as a model sees it."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from apps.projects.paging import page_of
from apps.projects.permissions import can_administer, get_project_to_read
from apps.projects.requests import HtmxHttpRequest
from apps.scenarios.forms import UtteranceFilter
from apps.scenarios.models import Utterance
from apps.scenarios.services.proof import find_inconsistency
from apps.scenarios.services.verification import REASONS
from apps.trees.models import Tree

UTTERANCES_ON_PAGE = 25


@require_safe
@vary_on_headers("HX-Target")
def utterance_list(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    trees = Tree.objects.visible_to(request.user).filter(project=project)
    form = UtteranceFilter(request.GET, trees=trees)
    utterances = Utterance.objects.visible_to(request.user).filter(project=project)
    page = page_of(
        form.filtered(utterances).order_by("utterance_id"),
        utterances.with_source(),
        asked=request.GET.get("page"),
        size=UTTERANCES_ON_PAGE,
    )
    context = {"project": project, "form": form, "page": page}
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
    found = find_inconsistency(utterance.tree.to_domain(), utterance.kind, utterance.parts)
    if found is None:
        return {}
    return {"finding": REASONS[found.reason], "expected": found.expected}
