"""Pages that look at all the other apps."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from apps.desk.counts import cards_of
from apps.desk.dashboard import dashboard_of
from apps.desk.last_days import work_of_last_days
from apps.desk.worker_home import worker_home
from apps.desk.worker_numbers import numbers_of
from apps.projects.models import Job, Membership, Project, Role
from apps.projects.paging import page_of
from apps.projects.permissions import (
    can_administer,
    can_create_project,
    can_read,
    get_project,
    get_project_to_administer,
    signed_in,
)
from apps.snippets.question_page import open_work
from apps.trees.services.openings import openings

JOBS_SHOWN = 5
WORKERS_ON_PAGE = 50


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    cards = [(project, Role(project.role)) for project in cards_of(request.user)]
    deleted = Project.with_deleted.restorable_by(request.user, timezone.now())
    context = {
        "cards": cards,
        "can_create_project": can_create_project(request.user),
        "has_deleted": deleted.exists(),
    }
    return render(request, "desk/home.html", context)


@require_safe
@never_cache
def project(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project(request, slug)
    if not can_read(request.user, project):
        context = worker_home(project, signed_in(request), now=timezone.now())
        return render(request, "desk/worker.html", context)
    jobs = Job.objects.visible_to(request.user).filter(project=project)
    context = {
        "project": project,
        "dashboard": dashboard_of(project),
        "work": open_work(project, signed_in(request)),
        "openings": openings(project, worker=signed_in(request)),
        "last_days": work_of_last_days(project, now=timezone.now()),
        "can_administer": can_administer(request.user, project),
        "jobs": jobs.select_related("project", "created_by")[:JOBS_SHOWN],
        "failed_jobs": jobs.filter(state=Job.State.FAILED).count(),
    }
    return render(request, "desk/project.html", context)


@require_safe
def workers(request: HttpRequest, slug: str) -> HttpResponse:
    """What each member did on trees, in numbers."""
    project = get_project_to_administer(request, slug)
    members = Membership.objects.filter(project=project)
    page = page_of(
        members.order_by("user__username"),
        members.select_related("user"),
        asked=request.GET.get("page"),
        size=WORKERS_ON_PAGE,
    )
    numbers = numbers_of(project, [member.user_id for member in page])
    rows = [(member, numbers[member.user_id]) for member in page]
    return render(request, "desk/workers.html", {"project": project, "page": page, "rows": rows})
