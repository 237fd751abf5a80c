"""A test to take, for several files."""

from datetime import UTC, datetime, timedelta
from typing import Any

from apps.accounts.models import User
from apps.projects.models import Project
from apps.workers.models import (
    AnswerClass,
    QualificationAttempt,
    QualificationSettings,
    QualificationTest,
)
from apps.workers.services.attempts import begin_attempt, submit_attempt
from apps.workers.services.qualification_tests import add_question, publish
from tests.factories import make_user

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
YES, NO, MORE = AnswerClass.YES, AnswerClass.NO, AnswerClass.MORE
RIGHT = (YES, MORE)


def make_test(project: Project, *right: AnswerClass, now: datetime = NOW) -> QualificationTest:
    """Published, with a question for each right answer."""
    expert = make_user()
    for number, answer in enumerate(right or RIGHT):
        add_question(
            project, actor=expert, now=now, rule_text="# Bikes\n\nYou can, if you are over 18.",
            question=f"Can I borrow bike {number}?", answer_class=answer,
            history=[{"follow_up_question": "Are you over 18?", "follow_up_answer": "Yes"}],
            explanation=f"Because of line {number}.",
        )  # fmt: skip
    return publish(project, actor=expert, now=now)


def need_it(project: Project, **fields: Any) -> QualificationSettings:
    """Paths, and what else `fields` say."""
    wanted = {"for_paths": True, "most_tries": 2, **fields}
    return QualificationSettings.objects.update_or_create(project=project, defaults=wanted)[0]


def answer(attempt: QualificationAttempt, *given: AnswerClass) -> dict[int, AnswerClass]:
    """By key of the question, as the service wants them."""
    keys = attempt.test.questions.values_list("pk", flat=True)
    return dict(zip(keys, given, strict=True))


def try_it(
    project: Project, worker: User, *given: AnswerClass, now: datetime = NOW
) -> QualificationAttempt:
    attempt = begin_attempt(project, worker=worker, now=now)
    return submit_attempt(attempt, answer(attempt, *(given or RIGHT)), key="k", now=now)
