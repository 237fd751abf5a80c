"""Splits of a project: sizes, a preview, leaks, pins, and freezing before a release. For admins."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from apps.exports.errors import SplitsRefusedError
from apps.exports.services.leaks import KIND as LEAKS
from apps.exports.services.leaks import queue_leak_report
from apps.exports.services.splits import (
    KIND,
    QUEUED_FROM,
    SplitPlan,
    freeze_splits,
    pin_document,
    plan_splits,
    plan_splits_anew,
    queue_splits,
    refuse_frozen,
    sources_of,
    state_of,
    thaw_splits,
    unpin_document,
    write_splits,
)
from apps.exports.split_forms import MakeForm, PinForm, SplitFilter, SplitsForm
from apps.exports.split_page import domains, empty, exact_leaks, near_leaks_page, sizes
from apps.projects.models import Job, Project, Split
from apps.projects.paging import page_of
from apps.projects.permissions import get_project_to_administer, signed_in
from apps.projects.requests import HtmxHttpRequest
from apps.snippets.models import Document

DOCUMENTS_ON_PAGE = 25


@require_safe
def splits(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    form = SplitsForm(request.GET if "train" in request.GET else None)
    is_preview = form.is_valid()
    plan = _plan(project, form) if is_preview else _as_it_is(project)
    state = state_of(plan.before)
    leak_count, leaks = exact_leaks(project, plan)
    context = {
        "project": project,
        "form": form,
        "plan": plan if is_preview else None,
        "sizes": sizes(plan, form.ratios if is_preview else None),
        "empty": empty(plan, form.ratios if is_preview else None),
        "page": domains(plan, request.GET.get("page")),
        "state": state,
        "leak_count": leak_count,
        "leaks": leaks,
        "near": near_leaks_page(project, state, request.GET.get("near")),
        "running": Job.objects.unfinished().filter(project=project, kind__in=[KIND, LEAKS]),
    }
    return render(request, "exports/splits.html", context)


def _as_it_is(project: Project) -> SplitPlan:
    sources = tuple(sources_of(project))
    return SplitPlan(sources, {}, sources)


def _plan(project: Project, form: SplitsForm) -> SplitPlan:
    make_plan = plan_splits_anew if form.cleaned_data["anew"] else plan_splits
    return make_plan(project, ratios=form.ratios, seed=form.seed_or_zero)


@require_POST
def make(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    form = MakeForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was changed: look at a preview first.")
        return redirect("exports:splits", slug)
    try:
        return _make(request, project, form)
    except SplitsRefusedError as error:
        messages.error(request, str(error))
        return redirect("exports:splits", slug)


def _make(request: HttpRequest, project: Project, form: MakeForm) -> HttpResponse:
    refuse_frozen(project)
    plan, person = _plan(project, form), signed_in(request)
    if state_of(plan.before) != form.cleaned_data["seen"]:
        raise SplitsRefusedError(
            "Nothing was changed: documents, trees or splits have changed since this preview. Look "
            "at a new one."
        )
    if len(plan.sources) >= QUEUED_FROM:
        job = queue_splits(
            project, ratios=form.ratios, seed=form.seed_or_zero, anew=form.cleaned_data["anew"],
            author=person,
        )  # fmt: skip
        return redirect(job)
    moved = write_splits(project, plan, actor=person)
    queue_leak_report(project, author=person)
    messages.success(request, f"Documents that are in another split now: {moved:,}.")
    return redirect("exports:splits", project.slug)


@require_POST
def freeze(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    if freeze_splits(project, actor=signed_in(request), now=timezone.now()):
        messages.success(request, "The splits are frozen: no document moves until they are thawed.")
    return redirect("exports:splits", slug)


@require_POST
def thaw(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    if thaw_splits(project, actor=signed_in(request)):
        messages.success(request, "The splits are thawed: documents can move again.")
    return redirect("exports:splits", slug)


@require_POST
def look_for_leaks(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    return redirect(queue_leak_report(project, author=signed_in(request)))


@require_safe
@vary_on_headers("HX-Target")
def documents(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    form = SplitFilter(request.GET)
    found = Document.objects.filter(project=project)
    page = page_of(
        form.filtered(found.newest()).order_by("source_url", "pk"), found.without_texts(),
        asked=request.GET.get("page"), size=DOCUMENTS_ON_PAGE,
    )  # fmt: skip
    is_part = request.htmx.target == "results"
    template = "exports/_split_documents.html" if is_part else "exports/split_documents.html"
    context = {"project": project, "form": form, "page": page, "splits": Split}
    return render(request, template, context)


@require_POST
def pin(request: HttpRequest, slug: str, document_id: int) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    found = Document.objects.filter(project=project).without_texts()
    document = get_object_or_404(found, pk=document_id)
    form = PinForm(request.POST)
    if form.is_valid():
        _pin(request, document, form.cleaned_data["split"])
    else:
        messages.error(request, "There is no such split. Choose train, dev or test.")
    query = form.cleaned_data.get("back", "")
    address = reverse("exports:split_documents", args=[slug])
    return redirect(f"{address}?{query}" if query else address)


def _pin(request: HttpRequest, document: Document, split: str) -> None:
    try:
        if split:
            pin_document(document, split=Split(split), actor=signed_in(request))
        else:
            unpin_document(document, actor=signed_in(request))
    except SplitsRefusedError as error:
        messages.error(request, str(error))
    else:
        said = f"stays in {Split(split).label.lower()}" if split else "is free to move"
        messages.success(request, f"“{document}” {said}.")
