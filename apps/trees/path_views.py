"""The page of a path: each step comes back in place for htmx, and as a whole page without it."""

from datetime import datetime
from functools import partial
from typing import Any, Protocol

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event

from apps.projects.requests import HtmxHttpRequest
from apps.trees.errors import GrowingError
from apps.trees.path_forms import AnswerForm, AskForm, KeyForm, RejectForm, UndoForm
from apps.trees.path_hints import hints_on
from apps.trees.path_page import PathPage, ended_page
from apps.trees.permissions import get_own_work
from apps.trees.services.checks import reject_turn
from apps.trees.services.path_steps import (
    agree_with_all,
    answer_path,
    ask_question,
    go_on_again,
    undo_turn,
)
from apps.trees.services.paths import return_path, submit_path
from apps.trees.services.walks import Walk
from apps.workers.addresses import page_of_work
from apps.workers.errors import LeaseEndedError
from apps.workers.forms import ReturnForm, SecondsForm
from apps.workers.models import Assignment, Kind
from apps.workers.services.next_work import take_work
from apps.workers.services.submits import NotTaken, Submitted, spend_time

LATE = "The time for this work had run out. It is yours again, with all that you wrote."
NOT_TAKEN = "This was not taken; why stands below."

# What a step may change; the project and the worker stay, and need not be looked up again.
CHANGING = [field.name for field in Assignment._meta.concrete_fields if not field.is_relation]

NO_ANSWER = "Answer with Yes or with No."


class Act(Protocol):
    def __call__(self, *, now: datetime) -> Assignment: ...


@require_http_methods(["GET", "POST"])
@never_cache
def path(request: HtmxHttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """The worker's path; POST submits it and goes on to the next piece of work."""
    work = get_own_work(request, slug, assignment_id, Kind.PATH)
    form = KeyForm(request.POST)
    if request.method != "POST" or not form.is_valid():
        return _page(request, work)
    now = timezone.now()
    spend_time(work, seconds=form.cleaned_data["seconds"], now=now)
    try:
        answer = submit_path(work, key=form.cleaned_data["key"], now=now)
    except GrowingError as refusal:
        return _page(request, work, refusal=refusal)
    return after_submit(request, work, answer)


@require_POST
@never_cache
def path_agree(request: HtmxHttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Everything so far is right."""
    work = get_own_work(request, slug, assignment_id, Kind.PATH)
    return _step(request, work, SecondsForm(request.POST), partial(agree_with_all, work))


@require_POST
@never_cache
def path_ask(request: HtmxHttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """A follow-up question; the simulated user answers it in the same page."""
    work = get_own_work(request, slug, assignment_id, Kind.PATH)
    form = AskForm(request.POST, rule_text=Walk(work).tree.question.snippet.text)
    if not form.is_valid():
        return _page(request, work, ask_form=form)
    act = partial(ask_question, work, **form.asked())
    return _step(request, work, form, act, ask_form=form)


@require_POST
@never_cache
def path_answer(request: HtmxHttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """The final answer, or another one instead of it."""
    work = get_own_work(request, slug, assignment_id, Kind.PATH)
    form = AnswerForm(request.POST)
    if not form.is_valid():
        return _page(request, work, refusal=NO_ANSWER)
    given = {name: form.cleaned_data[name] for name in ("position", "answer", "text")}
    return _step(request, work, form, partial(answer_path, work, **given))


@require_POST
@never_cache
def path_undo(request: HtmxHttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Takes the last turn back; its text stands in the field again."""
    work = get_own_work(request, slug, assignment_id, Kind.PATH)
    form = UndoForm(request.POST)
    if not form.is_valid():
        return _page(request, work)
    turn = {name: form.cleaned_data[name] for name in ("position", "text")}
    return _step(request, work, form, partial(undo_turn, work, **turn))


@require_POST
@never_cache
def path_again(request: HtmxHttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Goes on with work whose time ran out, if nobody else has it."""
    work = get_own_work(request, slug, assignment_id, Kind.PATH)
    return _step(request, work, SecondsForm(request.POST), partial(go_on_again, work))


@require_POST
@never_cache
def path_reject(request: HtmxHttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Ends the path: a turn above it is wrong."""
    work = get_own_work(request, slug, assignment_id, Kind.PATH)
    turns = {turn.node.pk: turn.node for turn in PathPage(work).others if turn.node}
    form = RejectForm(request.POST, turns=list(turns))
    if not form.is_valid():
        return _page(request, work, reject_form=form)
    chosen, key, now = turns[form.cleaned_data["turn"]], form.cleaned_data["key"], timezone.now()
    spend_time(work, seconds=form.cleaned_data["seconds"], now=now)
    try:
        answer = reject_turn(work, chosen, form.rejection(), key=key, now=now)
    except GrowingError as refusal:
        return _page(request, work, reject_form=form, refusal=refusal)
    return after_submit(request, work, answer)


@require_POST
@never_cache
def path_return(request: HtmxHttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Gives the path back with a reason; what was written is kept."""
    work = get_own_work(request, slug, assignment_id, Kind.PATH)
    form = ReturnForm(request.POST)
    if not form.is_valid():
        messages.error(request, "A reason has at most 500 characters. Nothing was given back.")
        return redirect(page_of_work(work))
    if return_path(work, reason=form.cleaned_data["reason"], now=timezone.now()):
        messages.success(request, "The work is given back. You will not get it again.")
    else:
        messages.info(request, "The time for this work had ended before.")
    return redirect("workers:mine", slug)


@require_POST
@never_cache
def path_hints(request: HtmxHttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """For htmx, while the worker types."""
    work = get_own_work(request, slug, assignment_id, Kind.PATH)
    dismissed = set(request.POST.getlist("dismissed"))
    hints = hints_on(request.POST.get("text", ""), Walk(work))
    context = {"project": work.project, "hints": [h for h in hints if h.key not in dismissed]}
    return render(request, "snippets/_hints.html", context)


# Shared ---------------------------------------------------------------------------------------


def after_submit(
    request: HttpRequest, work: Assignment, answer: Submitted | NotTaken
) -> HttpResponse:
    """To the next piece of work; or to this one, where its submit came too late."""
    if isinstance(answer, NotTaken):
        _say_not_taken(request, work, answer)
        return _to(request, page_of_work(answer.again or work))
    following = take_work(work.project, worker=work.worker, now=timezone.now())
    return _to(request, page_of_work(following) if following else work.project.get_absolute_url())


def _say_not_taken(request: HttpRequest, work: Assignment, answer: NotTaken) -> None:
    """The page says it by itself where the work had been submitted before."""
    work.refresh_from_db(fields=["state"])
    if answer.again or work.state != Assignment.State.SUBMITTED:
        messages.warning(request, LATE if answer.again else NOT_TAKEN)


def show_ended(request: HttpRequest, work: Assignment) -> HttpResponse | None:
    """Why the work is over; None while it lasts."""
    now = timezone.now()
    work.refresh_from_db(fields=CHANGING)
    if work.state == Assignment.State.LEASED and work.expires_at > now:
        return None
    return render(request, "workers/work_over.html", ended_page(work, now=now))


def _step(
    request: HtmxHttpRequest, work: Assignment, form: SecondsForm, act: Act, **forms: Any
) -> HttpResponse:
    """Does one step, and shows the path as it stands then, or why it was refused."""
    now = timezone.now()
    if form.is_valid():
        spend_time(work, seconds=form.cleaned_data["seconds"], now=now)
    try:
        lease = act(now=now)
    except GrowingError as refusal:
        return _page(request, work, refusal=refusal, **forms)
    except LeaseEndedError:
        return _to(request, page_of_work(work))  # it says why, and shows what was typed
    if lease.pk != work.pk:
        messages.warning(request, LATE)
    elif request.htmx:
        return trigger_client_event(_page(request, work), "draft:taken", after="receive")
    return _to(request, page_of_work(lease))


def _page(request: HtmxHttpRequest, work: Assignment, **refused: Any) -> HttpResponse:
    """The path, or why the work on it is over; only what changes for a step that htmx sends."""
    over = show_ended(request, work)
    if over is not None:
        return _to(request, page_of_work(work)) if request.htmx else over
    template = "trees/_path.html" if request.htmx else "trees/path.html"
    return render(request, template, PathPage(work, **refused).context())


def _to(request: HttpRequest, address: str) -> HttpResponse:
    """A redirect. A whole page, also when htmx has sent a part of one."""
    is_htmx = bool(getattr(request, "htmx", False))
    return HttpResponseClientRedirect(address) if is_htmx else redirect(address)
