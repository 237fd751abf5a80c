"""Pages that look at all the other apps."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.desk.counts import cards_of
from apps.desk.dashboard import dashboard_of
from apps.projects.models import Job, Role
from apps.projects.permissions import (
    can_administer,
    can_create_project,
    can_read,
    get_project,
    signed_in,
)
from apps.snippets.question_page import open_work

JOBS_SHOWN = 5


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    cards = [(project, Role(project.role)) for project in cards_of(request.user)]
    context = {"cards": cards, "can_create_project": can_create_project(request.user)}
    return render(request, "desk/home.html", context)


@require_safe
def project(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project(request, slug)
    if not can_read(request.user, project):
        guidelines = project.guidelines.exclude(text="").order_by("pk")
        return render(request, "desk/worker.html", {"project": project, "guidelines": guidelines})
    jobs = Job.objects.visible_to(request.user).filter(project=project)
    context = {
        "project": project,
        "dashboard": dashboard_of(project),
        "work": open_work(project, signed_in(request)),
        "can_administer": can_administer(request.user, project),
        "jobs": jobs.select_related("project", "created_by")[:JOBS_SHOWN],
        "failed_jobs": jobs.filter(state=Job.State.FAILED).count(),
    }
    return render(request, "desk/project.html", context)
