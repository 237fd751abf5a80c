"""Who has the qualification of a project, who gets it, and which work needs it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import transaction

from apps.accounts.models import User
from apps.projects.models import Membership, Project, Role
from apps.projects.services import audit, states
from apps.workers.domain.qualification import Held, Standing, standing_of
from apps.workers.errors import NoTestError, OnlyWorkersError
from apps.workers.models import (
    Kind,
    Qualification,
    QualificationAttempt,
    QualificationSettings,
    QualificationTest,
)

State = Qualification.State
NAMES = (*QualificationSettings.KINDS, "pass_mark", "most_tries", "waiting_hours", "expiry_days")


# What work needs it -----------------------------------------------------------------------------


def settings_of(project: Project) -> QualificationSettings:
    """As they are stored, or else a new row that is not."""
    stored = QualificationSettings.objects.filter(project=project).first()
    return stored or QualificationSettings(project=project)


def barred_kinds(project: Project, *, worker: User, now: datetime) -> frozenset[Kind]:
    """The kinds of work that this person does not get, for want of the qualification.

    Experts and admins need none: they write the test. One query where no work needs it.
    """
    kinds = settings_of(project).kinds
    if not kinds:
        return kinds
    needs_it = Membership.objects.filter(project=project, user=worker, role=Role.WORKER)
    has_it = Qualification.objects.lasting(now).filter(project=project, worker=worker)
    return kinds if needs_it.exists() and not has_it.exists() else frozenset()


@transaction.atomic
def save_settings(wanted: QualificationSettings, *, actor: User) -> bool:
    """False: nothing had changed. Raises NoTestError when work is to need what nobody can get."""
    project = Project.objects.select_for_update().get(pk=wanted.project_id)
    stored = settings_of(project)
    changes = {
        name: [getattr(stored, name), getattr(wanted, name)]
        for name in NAMES
        if getattr(stored, name) != getattr(wanted, name)
    }
    if wanted.kinds and not published_test(project):
        raise NoTestError
    if not changes:
        return False
    wanted.pk = stored.pk
    wanted.save()
    audit.record(actor, "change qualification", project, project=project, changes=changes)
    return True


def published_test(project: Project) -> QualificationTest | None:
    """The version that people take."""
    tests = QualificationTest.objects.filter(project=project)
    return tests.filter(state=QualificationTest.State.PUBLISHED).first()


# How people stand -------------------------------------------------------------------------------


@dataclass
class _Rows:
    """What there is of one person: their last qualification, and their tries, the oldest first."""

    last: Qualification | None = None
    attempts: list[QualificationAttempt] = field(default_factory=list)


def standings(project: Project, workers: Iterable[int], *, now: datetime) -> dict[int, Standing]:
    """How each of these people (keys of users) stands. Four queries."""
    rows = {worker: _Rows() for worker in workers}
    for one in Qualification.objects.filter(project=project, worker__in=rows):
        rows[one.worker_id].last = one
    for attempt in QualificationAttempt.objects.filter(project=project, worker__in=rows):
        rows[attempt.worker_id].attempts.append(attempt)
    rules, has_test = settings_of(project).to_domain(), published_test(project) is not None
    return {
        worker: standing_of(
            held=_held(here.last), failed=_failed(here), rules=rules, has_test=has_test, now=now,
            has_begun=any(one.submitted_at is None for one in here.attempts),
        )
        for worker, here in rows.items()
    }  # fmt: skip


def standing(project: Project, *, worker: User, now: datetime) -> Standing:
    return standings(project, [worker.pk], now=now)[worker.pk]


def _held(last: Qualification | None) -> Held | None:
    return Held(last.expires_at, last.state == State.REVOKED) if last else None


def _failed(here: _Rows) -> list[datetime]:
    since = here.last.given_at if here.last else None
    return [
        one.submitted_at
        for one in here.attempts
        if one.submitted_at and not one.passed and (since is None or one.submitted_at > since)
    ]


# Giving it, and taking it back ------------------------------------------------------------------


def _lock(worker: int) -> None:
    """Whoever gives, takes back or submits a test waits for the others."""
    User.objects.select_for_update(no_key=True).get(pk=worker)


def give_for(attempt: QualificationAttempt, *, now: datetime) -> Qualification:
    """Somebody has passed the test; their row is locked."""
    return _give(attempt.project, attempt.worker, now, attempt=attempt)


@transaction.atomic
def give_by_hand(member: Membership, *, actor: User, now: datetime) -> Qualification:
    """An admin knows that the person can do it. Raises OnlyWorkersError."""
    if member.role != Role.WORKER:
        raise OnlyWorkersError
    _lock(member.user_id)
    given = _give(member.project, member.user, now, given_by=actor)
    audit.record(
        actor, "give qualification", given, project=member.project, user=member.user_id,
        until=given.expires_at.isoformat(timespec="seconds"),
    )  # fmt: skip
    return given


def _give(
    project: Project, worker: User, now: datetime, *,
    attempt: QualificationAttempt | None = None, given_by: User | None = None,
) -> Qualification:  # fmt: skip
    before = Qualification.objects.held().filter(project=project, worker=worker)
    states.move(before, State.REPLACED, actor=given_by, now=now)
    given = Qualification.objects.create(
        project=project, worker=worker, given_at=now, attempt=attempt, given_by=given_by,
        expires_at=now + timedelta(days=settings_of(project).expiry_days),
    )  # fmt: skip
    states.began(given, project_id=project.pk, actor=given_by or worker, now=now)
    return given


@transaction.atomic
def revoke(member: Membership, *, actor: User, now: datetime) -> bool:
    """An admin takes it back; work in hand may be finished. False: the person has none."""
    _lock(member.user_id)
    held = Qualification.objects.held().filter(project=member.project, worker=member.user)
    if not states.move(held, State.REVOKED, actor=actor, now=now):
        return False
    audit.record(actor, "revoke qualification", member, project=member.project, user=member.user_id)
    return True
