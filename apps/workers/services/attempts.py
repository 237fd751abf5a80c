"""A person takes the test: one try at a time, as many as the project gives, each counted once."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from apps.accounts.models import User
from apps.projects.models import Membership, Project
from apps.workers.domain.qualification import Code, is_passed
from apps.workers.errors import NotAMemberError, NotToBeTakenError, UnansweredError
from apps.workers.models import (
    AnswerClass,
    QualificationAnswer,
    QualificationAttempt,
    QualificationQuestion,
)
from apps.workers.services.qualification import give_for, published_test, settings_of, standing

SENTENCES = {
    Code.QUALIFIED: "You have the qualification.",
    Code.NOT_TAKEN: "You have not taken the test yet.",
    Code.BEGUN: "You have begun the test. It stays as you saw it; go on with it.",
    Code.FAILED: "You did not pass the test. You may try again now.",
    Code.WAITING: "You did not pass the test. Look at the guidelines, and try again later.",
    Code.NO_TRIES_LEFT: "You did not pass the test, and no tries are left. Ask an admin of the "
    "project.",
    Code.EXPIRED: "Your qualification has expired. Take the test again.",
    Code.REVOKED: "An admin of the project took your qualification back. Ask them about it.",
    Code.NO_TEST: "The test is not there yet. Experts of the project write it; look again later.",
}


def _lock(worker: int) -> None:
    """Two clicks of one person at once: the second waits here, and sees what the first did."""
    User.objects.select_for_update(no_key=True).get(pk=worker)


@transaction.atomic
def begin_attempt(project: Project, *, worker: User, now: datetime) -> QualificationAttempt:
    """The try that the person has begun, or else a new one, on the test as it is now.

    Raises NotAMemberError or NotToBeTakenError.
    """
    _lock(worker.pk)
    if not Membership.objects.filter(project=project, user=worker).exists():
        raise NotAMemberError
    attempts = QualificationAttempt.objects.filter(project=project, worker=worker)
    here, test = standing(project, worker=worker, now=now), published_test(project)
    if here.code == Code.BEGUN:
        return attempts.get(submitted_at__isnull=True)
    if test is None or not here.may_begin:
        raise NotToBeTakenError(SENTENCES[here.code])
    last = attempts.aggregate(last=Max("number", default=0))["last"]
    return QualificationAttempt.objects.create(
        project=project, worker=worker, test=test, number=last + 1, began_at=now,
        pass_mark=settings_of(project).pass_mark,
    )  # fmt: skip


def keep_answers(attempt: QualificationAttempt, answers: Mapping[int, AnswerClass]) -> None:
    """What is answered so far, by key of the question; nothing once the try is submitted."""
    begun = QualificationAttempt.objects.filter(pk=attempt.pk, submitted_at__isnull=True)
    begun.update(draft={str(key): answer.value for key, answer in answers.items()})


@transaction.atomic
def submit_attempt(
    attempt: QualificationAttempt, answers: Mapping[int, AnswerClass], *, key: str, now: datetime
) -> QualificationAttempt:
    """The try as it counts. Sent twice, the first counts, and the second is told of it.

    `key` is the form's own. Raises UnansweredError when a question has no answer, and
    NotToBeTakenError when an admin has taken the person's qualification back meanwhile.
    """
    _lock(attempt.worker_id)
    here = QualificationAttempt.objects.select_related("project", "worker").get(pk=attempt.pk)
    if here.submitted_at is not None:
        return here
    if standing(here.project, worker=here.worker, now=now).code == Code.REVOKED:
        raise NotToBeTakenError(SENTENCES[Code.REVOKED])
    questions = list(QualificationQuestion.objects.filter(test=here.test_id))
    if any(question.pk not in answers for question in questions):
        raise UnansweredError
    QualificationAnswer.objects.bulk_create(
        QualificationAnswer(attempt=here, question=one, answer_class=answers[one.pk])
        for one in questions
    )
    here.right = sum(answers[one.pk] == one.answer_class for one in questions)
    here.asked = len(questions)
    here.passed = is_passed(here.right, asked=here.asked, pass_mark=here.pass_mark)
    here.submitted_at, here.submit_key = now, key
    here.save(update_fields=["right", "asked", "passed", "submitted_at", "submit_key"])
    if here.passed:
        give_for(here, now=now)
    return here
