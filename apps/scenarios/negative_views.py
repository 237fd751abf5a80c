"""The negatives of a project: the list, one of them, mining, and the threshold."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from apps.projects.models import Job, Project
from apps.projects.permissions import (
    can_administer,
    get_project_to_administer,
    get_project_to_read,
    signed_in,
)
from apps.projects.requests import HtmxHttpRequest
from apps.scenarios.models import MINING
from apps.scenarios.negative_forms import (
    KINDS,
    DroppingForm,
    MiningForm,
    NegativeFilter,
    ThresholdForm,
)
from apps.scenarios.negative_page import (
    SOURCES,
    list_page,
    negative_page,
    numbers_page,
    similarities_page,
)
from apps.scenarios.services.negative_choices import (
    drop_negative,
    replace_negative,
    restore_negative,
)
from apps.scenarios.services.negatives import queue_mining
from apps.scenarios.services.similarities import measure_or_queue, set_threshold

SOMEBODY_WAS_FASTER = "Somebody else has decided about this one meanwhile; nothing was changed."


@require_safe
@vary_on_headers("HX-Target")
def negatives(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    return _list(request, project, MiningForm(project=project))


@require_POST
def negatives_mine(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """In the background, in as many parts as the trees want; each page shows its progress."""
    project = get_project_to_administer(request, slug)
    if Job.objects.unfinished().filter(project=project, kind=MINING).exists():
        messages.warning(request, "Negatives are being drawn already; wait for it, or stop it.")
        return redirect("scenarios:negatives", slug)
    form = MiningForm(request.POST, project=project)
    if not form.is_valid():
        return _list(request, project, form)
    anew = form.cleaned_data["anew"]
    jobs = queue_mining(project, form.wish, author=signed_in(request), anew=anew)
    return redirect(jobs[0]) if len(jobs) == 1 else redirect("scenarios:negatives", slug)


@require_safe
@never_cache
def negative(request: HttpRequest, slug: str, kind: str, negative_id: int) -> HttpResponse:
    return _one(request, _get(request, slug, kind, negative_id), kind, DroppingForm())


@require_POST
def negative_drop(request: HttpRequest, slug: str, kind: str, negative_id: int) -> HttpResponse:
    def drop(found: Any, reason: str) -> HttpResponse:
        dropped = drop_negative(
            found, reason=reason, actor=signed_in(request), now=timezone.now()
        )  # fmt: skip
        if dropped:
            messages.success(request, "It was dropped, and will not be drawn again.")
        else:
            messages.warning(request, SOMEBODY_WAS_FASTER)
        return redirect("scenarios:negative", slug, kind, negative_id)

    return _with_reason(request, slug, kind, negative_id, drop)


@require_POST
def negative_replace(request: HttpRequest, slug: str, kind: str, negative_id: int) -> HttpResponse:
    def replace(found: Any, reason: str) -> HttpResponse:
        job = replace_negative(found, reason=reason, actor=signed_in(request), now=timezone.now())
        if made := _say_what_replaced_it(request, job):
            return redirect("scenarios:negative", slug, kind, made)
        return redirect("scenarios:negative", slug, kind, negative_id)

    return _with_reason(request, slug, kind, negative_id, replace)


@require_POST
def negative_restore(request: HttpRequest, slug: str, kind: str, negative_id: int) -> HttpResponse:
    found = _get(request, slug, kind, negative_id)
    if restore_negative(found, actor=signed_in(request), now=timezone.now()):
        messages.success(request, "It is in force again, and its utterances are to be verified.")
    else:
        messages.warning(request, SOMEBODY_WAS_FASTER)
    return redirect("scenarios:negative", slug, kind, negative_id)


@require_safe
def similarities(request: HttpRequest, slug: str) -> HttpResponse:
    """How like candidate pairs are, and what a threshold would do; nothing is changed."""
    project = get_project_to_read(request, slug)
    form = ThresholdForm(request.GET if "threshold" in request.GET else None)
    threshold = form.cleaned_data["threshold"] if form.is_valid() else project.negative_threshold
    context = {
        **similarities_page(project, threshold),
        "form": form,
        "can_administer": can_administer(request.user, project),
    }
    return render(request, "scenarios/similarities.html", context)


@require_POST
def similarities_measure(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    job = measure_or_queue(project, author=signed_in(request))
    if not job.is_finished:
        messages.info(request, "The trees are read in the background; the picture will stand here.")
    return redirect("scenarios:similarities", slug)


@require_POST
def similarities_threshold(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    form = ThresholdForm(request.POST)
    if form.is_valid():
        set_threshold(project, form.cleaned_data["threshold"], actor=signed_in(request))
        messages.success(
            request, "Saved. It counts for what is drawn from now on; what was drawn before stays."
        )
    else:
        messages.error(request, "A threshold is a number from 0 to 1.")
    return redirect("scenarios:similarities", slug)


# Parts of the views --------------------------------------------------------------------------


def _list(request: HtmxHttpRequest, project: Project, mining_form: MiningForm) -> HttpResponse:
    form = NegativeFilter(request.GET)
    visible = {kind: model.objects.visible_to(request.user) for kind, model in KINDS.items()}
    context = list_page(project, visible, form, asked=request.GET.get("page"))
    if request.htmx.target == "results":
        return render(request, "scenarios/_negative_results.html", context)
    context |= {
        **numbers_page(project),
        "mining_form": mining_form,
        "can_administer": can_administer(request.user, project),
    }
    return render(request, "scenarios/negatives.html", context)


def _get(request: HttpRequest, slug: str, kind: str, negative_id: int) -> Any:
    project = get_project_to_read(request, slug)
    if kind not in KINDS:
        raise Http404("Negatives are questions or scenarios.")
    rows = KINDS[kind].objects.visible_to(request.user).filter(tree__project=project)
    more = ("attached_scenario",) if kind == "questions" else ()
    rows = rows.select_related(
        "tree__question__snippet__document", "tree__project", "job", "created_by", "assignment",
        "dropped_by", "replaces", *SOURCES[kind], *more,
    )  # fmt: skip
    return get_object_or_404(rows, pk=negative_id)


def _one(request: HttpRequest, found: Any, kind: str, form: DroppingForm) -> HttpResponse:
    return render(request, "scenarios/negative.html", {**negative_page(found, kind), "form": form})


def _with_reason(
    request: HttpRequest, slug: str, kind: str, negative_id: int,
    step: Callable[[Any, str], HttpResponse],
) -> HttpResponse:  # fmt: skip
    found = _get(request, slug, kind, negative_id)
    form = DroppingForm(request.POST)
    if not form.is_valid():
        return _one(request, found, kind, form)
    return step(found, form.cleaned_data["reason"])


def _say_what_replaced_it(request: HttpRequest, job: Job | None) -> int | None:
    """The key of the new one, if it is there."""
    if job is None:
        messages.warning(request, SOMEBODY_WAS_FASTER)
        return None
    if not job.is_finished:
        messages.success(request, "It was dropped, and another one is being drawn in its place.")
        return None
    if made := job.report["made"]:
        messages.success(request, "It was dropped, and this one was drawn in its place.")
        return int(made)
    why = next(reason for reasons in job.report["missing"].values() for reason in reasons)
    messages.warning(request, f"It was dropped, and nothing could take its place: {why}.")
    return None
