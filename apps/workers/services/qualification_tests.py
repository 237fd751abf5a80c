"""How experts write the test of a project: always on a draft, and what is published is frozen."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max

from apps.accounts.models import User
from apps.projects.models import Project
from apps.projects.services import audit, states
from apps.workers.errors import EmptyTestError, NoDraftError
from apps.workers.models import QualificationQuestion, QualificationTest
from apps.workers.services.qualification import published_test

State = QualificationTest.State
COPIED = ("position", "rule_text", "question", "history", "answer_class", "explanation")


def draft_of(project: Project) -> QualificationTest | None:
    return QualificationTest.objects.filter(project=project, state=State.DRAFT).first()


@transaction.atomic
def begin_draft(project: Project, *, actor: User, now: datetime) -> QualificationTest:
    """The draft, made of the published test if there was none."""
    _lock(project)
    if draft := draft_of(project):
        return draft
    tests = QualificationTest.objects.filter(project=project)
    last = tests.aggregate(last=Max("number", default=0))["last"]
    draft = tests.create(project=project, number=last + 1)
    states.began(draft, project_id=project.pk, actor=actor, now=now)
    published = published_test(project)
    QualificationQuestion.objects.bulk_create(
        QualificationQuestion(test=draft, **{name: getattr(one, name) for name in COPIED})
        for one in (published.questions.all() if published else ())
    )
    return draft


def _lock(project: Project) -> None:
    """One expert at a time: nobody publishes or discards what is being changed."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def _locked_draft(project: Project) -> QualificationTest:
    """Raises NoDraftError."""
    _lock(project)
    draft = draft_of(project)
    if draft is None:
        raise NoDraftError
    return draft


@transaction.atomic
def add_question(project: Project, *, actor: User, now: datetime, **fields: Any) -> None:
    """At the end of the draft, which begins with the first question."""
    begin_draft(project, actor=actor, now=now)
    draft = _locked_draft(project)
    last = draft.questions.aggregate(last=Max("position", default=0))["last"]
    draft.questions.create(position=last + 1, **fields)


@transaction.atomic
def change_question(question: QualificationQuestion, /, **fields: Any) -> None:
    """Raises NoDraftError."""
    mine = _locked_draft(question.test.project).questions.filter(pk=question.pk)
    if not mine.update(**fields):
        raise NoDraftError


@transaction.atomic
def remove_question(question: QualificationQuestion) -> None:
    """Raises NoDraftError."""
    removed, _ = _locked_draft(question.test.project).questions.filter(pk=question.pk).delete()
    if not removed:
        raise NoDraftError


@transaction.atomic
def publish(project: Project, *, actor: User, now: datetime) -> QualificationTest:
    """From now on people take this version. Raises NoDraftError or EmptyTestError."""
    draft = _locked_draft(project)
    if not draft.questions.exists():
        raise EmptyTestError
    tests = QualificationTest.objects.filter(project=project)
    states.move(tests.filter(state=State.PUBLISHED), State.REPLACED, actor=actor, now=now)
    states.move(
        tests.filter(pk=draft.pk), State.PUBLISHED, actor=actor, now=now, published_at=now,
        published_by=actor,
    )  # fmt: skip
    audit.record(
        actor, "publish qualification test", draft, project=project, version=draft.number,
        questions=draft.questions.count(),
    )  # fmt: skip
    return draft


@transaction.atomic
def discard_draft(project: Project) -> None:
    """Raises NoDraftError."""
    _locked_draft(project).delete()
