"""The page on which another worker says what they read in a scenario."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.scenarios.scenario_errors import ScenarioNotWaitingError
from apps.scenarios.scenario_forms import CheckForm
from apps.scenarios.scenario_page import check_form, check_page
from apps.scenarios.scenario_views import show_over
from apps.scenarios.services.scenario_checks import submit_check
from apps.trees.path_views import after_submit
from apps.trees.permissions import get_own_work
from apps.workers.models import Assignment, Kind
from apps.workers.services.submits import spend_time


@require_http_methods(["GET", "POST"])
@never_cache
def scenario_check(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """POST submits the check, and goes on to the next piece of work."""
    work = get_own_work(request, slug, assignment_id, Kind.SCENARIO_CHECK)
    if request.method != "POST":
        return _page(request, work, check_form(work))
    form = check_form(work, request.POST)
    if not form.is_valid():
        return _page(request, work, form)
    now = timezone.now()
    spend_time(work, seconds=form.cleaned_data["seconds"], now=now)
    try:
        answer = submit_check(work, form.reading(), key=form.cleaned_data["key"], now=now)
    except ScenarioNotWaitingError:
        return _page(request, work, form)  # it says why the work is over
    return after_submit(request, work, answer)


def _page(request: HttpRequest, work: Assignment, form: CheckForm) -> HttpResponse:
    over = show_over(request, work)
    return over or render(request, "scenarios/scenario_check.html", check_page(work, form))
