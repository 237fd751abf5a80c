"""The audit of a project: what its utterances give away."""

from typing import NamedTuple

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.projects.models import Job, Project
from apps.projects.permissions import (
    can_administer,
    get_project_to_administer,
    get_project_to_read,
    signed_in,
)
from apps.scenarios.audit_forms import LimitForm, ScopeForm
from apps.scenarios.services.audit import (
    KIND,
    Scope,
    empty_report,
    judge,
    last_audit,
    number_now,
    queue_audit,
    set_limit,
    why_unknown,
)
from apps.scenarios.services.audit_parts import KINDS, part_of, rows_of


class Refused(NamedTuple):
    """A limit that was not taken: what was typed is shown once more, with what is wrong."""

    figure: str
    label: str
    form: LimitForm


BALANCE = (
    ("split", "By split"),
    ("depth", "By turns in history and evidence"),
    ("position", "By what a model has before it"),
)
PARTS_ON_PAGE = 25


@require_safe
def audit(request: HttpRequest, slug: str) -> HttpResponse:
    """Of the whole project, or of the part that is asked for."""
    project = get_project_to_read(request, slug)
    return _page(request, project, _known(project, ScopeForm(request.GET).scope))


def _page(
    request: HttpRequest, project: Project, scope: Scope, *, refused: Refused | None = None
) -> HttpResponse:
    job = last_audit(project, scope)
    report = job.report if job else empty_report() if scope.is_all else {}
    unfinished = Job.objects.unfinished().filter(project=project, kind=KIND)
    context = {
        "project": project,
        "scope": scope,
        "job": job,
        "running": unfinished.first(),
        "judged": judge(project, report),
        "refused": refused,
        "balance": [(label, job.report["balance"][name]) for name, label in BALANCE] if job else [],
        "now": number_now(project) if job and scope.is_all else None,
        "can_administer": can_administer(request.user, project),
    }
    return render(request, "scenarios/audit.html", context)


@require_safe
def audit_parts(request: HttpRequest, slug: str, part: str) -> HttpResponse:
    """The labels by batch, worker or tree, as they are now."""
    project = get_project_to_read(request, slug)
    if part not in KINDS:
        raise Http404("Parts are batches, workers and trees.")
    page = Paginator(rows_of(project, part), PARTS_ON_PAGE).get_page(request.GET.get("page"))
    context = {
        "project": project,
        "part": part,
        "kinds": KINDS,
        "chosen": KINDS[part],
        "page": page,
        "parts": [part_of(part, row) for row in page.object_list],
    }
    return render(request, "scenarios/audit_parts.html", context)


@require_POST
def audit_start(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    scope = _known(project, ScopeForm(request.POST).scope)
    unfinished = Job.objects.unfinished().filter(project=project, kind=KIND)
    if not unfinished.exists():
        queue_audit(project, scope, author=signed_in(request))
    query = "" if scope.is_all else f"?{scope.address}"
    return redirect(reverse("scenarios:audit", args=[slug]) + query)


def _known(project: Project, scope: Scope) -> Scope:
    if not scope.is_all and (reason := why_unknown(project, scope)):
        raise Http404(reason)
    return scope


@require_POST
def audit_limit(request: HttpRequest, slug: str, figure: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    job = last_audit(project)
    figures = [*empty_report()["figures"], *(job.report["figures"] if job else [])]
    known = {one["code"]: one["label"] for one in figures}
    if figure not in known:
        raise Http404("The audit has no such figure.")
    form = LimitForm(request.POST)
    if not form.is_valid():
        return _page(request, project, Scope(), refused=Refused(figure, known[figure], form))
    set_limit(
        project, figure, most=form.cleaned_data["most"], waiver=form.cleaned_data["waiver"],
        actor=signed_in(request), now=timezone.now(),
    )  # fmt: skip
    messages.success(request, f"Saved for “{known[figure]}”.")
    return redirect(reverse("scenarios:audit", args=[slug]) + f"#{figure}")
