"""The page of a turn that somebody rejected, for others to say whether it stands."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.trees.errors import BranchGoneError
from apps.trees.path_forms import KeyForm, ReasonForm
from apps.trees.path_page import check_page
from apps.trees.path_views import after_submit, show_ended
from apps.trees.permissions import get_own_work
from apps.trees.services.checks import vote_to_keep, vote_to_reject
from apps.workers.models import Assignment, Kind
from apps.workers.services.submits import spend_time


@require_http_methods(["GET", "POST"])
@never_cache
def node_check(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """The turn in its conversation; POST says that it is right, and goes on to the next work."""
    work = get_own_work(request, slug, assignment_id, Kind.NODE_CHECK)
    form = KeyForm(request.POST)
    if request.method != "POST" or not form.is_valid():
        return _page(request, work)
    now = timezone.now()
    spend_time(work, seconds=form.cleaned_data["seconds"], now=now)
    try:
        answer = vote_to_keep(work, key=form.cleaned_data["key"], now=now)
    except BranchGoneError:
        return _page(request, work)  # it says why the work is over
    return after_submit(request, work, answer)


@require_POST
@never_cache
def node_check_reject(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """The turn is wrong."""
    work = get_own_work(request, slug, assignment_id, Kind.NODE_CHECK)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return _page(request, work, form)
    now = timezone.now()
    spend_time(work, seconds=form.cleaned_data["seconds"], now=now)
    try:
        answer = vote_to_reject(work, form.rejection(), key=form.cleaned_data["key"], now=now)
    except BranchGoneError:
        return _page(request, work)
    return after_submit(request, work, answer)


def _page(request: HttpRequest, work: Assignment, form: ReasonForm | None = None) -> HttpResponse:
    over = show_ended(request, work)
    return over or render(request, "trees/node_check.html", check_page(work, form=form))
