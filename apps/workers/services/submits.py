"""Drafts and submits: an older draft never overwrites a newer one, and a submit counts once.

Nothing that a person typed is lost: what no form takes is kept as a KeptText.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.projects.services import states
from apps.workers.errors import LeaseEndedError, NotYourWorkError, StaleDraftError
from apps.workers.models import Assignment, KeptText, Kind
from apps.workers.services.leases import Work, own_lease, take_slot_again

State = Assignment.State
Reason = KeptText.Reason


@dataclass(frozen=True)
class Submitted:
    """The submit counts. `outcome` is what the work answered, also when it was sent again."""

    outcome: dict[str, Any]


@dataclass(frozen=True)
class NotTaken:
    """The submit came too late; its text is kept. `again` is the same work, leased anew with the
    text as its draft, if it was still free."""

    kept: KeptText
    again: Assignment | None


def save_draft(
    assignment_id: int, *, worker: User, version: int, content: dict[str, Any], now: datetime
) -> None:
    """Saves what the person has typed so far.

    `version` counts the saves of one form. Raises StaleDraftError or LeaseEndedError when the
    draft is not taken; then it is kept aside.
    """
    mine = Assignment.objects.filter(pk=assignment_id, worker=worker)
    newer = mine.leased().filter(draft_version__lt=version, expires_at__gt=now)
    if newer.update(draft=content, draft_version=version, draft_saved_at=now):
        return
    assignment = mine.first()
    if assignment is None:
        raise NotYourWorkError
    if assignment.draft_version == version and assignment.draft == content:
        return  # the same save, sent again
    is_stale = assignment.state == State.LEASED and assignment.expires_at > now
    keep_text(assignment, Reason.STALE_DRAFT if is_stale else Reason.LEASE_ENDED, content, now)
    if is_stale:
        raise StaleDraftError(assignment.draft_version, assignment.draft)
    raise LeaseEndedError


@transaction.atomic
def submit(
    assignment_id: int,
    *,
    worker: User,
    key: str,
    content: dict[str, Any],
    take: Callable[[Assignment], dict[str, Any]],
    now: datetime,
    work: Work | None = None,
) -> Submitted | NotTaken:
    """Ends the lease with the person's work, in one transaction with what `take` writes.

    `key` is the form's own: sent twice, the submit counts once and answers the same. `work` says
    what is taken again when the lease had ended, for a kind whose work can vanish meanwhile. Raises
    NotYourWorkError, and whatever `take` raises; then nothing is written and the lease goes on.
    """
    mine = Assignment.objects.select_for_update(of=("self",)).select_related("project", "worker")
    assignment = mine.filter(pk=assignment_id, worker=worker).first()
    if assignment is None:
        raise NotYourWorkError
    if assignment.state == State.SUBMITTED and assignment.submit_key == key:
        return Submitted(assignment.outcome)
    if assignment.state != State.LEASED or assignment.expires_at <= now:
        return _too_late(assignment, work, content, now)
    outcome = take(assignment)
    mine = Assignment.objects.filter(pk=assignment.pk)
    states.move(
        mine, State.SUBMITTED, actor=worker, now=now, outcome=outcome, submit_key=key, ended_at=now,
        draft=content or assignment.draft,  # so that it is known what of other copies was taken
    )  # fmt: skip
    return Submitted(outcome)


def _too_late(
    assignment: Assignment, work: Work | None, content: dict[str, Any], now: datetime
) -> NotTaken:
    if assignment.state == State.SUBMITTED:
        return NotTaken(keep_text(assignment, Reason.SUBMITTED, content, now), None)
    kept = keep_text(assignment, Reason.LEASE_ENDED, content, now)
    overdue = Assignment.objects.overdue(now).filter(pk=assignment.pk)
    states.move(overdue, State.EXPIRED, actor=None, now=now, ended_at=now)
    return NotTaken(kept, _lease_again(assignment, work, content, now))


def _lease_again(
    assignment: Assignment, work: Work | None, content: dict[str, Any], now: datetime
) -> Assignment | None:
    """The same slot, if nobody else has taken it; work that was returned stays returned."""
    if assignment.state == State.RETURNED:
        return None
    work = work or Work(
        Kind(assignment.kind), assignment.work_id, assignment.part, assignment.round
    )  # fmt: skip
    return own_lease(work, worker=assignment.worker, now=now) or take_slot_again(
        assignment, work, now=now, draft=content, draft_version=1, draft_saved_at=now
    )


def spend_time(assignment: Assignment, *, seconds: int, now: datetime) -> None:
    """Keeps the time on task that a page has counted for this work: the most that any said, and
    never more than has passed."""
    told = max(0, min(seconds, _passed(assignment.leased_at, now)))
    if told < seconds:  # a lease that was taken again goes on with the time of the first
        told = min(seconds, _passed(_first_leased(assignment), now))
    Assignment.objects.filter(pk=assignment.pk, active_seconds__lt=told).update(active_seconds=told)


def _passed(since: datetime, now: datetime) -> int:
    return max(0, int((now - since).total_seconds()))


def _first_leased(assignment: Assignment) -> datetime:
    """When the worker had this very work for the first time."""
    same = Assignment.objects.filter(
        kind=assignment.kind, work_id=assignment.work_id, part=assignment.part,
        round=assignment.round, worker=assignment.worker_id,
    )  # fmt: skip
    return min(same.values_list("leased_at", flat=True), default=assignment.leased_at)


def keep_text(
    assignment: Assignment, reason: Reason, content: dict[str, Any], now: datetime
) -> KeptText:
    """What a person typed for this work and no form took."""
    return KeptText.objects.create(
        assignment=assignment, reason=reason, content=content, kept_at=now
    )
