"""First questions: the list, the bench, and another wording. Checks: question_check_views."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from apps.projects.models import Project
from apps.projects.paging import page_of
from apps.projects.permissions import get_project_to_read, signed_in
from apps.projects.requests import HtmxHttpRequest
from apps.snippets.errors import (
    QuestionNotAcceptedError,
    SnippetNotWaitingError,
    TreeHasBegunError,
)
from apps.snippets.hints import hints_on
from apps.snippets.models import Snippet
from apps.snippets.permissions import get_expert_work
from apps.snippets.question_forms import (
    NoRuleForm,
    QuestionFilter,
    QuestionForm,
    ReplaceForm,
    SkipForm,
)
from apps.snippets.question_page import (
    done_lately,
    ended_work,
    open_work,
    question_bench,
    question_detail,
    questions_of,
    sent_back_to,
)
from apps.snippets.services.questions import (
    replace_question,
    send_snippet_back,
    skip,
    submit_question,
    take_question,
    take_question_on,
)
from apps.workers.models import Assignment, Kind
from apps.workers.services.submits import NotTaken

QUESTIONS_ON_PAGE = 25
LATE = "The time for this work had run out. It is yours again with what you typed: submit it now."
NOT_TAKEN = "This was not taken; why stands below."


@require_safe
@never_cache
@vary_on_headers("HX-Target")
def question_list(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    reader = signed_in(request)
    questions = questions_of(project, reader)
    form = QuestionFilter(request.GET, project=project)
    page = page_of(
        form.filtered(questions).order_by("-pk"),
        questions.with_source(),
        asked=request.GET.get("page"),
        size=QUESTIONS_ON_PAGE,
    )
    context = {"project": project, "form": form, "page": page}
    if request.htmx.target == "results":
        return render(request, "snippets/_question_results.html", context)
    context |= open_work(project, reader)
    context |= {"sent_back": sent_back_to(project, reader), "drafts_done": done_lately(reader)}
    return render(request, "snippets/questions.html", context)


@require_POST
def question_next(request: HttpRequest, slug: str) -> HttpResponse:
    """Takes the next snippet that waits for a question."""
    return to_next(request, get_project_to_read(request, slug))


@require_POST
def question_take(request: HttpRequest, slug: str, snippet_id: int) -> HttpResponse:
    """Takes this very snippet."""
    project = get_project_to_read(request, slug)
    visible = Snippet.objects.visible_to(request.user).with_source()
    snippet = get_object_or_404(visible, document__project=project, pk=snippet_id)
    work = take_question_on(snippet, expert=signed_in(request), now=timezone.now())
    if work is None:
        messages.info(
            request,
            "This snippet is not free: somebody writes its question, it has one, or you gave it "
            "back.",
        )
        return redirect("snippets:questions", slug)
    return redirect("snippets:question_work", slug, work.pk)


@require_http_methods(["GET", "POST"])
@never_cache
def question_work(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """The question bench; POST submits and goes on to the next snippet."""
    work = get_expert_work(request, slug, assignment_id, Kind.QUESTION)
    if request.method != "POST":
        return bench(request, work, QuestionForm(initial=work.draft))
    form = QuestionForm(request.POST)
    if not form.is_valid():
        return bench(request, work, form)
    try:
        answer = submit_question(work, **form.cleaned_data, now=timezone.now())
    except SnippetNotWaitingError as error:
        messages.warning(request, str(error))
        return redirect("snippets:question_work", slug, work.pk)
    if isinstance(answer, NotTaken):
        return to_not_taken(request, work, answer)
    return to_next(request, work.project)


@require_POST
def question_no_rule(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Sends the snippet back to the snippet bench, and goes on to the next."""
    work = get_expert_work(request, slug, assignment_id, Kind.QUESTION)
    form = NoRuleForm(request.POST)
    if not form.is_valid():
        return bench(request, work, _unsaved_question(request), no_rule_form=form)
    try:
        answer = send_snippet_back(work, **form.cleaned_data, now=timezone.now())
    except SnippetNotWaitingError as error:
        messages.warning(request, str(error))
        return redirect("snippets:question_work", slug, work.pk)
    if isinstance(answer, NotTaken):
        return to_not_taken(request, work, answer)
    messages.success(request, "The snippet is back on the snippet bench, with your reason.")
    return to_next(request, work.project)


@require_POST
def question_skip(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """Gives the snippet back for somebody else, and goes on to the next."""
    work = get_expert_work(request, slug, assignment_id, Kind.QUESTION)
    form = SkipForm(request.POST)
    if not form.is_valid():
        return bench(request, work, _unsaved_question(request), skip_form=form)
    draft = {"text": form.cleaned_data["text"]}
    if not skip(work, reason=form.cleaned_data["reason"], draft=draft, now=timezone.now()):
        messages.info(request, "The time for that snippet had ended before; here is the next.")
    return to_next(request, work.project)


@require_POST
@never_cache
def question_hints(request: HttpRequest, slug: str, assignment_id: int) -> HttpResponse:
    """For htmx, while the expert types."""
    work = get_expert_work(request, slug, assignment_id, Kind.QUESTION)
    snippets = Snippet.objects.visible_to(request.user).with_source()
    snippet = get_object_or_404(snippets, pk=work.work_id)
    dismissed = set(request.POST.getlist("dismissed"))
    hints = hints_on(request.POST.get("text", ""), snippet)
    context = {"project": work.project, "hints": [h for h in hints if h.key not in dismissed]}
    return render(request, "snippets/_hints.html", context)


@require_http_methods(["GET", "POST"])
@never_cache
def question(request: HttpRequest, slug: str, question_id: int) -> HttpResponse:
    """One question with all that were written on its snippet; POST replaces it."""
    project = get_project_to_read(request, slug)
    questions = questions_of(project, signed_in(request)).with_source()
    shown = get_object_or_404(questions.select_related("checked_by"), pk=question_id)
    form = ReplaceForm(request.POST or None, question=shown)
    if form.is_valid():
        text, expert = form.cleaned_data["text"], signed_in(request)
        try:
            new = replace_question(shown, text=text, expert=expert)
        except (QuestionNotAcceptedError, TreeHasBegunError) as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The question is replaced. The older wording is kept.")
            return redirect("snippets:question", slug, new.pk)
    context = {**question_detail(shown, signed_in(request)), "form": form}
    return render(request, "snippets/question.html", context)


# Shared ---------------------------------------------------------------------------------------


def bench(request: HttpRequest, work: Assignment, form: QuestionForm, **forms: Any) -> HttpResponse:
    """The bench, or why the work on it is over."""
    now = timezone.now()
    work.refresh_from_db()
    if work.state != Assignment.State.LEASED or work.expires_at <= now:
        context = ended_work(work, snippet_key=work.work_id, now=now)
        return render(request, "snippets/question_ended.html", context)
    context = {**question_bench(work), "form": form, **forms}
    return render(request, "snippets/question_work.html", context)


def to_next(request: HttpRequest, project: Project) -> HttpResponse:
    work = take_question(project, expert=signed_in(request), now=timezone.now())
    if work is None:
        messages.info(request, "No snippet is free for you now; what waits stands below.")
        return redirect("snippets:questions", project.slug)
    return redirect("snippets:question_work", project.slug, work.pk)


def to_not_taken(request: HttpRequest, work: Assignment, answer: NotTaken) -> HttpResponse:
    """To the same work, taken again with the text, or to where the text is kept."""
    messages.warning(request, LATE if answer.again else NOT_TAKEN)
    there = answer.again or work
    name = "snippets:question_work" if work.kind == Kind.QUESTION else "snippets:question_check"
    return redirect(name, work.project.slug, there.pk)


def _unsaved_question(request: HttpRequest) -> QuestionForm:
    """What stood in the field, for another form's page that comes back."""
    return QuestionForm(initial={"text": request.POST.get("text", "")})
