"""The second expert's check of a first question."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.projects.models import Project
from apps.projects.permissions import get_project_to_read, signed_in
from apps.snippets.errors import QuestionNotWaitingError
from apps.snippets.models import Question
from apps.snippets.permissions import get_expert_work
from apps.snippets.question_forms import KeyForm, SendBackForm, SkipForm
from apps.snippets.question_page import check_bench, ended_work
from apps.snippets.question_views import to_not_taken
from apps.snippets.services.question_checks import (
    approve_question,
    send_question_back,
    take_check,
)
from apps.snippets.services.questions import skip
from apps.workers.models import Assignment, Kind
from apps.workers.services.submits import NotTaken, Submitted


@require_POST
def check_next(request: HttpRequest, slug: str) -> HttpResponse:
    """Takes the next question that waits for a check."""
    return _to_next(request, get_project_to_read(request, slug))


@require_http_methods(["GET", "POST"])
@never_cache
def question_check(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """The check; POST approves the question and goes on to the next."""
    work = get_expert_work(request, slug, assignment_id, Kind.QUESTION_CHECK)
    form = KeyForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return _bench(request, work, SendBackForm(initial=work.draft))
    try:
        answer = approve_question(work, key=form.cleaned_data["key"], now=timezone.now())
    except QuestionNotWaitingError as error:
        return _lost(request, work, error)
    return _after(request, work, answer)


@require_POST
def question_send_back(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    work = get_expert_work(request, slug, assignment_id, Kind.QUESTION_CHECK)
    form = SendBackForm(request.POST)
    if not form.is_valid():
        return _bench(request, work, form)
    try:
        answer = send_question_back(work, **form.cleaned_data, now=timezone.now())
    except QuestionNotWaitingError as error:
        return _lost(request, work, error)
    return _after(request, work, answer)


@require_POST
def check_skip(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    work = get_expert_work(request, slug, assignment_id, Kind.QUESTION_CHECK)
    form = SkipForm(request.POST)
    typed = {"note": request.POST.get("note", "")}
    if not form.is_valid():
        return _bench(request, work, SendBackForm(initial=typed), skip_form=form)
    if not skip(work, reason=form.cleaned_data["reason"], draft=typed, now=timezone.now()):
        messages.info(request, "The time for that check had ended before; here is the next.")
    return _to_next(request, work.project)


def _bench(
    request: HttpRequest, work: Assignment, form: SendBackForm, **forms: Any
) -> HttpResponse:
    now = timezone.now()
    work.refresh_from_db()
    if work.state != Assignment.State.LEASED or work.expires_at <= now:
        snippet = Question.objects.values_list("snippet", flat=True).get(pk=work.work_id)
        context = ended_work(work, snippet_key=snippet, now=now)
        return render(request, "snippets/question_ended.html", context)
    context = {**check_bench(work), "form": form, "approve_form": KeyForm(), **forms}
    return render(request, "snippets/question_check.html", context)


def _after(request: HttpRequest, work: Assignment, answer: Submitted | NotTaken) -> HttpResponse:
    if isinstance(answer, NotTaken):
        return to_not_taken(request, work, answer)
    return _to_next(request, work.project)


def _lost(request: HttpRequest, work: Assignment, error: QuestionNotWaitingError) -> HttpResponse:
    messages.warning(request, str(error))
    return redirect("snippets:question_check", work.project.slug, work.pk)


def _to_next(request: HttpRequest, project: Project) -> HttpResponse:
    work = take_check(project, expert=signed_in(request), now=timezone.now())
    if work is None:
        messages.info(request, "No question is free for you to check now.")
        return redirect("snippets:questions", project.slug)
    return redirect("snippets:question_check", project.slug, work.pk)
