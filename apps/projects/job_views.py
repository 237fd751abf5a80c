"""Background jobs of a project, for its admins."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from apps.projects.models import Job
from apps.projects.permissions import get_project_to_administer, signed_in
from apps.projects.requests import HtmxHttpRequest
from apps.projects.services.jobs import cancel_job


@require_safe
@never_cache
def job(request: HtmxHttpRequest, slug: str, job_id: int) -> HttpResponse:
    found = _get_job(request, slug, job_id)
    template = "projects/_job.html" if request.htmx else "projects/job.html"
    return render(request, template, {"project": found.project, "job": found})


@require_POST
def cancel(request: HtmxHttpRequest, slug: str, job_id: int) -> HttpResponse:
    found = _get_job(request, slug, job_id)
    if not cancel_job(found, actor=signed_in(request)):
        messages.info(request, "It had ended before it could be stopped.")
    return redirect(found)


def _get_job(request: HtmxHttpRequest, slug: str, job_id: int) -> Job:
    project = get_project_to_administer(request, slug)
    return get_object_or_404(project.jobs.select_related("project", "created_by"), pk=job_id)
