"""The page of a scenario: first whether the cards contradict each other, then the text."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.scenarios.scenario_errors import ScenarioError
from apps.scenarios.scenario_forms import ContradictForm, ScenarioForm, WrittenForm
from apps.scenarios.scenario_page import hints_page, over_page, writer_page
from apps.scenarios.services.scenario_work import (
    give_back,
    look_again,
    prompt_of,
    report_contradiction,
    say_that_it_fits,
    submit_scenario,
    take_again,
)
from apps.trees.path_views import LATE, after_submit
from apps.trees.permissions import get_own_work
from apps.workers.addresses import page_of_work
from apps.workers.errors import LeaseEndedError
from apps.workers.forms import ReturnForm
from apps.workers.models import Assignment, Kind
from apps.workers.services.submits import Submitted, spend_time

TOLD = "Thank you: an expert looks at it, and nobody writes on this rule meanwhile."
FREE_AGAIN = "Thank you: somebody else gets these cards without the one that does not fit."


@require_http_methods(["GET", "POST"])
@never_cache
def scenario(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """POST submits the text, and goes on to the next piece of work."""
    work = get_own_work(request, slug, assignment_id, Kind.SCENARIO)
    if request.method != "POST":
        return _page(request, work)
    form = ScenarioForm(request.POST)
    if not form.is_valid():
        return _page(request, work, form=form)
    now, given = timezone.now(), form.cleaned_data
    spend_time(work, seconds=given["seconds"], now=now)
    try:
        answer = submit_scenario(
            work, text=given["text"], pasted=given["pasted"], key=given["key"], now=now
        )
    except ScenarioError as refusal:
        form.add_error("text", str(refusal))
        return _page(request, work, form=form)
    return after_submit(request, work, answer)


@require_POST
@never_cache
def scenario_fits(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """No two of the cards contradict each other."""
    work = get_own_work(request, slug, assignment_id, Kind.SCENARIO)
    try:
        say_that_it_fits(work, now=timezone.now())
    except LeaseEndedError as refusal:
        messages.warning(request, str(refusal))
    return redirect("scenarios:scenario", slug, work.pk)


@require_POST
@never_cache
def scenario_look_again(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Back to the question whether they do."""
    work = get_own_work(request, slug, assignment_id, Kind.SCENARIO)
    try:
        look_again(work, now=timezone.now())
    except LeaseEndedError as refusal:
        messages.warning(request, str(refusal))
    return redirect("scenarios:scenario", slug, work.pk)


@require_POST
@never_cache
def scenario_contradiction(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Two of the cards contradict each other: the end of this work."""
    work = get_own_work(request, slug, assignment_id, Kind.SCENARIO)
    form = ContradictForm(request.POST, cards=len(prompt_of(work).cards))
    if not form.is_valid():
        return _page(request, work, contradict_form=form)
    now, given = timezone.now(), form.cleaned_data
    spend_time(work, seconds=given["seconds"], now=now)
    answer = report_contradiction(
        work, cards=form.cards, reason=given["note"], key=given["key"], now=now
    )
    if isinstance(answer, Submitted):
        messages.success(request, TOLD if answer.outcome["of_the_tree"] else FREE_AGAIN)
    return after_submit(request, work, answer)


@require_POST
@never_cache
def scenario_hints(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """For htmx, while the worker types."""
    work = get_own_work(request, slug, assignment_id, Kind.SCENARIO)
    form = WrittenForm(request.POST)
    form.is_valid()
    text, pasted = request.POST.get("text", ""), form.cleaned_data.get("pasted", 0)
    context = hints_page(work, text, pasted, set(request.POST.getlist("dismissed")))
    return render(request, "scenarios/_scenario_hints.html", context)


@require_POST
@never_cache
def scenario_again(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Goes on with work whose time ran out, if nobody else has it."""
    work = get_own_work(request, slug, assignment_id, Kind.SCENARIO)
    try:
        again = take_again(work, now=timezone.now())
    except LeaseEndedError:
        messages.info(request, "Somebody else writes this one now. What you wrote is kept.")
        return redirect(page_of_work(work))
    messages.warning(request, LATE)
    return redirect(page_of_work(again))


@require_POST
@never_cache
def scenario_return(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Gives the work back with a reason; what was written is kept."""
    work = get_own_work(request, slug, assignment_id, Kind.SCENARIO)
    form, written = ReturnForm(request.POST), WrittenForm(request.POST)
    if not form.is_valid():
        messages.error(request, "A reason has at most 500 characters. Nothing was given back.")
        return redirect(page_of_work(work))
    text = written.cleaned_data["text"] if written.is_valid() else ""
    if give_back(work, text=text, reason=form.cleaned_data["reason"], now=timezone.now()):
        messages.success(request, "The work is given back. You will not get it again.")
    else:
        messages.info(request, "The time for this work had ended before.")
    return redirect("workers:mine", slug)


# Shared ---------------------------------------------------------------------------------------


def show_over(request: HttpRequest, work: Assignment) -> HttpResponse | None:
    """Why the work is over; None while it lasts."""
    now = timezone.now()
    work.refresh_from_db()
    if work.state == Assignment.State.LEASED and work.expires_at > now:
        return None
    return render(request, "workers/work_over.html", over_page(work, now=now))


def _page(request: HttpRequest, work: Assignment, **refused: object) -> HttpResponse:
    over = show_over(request, work)
    return over or render(request, "scenarios/scenario.html", writer_page(work, **refused))
