"""The second expert's check of a first question."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from itertools import count
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.projects.models import Project
from apps.projects.services import audit
from apps.snippets.errors import QuestionNotWaitingError
from apps.snippets.models import Question, QuestionQuerySet
from apps.snippets.services.questions import (
    CHUNK,
    end_lost_work,
    lock_expert,
    without_void_lease,
)
from apps.workers.models import Assignment, Kind
from apps.workers.services.leases import Work, lease_first
from apps.workers.services.submits import NotTaken, Submitted, submit

State = Question.State


def checkable_questions(project: Project, *, expert: User) -> QuestionQuerySet:
    """Those of others that are free for this expert to check, in document order."""
    questions = Question.objects.visible_to(expert).filter(snippet__document__project=project)
    free = questions.checkable_by(expert)
    return free.order_by("snippet__document", "snippet__position")


@transaction.atomic
def take_check(project: Project, *, expert: User, now: datetime) -> Assignment | None:
    """The expert's own open check first, else the next; None when none is free."""
    lock_expert(expert)
    mine = Assignment.objects.of(expert).filter(project=project, kind=Kind.QUESTION_CHECK)
    waiting = Question.objects.filter(state=State.PROPOSED).values("pk")
    in_hand = mine.lasting(now).filter(work_id__in=waiting).order_by("pk").first()
    free = checkable_questions(project, expert=expert)
    return in_hand or lease_first(_works(free), project=project, worker=expert, now=now)


def _works(questions: QuestionQuerySet) -> Iterator[Work]:
    for start in count(0, CHUNK):
        keys = list(questions.values_list("pk", flat=True)[start : start + CHUNK])
        for key in keys:
            yield Work(Kind.QUESTION_CHECK, key)
        if len(keys) < CHUNK:
            return


def approve_question(assignment: Assignment, *, key: str, now: datetime) -> Submitted | NotTaken:
    """Raises QuestionNotWaitingError; then the lease is over."""
    take = partial(_settle, state=State.ACCEPTED, note="", now=now)
    return _send(assignment, {}, take, key=key, now=now)


def send_question_back(
    assignment: Assignment, *, note: str, key: str, now: datetime
) -> Submitted | NotTaken:
    """The snippet is open work again, and its author reads the note.

    Raises QuestionNotWaitingError; then the lease is over, and the note is kept.
    """
    take = partial(_settle, state=State.SENT_BACK, note=note, now=now)
    return _send(assignment, {"note": note}, take, key=key, now=now)


def _send(
    assignment: Assignment, content: dict[str, Any], take: Any, *, key: str, now: datetime
) -> Submitted | NotTaken:
    worker = assignment.worker
    try:
        answer = submit(assignment.pk, worker=worker, key=key, content=content, take=take, now=now)
    except QuestionNotWaitingError:
        end_lost_work(assignment, content, now=now)
        raise
    waiting = Question.objects.filter(state=State.PROPOSED)
    return without_void_lease(answer, waiting, now=now)


def _settle(assignment: Assignment, *, state: State, note: str, now: datetime) -> dict[str, Any]:
    checker = assignment.worker
    others = Question.objects.filter(pk=assignment.work_id).exclude(created_by=checker)
    checked = {"checked_by": checker, "checked_at": now, "check_note": note}
    if not others.filter(state=State.PROPOSED).update(state=state, **checked):
        raise QuestionNotWaitingError
    action = "approve question" if state == State.ACCEPTED else "send question back"
    question = Question.objects.get(pk=assignment.work_id)
    audit.record(checker, action, question, project=assignment.project, note=note)
    return {"question": question.pk, "state": state.value}
