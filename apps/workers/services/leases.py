"""Hands out pieces of work, each to as many people as it needs and to no more (design 4.9).

The two unique constraints of Assignment decide every race: who comes second gets an
IntegrityError in a savepoint, and goes on to the next piece of work.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction

from apps.accounts.models import User
from apps.projects.models import Project
from apps.projects.services import audit, states
from apps.workers.models import Assignment, AssignmentQuerySet, Kind
from apps.workers.services.qualification import barred_kinds

State = Assignment.State


@dataclass(frozen=True)
class Work:
    """A piece of work that is open: what its kind's app says, and how many people it needs."""

    kind: Kind
    work_id: int
    part: str = ""
    round: int = 0
    needs: int = 1

    def is_open(self) -> bool:
        """Whether the work is there for certain. Asked in the transaction that takes its slot; a
        kind whose work can vanish meanwhile locks what it hangs on, and looks."""
        return True

    def for_certain(self) -> "Work | None":
        """The work as it is leased, or None. Asked as `is_open` is; a kind whose work comes to be
        only when somebody takes it makes it here."""
        return self if self.is_open() else None

    def begin(self, lease: Assignment) -> None:
        """Called in the transaction that leases it, for what its kind keeps with a lease."""

    @property
    def key(self) -> dict[str, object]:
        return {
            "kind": self.kind, "work_id": self.work_id, "part": self.part, "round": self.round,
        }  # fmt: skip


@transaction.atomic
def lease_first(
    candidates: Iterable[Work], *, project: Project, worker: User, now: datetime
) -> Assignment | None:
    """The first candidate that has a free slot for this worker, leased; None when none has.

    Leases that have run out end first.
    """
    expire_leases(now)
    return lease_one_of(candidates, project=project, worker=worker, now=now)


def lease_one_of(
    candidates: Iterable[Work], *, project: Project, worker: User, now: datetime
) -> Assignment | None:
    """As lease_first, when leases that have run out have been seen to."""
    for work in candidates:
        if assignment := _lease(work, project=project, worker=worker, now=now):
            return assignment
    return None


def _lease(work: Work, *, project: Project, worker: User, now: datetime) -> Assignment | None:
    taken = set(
        Assignment.objects.holding().filter(**work.key).values_list("slot", flat=True)
    )  # fmt: skip
    for slot in range(work.needs):
        if slot in taken:
            continue
        if made := take_slot(work, slot=slot, project=project, worker=worker, now=now):
            return made
    return None


class _GoneError(Exception):
    """The work was there when candidates were looked for, and is not any more."""


def take_slot(
    work: Work, *, slot: int, project: Project, worker: User, now: datetime, **fields: Any
) -> Assignment | None:
    """The slot, leased; None: somebody was faster, this worker has had it, or the work is gone."""
    try:
        with transaction.atomic():
            here = work.for_certain()
            if here is None:
                raise _GoneError  # and not `return`: that would keep what has been locked
            lease = Assignment.objects.create(
                **here.key, slot=slot, project=project, worker=worker, leased_at=now,
                expires_at=now + timedelta(minutes=project.lease_minutes), **fields,
            )  # fmt: skip
            states.began(lease, project_id=project.pk, actor=worker, now=now)
            here.begin(lease)
            return lease
    except (IntegrityError, _GoneError):
        return None


def take_slot_again(
    lease: Assignment, work: Work, *, now: datetime, **fields: Any
) -> Assignment | None:
    """The slot of a lease that ran out, leased anew with the time that was spent on it.

    None also when its worker has lost the qualification that such work needs meanwhile.
    """
    if work.kind in barred_kinds(lease.project, worker=lease.worker, now=now):
        return None
    return take_slot(
        work, slot=lease.slot, project=lease.project, worker=lease.worker, now=now,
        active_seconds=lease.active_seconds, **fields,
    )  # fmt: skip


def own_lease(work: Work, *, worker: User, now: datetime) -> Assignment | None:
    """What the worker has of this very work."""
    return Assignment.objects.lasting(now).filter(**work.key, worker=worker).first()


def expire_leases(now: datetime) -> int:
    """Frees the work of leases that have run out; returns how many.

    It waits for nobody: a lease that somebody has locked is about to end or to go on.
    """
    if not Assignment.objects.overdue(now).exists():
        return 0  # mostly so; on SQLite a transaction would keep everybody else from writing
    ended = 0
    while some := _expire_some(now):
        ended += some
    return ended


@transaction.atomic
def _expire_some(now: datetime) -> int:
    overdue = Assignment.objects.overdue(now)
    unlocked = overdue.select_for_update(of=("self",), skip_locked=True).order_by("pk")
    keys = list(unlocked.values_list("pk", flat=True)[: states.AT_ONCE])
    if not keys:
        return 0
    return states.move(
        overdue.filter(pk__in=keys), State.EXPIRED, actor=None, now=now, ended_at=now
    )


def return_work(assignment: Assignment, *, reason: str, now: datetime) -> bool:
    """The worker gives the work back and never gets it again; False: the lease had ended."""
    mine = Assignment.objects.leased().filter(pk=assignment.pk)
    return bool(
        states.move(
            mine, State.RETURNED, actor=assignment.worker, now=now, reason=reason,
            return_reason=reason, ended_at=now,
        )
    )  # fmt: skip


@transaction.atomic
def release_work(assignment: Assignment, *, actor: User | None, now: datetime) -> bool:
    """An admin takes the work back, for anybody to take; False: the lease had ended."""
    held = Assignment.objects.leased().filter(pk=assignment.pk)
    if not release_all(held, actor=actor, now=now, reason="released by an admin"):
        return False
    audit.record(actor, "release work", assignment, project=assignment.project)
    return True


def release_all(held: AssignmentQuerySet, *, actor: User | None, now: datetime, reason: str) -> int:
    """Ends these leases, since their work is wanted otherwise; what was typed stays with them."""
    return states.move(held, State.RELEASED, actor=actor, now=now, reason=reason, ended_at=now)
