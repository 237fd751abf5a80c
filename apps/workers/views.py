"""Drafts, a person's open work, and an admin's list of all leases."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from apps.projects.paging import page_of
from apps.projects.permissions import (
    get_project,
    get_project_to_administer,
    signed_in,
)
from apps.workers.addresses import address_to_return, page_of_work
from apps.workers.errors import (
    LeaseEndedError,
    NotYourWorkError,
    StaleDraftError,
    TooManyOpenError,
)
from apps.workers.forms import DraftForm, LeaseFilter, ReturnForm
from apps.workers.models import Assignment
from apps.workers.permissions import get_my_work, my_work
from apps.workers.services.leases import release_work, return_work
from apps.workers.services.next_work import take_another, take_work
from apps.workers.services.submits import save_draft, spend_time
from apps.workers.services.unsubmitted import texts_left

LEASES_ON_PAGE = 50


@require_POST
def draft(request: HttpRequest, slug: str, assignment_id: int) -> JsonResponse:
    """Saves what a work form holds; see drafts.js for what it does with each answer."""
    assignments = Assignment.objects.filter(project=get_project(request, slug))
    assignment = get_object_or_404(assignments, pk=assignment_id)
    form = DraftForm(request.POST)
    if not form.is_valid():
        return JsonResponse({"errors": form.errors}, status=400)
    version, now = form.cleaned_data["version"], timezone.now()
    try:
        save_draft(
            assignment.pk, worker=signed_in(request), version=version,
            content=form.cleaned_data["content"], now=now,
        )  # fmt: skip
    except StaleDraftError as refusal:
        return JsonResponse({"version": refusal.version, "content": refusal.content}, status=409)
    except LeaseEndedError as refusal:
        return JsonResponse({"state": _why(assignment), "error": str(refusal)}, status=410)
    except NotYourWorkError as refusal:
        return JsonResponse({"error": str(refusal)}, status=403)
    spend_time(assignment, seconds=form.cleaned_data["seconds"], now=now)
    return JsonResponse({"version": version, "saved_at": now.isoformat()})


@require_POST
def take_next(request: HttpRequest, slug: str) -> HttpResponse:
    """The work in hand, or else the next piece; the project's page says why there is none."""
    project = get_project(request, slug)
    work = take_work(project, worker=signed_in(request), now=timezone.now())
    return redirect(page_of_work(work) if work else project)


@require_POST
def take_one_more(request: HttpRequest, slug: str) -> HttpResponse:
    """One more piece beside what is in hand."""
    project = get_project(request, slug)
    try:
        work = take_another(project, worker=signed_in(request), now=timezone.now())
    except TooManyOpenError as refusal:
        messages.warning(request, str(refusal))
        return redirect("workers:mine", slug)
    if work is None:
        messages.info(request, "Nothing more is open for you now.")
    return redirect(page_of_work(work) if work else project)


@require_safe
@never_cache
def mine(request: HttpRequest, slug: str) -> HttpResponse:
    """What the reader has in hand, and what they typed that no form took."""
    project = get_project(request, slug)
    work = my_work(request, slug).select_related("project")
    now = timezone.now()
    context = {
        "project": project,
        "leases": [
            (one, page_of_work(one), address_to_return(one))
            for one in work.lasting(now).order_by("expires_at")
        ],
        "return_form": ReturnForm(),
        "left": texts_left(work, now=now),
    }
    return render(request, "workers/mine.html", context)


@require_POST
def give_back(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    assignment = get_my_work(request, slug, assignment_id)
    form = ReturnForm(request.POST)
    if not form.is_valid():
        messages.error(request, "A reason has at most 500 characters. Nothing was given back.")
    elif return_work(assignment, reason=form.cleaned_data["reason"], now=timezone.now()):
        messages.success(request, "The work is given back. You will not get it again.")
    else:
        messages.info(request, "The time for this work had ended before.")
    return redirect("workers:mine", slug)


@require_safe
@never_cache
def leases(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    assignments = Assignment.objects.visible_to(request.user).filter(project=project)
    form = LeaseFilter(request.GET, project=project)
    page = page_of(
        form.filtered(assignments.without_overdue(timezone.now())).order_by("-pk"),
        assignments.select_related("worker"),
        asked=request.GET.get("page"),
        size=LEASES_ON_PAGE,
    )
    return render(request, "workers/leases.html", {"project": project, "form": form, "page": page})


@require_POST
def release(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    assignments = Assignment.objects.visible_to(request.user).select_related("project", "worker")
    assignment = get_object_or_404(assignments, project=project, pk=assignment_id)
    if release_work(assignment, actor=signed_in(request), now=timezone.now()):
        messages.success(request, f"The work of {assignment.worker} is free again.")
    else:
        messages.info(request, "This work had ended before.")
    return redirect("workers:leases", slug)


def _why(assignment: Assignment) -> str:
    """How the lease ended, in the words of drafts.js."""
    assignment.refresh_from_db(fields=["state"])
    is_running = assignment.state == Assignment.State.LEASED  # the periodic task has not been by
    return Assignment.State.EXPIRED.value if is_running else str(assignment.state)
