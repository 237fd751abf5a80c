"""The audit of a project: what its utterances give away."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.projects.models import Job
from apps.projects.permissions import (
    can_administer,
    get_project_to_administer,
    get_project_to_read,
    signed_in,
)
from apps.scenarios.audit_forms import LimitForm
from apps.scenarios.services.audit import KIND, Scope, judge, last_audit, queue_audit, set_limit

BALANCE = (
    ("split", "By split"),
    ("depth", "By turns in history and evidence"),
    ("position", "By what a model has before it"),
)


@require_safe
def audit(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    job = last_audit(project)
    unfinished = Job.objects.unfinished().filter(project=project, kind=KIND)
    context = {
        "project": project,
        "job": job,
        "running": unfinished.first(),
        "judged": judge(project, job.report) if job else [],
        "balance": [(label, job.report["balance"][name]) for name, label in BALANCE] if job else [],
        "can_administer": can_administer(request.user, project),
    }
    return render(request, "scenarios/audit.html", context)


@require_POST
def audit_start(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    unfinished = Job.objects.unfinished().filter(project=project, kind=KIND)
    if not unfinished.exists():
        queue_audit(project, Scope(), author=signed_in(request))
    return redirect("scenarios:audit", slug)


@require_POST
def audit_limit(request: HttpRequest, slug: str, figure: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    job = last_audit(project)
    known = {one["code"]: one["label"] for one in (job.report["figures"] if job else [])}
    if figure not in known:
        raise Http404("The last audit has no such figure.")
    form = LimitForm(request.POST)
    if form.is_valid():
        set_limit(
            project, figure, most=form.cleaned_data["most"], waiver=form.cleaned_data["waiver"],
            actor=signed_in(request), now=timezone.now(),
        )  # fmt: skip
        messages.success(request, f"Saved for “{known[figure]}”.")
    else:
        messages.error(request, "A limit is between 0 and 100, a waiver at most 500 characters.")
    return redirect("scenarios:audit", slug)
