"""Drafts and submits: an older draft never overwrites a newer one, and a submit counts once.

Nothing that a person typed is lost: what no form takes is kept as a KeptText.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction

from apps.accounts.models import User
from apps.workers.errors import LeaseEndedError, NotYourWorkError, StaleDraftError
from apps.workers.models import Assignment, KeptText

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
    _keep(assignment, Reason.STALE_DRAFT if is_stale else Reason.LEASE_ENDED, content, now)
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
) -> Submitted | NotTaken:
    """Ends the lease with the person's work, in one transaction with what `take` writes.

    `key` is the form's own: sent twice, the submit counts once and answers the same. Raises
    NotYourWorkError, and whatever `take` raises; then nothing is written and the lease goes on.
    """
    mine = Assignment.objects.select_for_update(of=("self",)).select_related("project", "worker")
    assignment = mine.filter(pk=assignment_id, worker=worker).first()
    if assignment is None:
        raise NotYourWorkError
    if assignment.state == State.SUBMITTED and assignment.submit_key == key:
        return Submitted(assignment.outcome)
    if assignment.state != State.LEASED or assignment.expires_at <= now:
        return _too_late(assignment, content, now)
    assignment.outcome = take(assignment)
    assignment.state, assignment.submit_key, assignment.ended_at = State.SUBMITTED, key, now
    assignment.save(update_fields=["outcome", "state", "submit_key", "ended_at"])
    return Submitted(assignment.outcome)


def _too_late(assignment: Assignment, content: dict[str, Any], now: datetime) -> NotTaken:
    if assignment.state == State.SUBMITTED:
        return NotTaken(_keep(assignment, Reason.SUBMITTED, content, now), None)
    kept = _keep(assignment, Reason.LEASE_ENDED, content, now)
    Assignment.objects.overdue(now).filter(pk=assignment.pk).update(
        state=State.EXPIRED, ended_at=now
    )
    return NotTaken(kept, _lease_again(assignment, content, now))


def _lease_again(
    assignment: Assignment, content: dict[str, Any], now: datetime
) -> Assignment | None:
    """The same slot, if nobody has taken it; work that was returned stays returned."""
    if assignment.state == State.RETURNED:
        return None
    try:
        with transaction.atomic():
            return Assignment.objects.create(
                project=assignment.project, worker=assignment.worker, kind=assignment.kind,
                work_id=assignment.work_id, part=assignment.part, round=assignment.round,
                slot=assignment.slot, leased_at=now,
                expires_at=now + timedelta(minutes=assignment.project.lease_minutes),
                draft=content, draft_version=1, draft_saved_at=now,
            )  # fmt: skip
    except IntegrityError:
        return None


def _keep(
    assignment: Assignment, reason: Reason, content: dict[str, Any], now: datetime
) -> KeptText:
    return KeptText.objects.create(
        assignment=assignment, reason=reason, content=content, kept_at=now
    )
