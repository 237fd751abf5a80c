"""Hands out pieces of work, each to as many people as it needs and to no more (design 4.9).

The two unique constraints of Assignment decide every race: who comes second gets an
IntegrityError in a savepoint, and goes on to the next piece of work.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from apps.accounts.models import User
from apps.projects.models import Project
from apps.projects.services import audit
from apps.workers.models import Assignment, Kind

State = Assignment.State


@dataclass(frozen=True)
class Work:
    """A piece of work that is open: what its kind's app says, and how many people it needs."""

    kind: Kind
    work_id: int
    part: str = ""
    round: int = 0
    needs: int = 1

    @property
    def key(self) -> dict[str, object]:
        return {
            "kind": self.kind, "work_id": self.work_id, "part": self.part, "round": self.round,
        }  # fmt: skip


@transaction.atomic
def lease_first(
    candidates: Iterable[Work], *, project: Project, worker: User, now: datetime
) -> Assignment | None:
    """The first candidate that has a free slot for this worker, leased; None when none has."""
    expire_leases(now)
    for work in candidates:
        if assignment := _lease(work, project=project, worker=worker, now=now):
            return assignment
    return None


def _lease(work: Work, *, project: Project, worker: User, now: datetime) -> Assignment | None:
    taken = set(
        Assignment.objects.holding().filter(**work.key).values_list("slot", flat=True)
    )  # fmt: skip
    for slot in range(work.needs):
        if slot not in taken and (made := _take(work, slot, project, worker, now)):
            return made
    return None


def _take(
    work: Work, slot: int, project: Project, worker: User, now: datetime
) -> Assignment | None:
    ends = now + timedelta(minutes=project.lease_minutes)
    try:
        with transaction.atomic():
            return Assignment.objects.create(
                **work.key, slot=slot, project=project, worker=worker,
                leased_at=now, expires_at=ends,
            )  # fmt: skip
    except IntegrityError:  # somebody was faster, or this worker has had it
        return None


def expire_leases(now: datetime) -> int:
    """Frees the work of leases that have run out; returns how many."""
    return Assignment.objects.overdue(now).update(state=State.EXPIRED, ended_at=now)


def return_work(assignment: Assignment, *, reason: str, now: datetime) -> bool:
    """The worker gives the work back and never gets it again; False: the lease had ended."""
    mine = Assignment.objects.leased().filter(pk=assignment.pk)
    return bool(mine.update(state=State.RETURNED, ended_at=now, return_reason=reason))


@transaction.atomic
def release_work(assignment: Assignment, *, actor: User, now: datetime) -> bool:
    """An admin takes the work back, for anybody to take; False: the lease had ended."""
    held = Assignment.objects.leased().filter(pk=assignment.pk)
    if not held.update(state=State.RELEASED, ended_at=now):
        return False
    audit.record(actor, "release work", assignment, project=assignment.project)
    return True
