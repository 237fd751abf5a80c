"""What the pages of first questions show, put together from the rows."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce

from apps.accounts.models import User
from apps.projects.models import Guideline, Project, Step
from apps.snippets.hints import hints_on
from apps.snippets.models import Question, QuestionQuerySet, Snippet, SnippetQuerySet
from apps.snippets.question_forms import NoRuleForm, SkipForm
from apps.snippets.services.question_checks import checkable_questions
from apps.snippets.services.questions import waiting_snippets
from apps.workers.models import Assignment, Kind

RECENT = 5
WEEK = timedelta(days=7)
SENT_BACK_SHOWN = 20
DONE_SHOWN = 50

ENDED = {
    Assignment.State.SUBMITTED: "You have submitted this work already, perhaps in another window.",
    Assignment.State.RETURNED: "You gave this work back, so somebody else does it.",
    Assignment.State.EXPIRED: "The time for this work ran out before it was submitted.",
    Assignment.State.RELEASED: "This work is no longer yours: an admin took it back, or there is "
    "nothing left to do on it.",
}


def questions_of(project: Project, reader: User) -> QuestionQuerySet:
    return Question.objects.visible_to(reader).filter(snippet__document__project=project)


def open_work(project: Project, reader: User) -> dict[str, int]:
    """How much waits, for everybody and for the reader. One query."""
    waiting = waiting_snippets(project, expert=reader)
    unchecked = questions_of(project, reader).filter(state=Question.State.PROPOSED)
    counted = {
        "waiting": _number_of(waiting),
        "free": _number_of(waiting.free_for(reader)),
        "unchecked": _number_of(unchecked),
        "checkable": _number_of(checkable_questions(project, expert=reader)),
    }
    row = Project.objects.filter(pk=project.pk).values_list(*counted.values()).get()
    return dict(zip(counted, row, strict=True))


def _number_of(rows: SnippetQuerySet | QuestionQuerySet) -> Coalesce:
    together = rows.order_by().annotate(together=Value(1)).values("together")
    return Coalesce(Subquery(together.annotate(number=Count("pk")).values("number")), 0)


def sent_back_to(project: Project, author: User) -> list[Question]:
    """The author's own, sent back by a check, whose snippets still wait for another."""
    waiting = waiting_snippets(project, expert=author).order_by().values("pk")
    mine = questions_of(project, author).filter(created_by=author, snippet__in=waiting)
    newer = Question.objects.filter(snippet=OuterRef("snippet"), pk__gt=OuterRef("pk"))
    last = mine.filter(~Exists(newer), state=Question.State.SENT_BACK).order_by("-checked_at")
    return list(last.with_source().select_related("checked_by")[:SENT_BACK_SHOWN])


def question_bench(assignment: Assignment) -> dict[str, Any]:
    """The page of a snippet that waits for its question, but for the form."""
    project, expert = assignment.project, assignment.worker
    snippet = _snippet(assignment.work_id)
    earlier = snippet.questions.select_related("checked_by", "created_by").order_by("-pk")
    since = assignment.leased_at - WEEK
    mine = Assignment.objects.of(expert).filter(project=project, kind=Kind.QUESTION)
    return {
        **_bench(assignment, snippet),
        "earlier": list(earlier),
        "recent": _recent(project, expert, snippet),
        "waiting": waiting_snippets(project, expert=expert).count(),
        "this_week": mine.filter(
            state=Assignment.State.SUBMITTED, ended_at__gte=since
        ).count(),
        "skip_form": SkipForm(),
        "no_rule_form": NoRuleForm(),
    }  # fmt: skip


def check_bench(assignment: Assignment) -> dict[str, Any]:
    """The page of a question that waits for its check, but for the form."""
    project, expert = assignment.project, assignment.worker
    question = Question.objects.get(pk=assignment.work_id)
    snippet = _snippet(question.snippet_id)
    return {
        **_bench(assignment, snippet),
        "question": question,
        "hints": hints_on(question.text, snippet),
        "recent": _recent(project, expert, snippet),
        "checkable": checkable_questions(project, expert=expert).count(),
        "skip_form": SkipForm(),
    }


def ended_work(assignment: Assignment, *, snippet_key: int, now: datetime) -> dict[str, Any]:
    """The page of work that is over: why, and what was typed and not taken."""
    kept = assignment.kept_texts.first()
    state = Assignment.State(assignment.state)
    if state == Assignment.State.LEASED and assignment.expires_at <= now:
        state = Assignment.State.EXPIRED  # the periodic task has not been by
    lost = {} if state == Assignment.State.SUBMITTED else assignment.draft
    return {
        "project": assignment.project,
        "assignment": assignment,
        "snippet": _snippet(snippet_key),
        "why": ENDED[state],
        "is_free_again": state in {Assignment.State.EXPIRED, Assignment.State.RELEASED},
        "typed": kept.content if kept else lost,
        "drafts_done": done_lately(assignment.worker),
    }


def done_lately(worker: User) -> list[int]:
    """Work whose submit has arrived: the browser's copies of it may go."""
    done = [Assignment.State.SUBMITTED, Assignment.State.RETURNED]
    mine = Assignment.objects.filter(worker=worker, state__in=done)
    return list(mine.order_by("-pk").values_list("pk", flat=True)[:DONE_SHOWN])


def question_detail(question: Question, reader: User) -> dict[str, Any]:
    """A question among all that were ever written on its snippet."""
    snippet = question.snippet
    siblings = snippet.questions.select_related("created_by", "checked_by").order_by("-pk")
    return {
        "project": snippet.document.project,
        "question": question,
        "snippet": snippet,
        "siblings": list(siblings),
        "has_tree": Question.objects.filter(pk=question.pk, tree__isnull=False).exists(),
        "drafts_done": done_lately(reader),
    }


def _bench(assignment: Assignment, snippet: Snippet) -> dict[str, Any]:
    project = assignment.project
    guideline = Guideline.objects.filter(project=project, step=Step.QUESTIONS).first()
    return {
        "project": project,
        "assignment": assignment,
        "snippet": snippet,
        "guideline": guideline,
        "drafts_done": done_lately(assignment.worker),
    }


def _snippet(key: int) -> Snippet:
    return Snippet.objects.with_source().get(pk=key)


def _recent(project: Project, reader: User, snippet: Snippet) -> list[Question]:
    """The last questions of the snippet's domain, for tone."""
    here = questions_of(project, reader).filter(snippet__document__domain=snippet.document.domain)
    return list(here.in_force().exclude(snippet=snippet).order_by("-pk")[:RECENT])
