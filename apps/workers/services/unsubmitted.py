"""What a person typed and no form took, without what they submitted or have in hand after all."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from apps.workers.domain.written import written
from apps.workers.models import Assignment, AssignmentQuerySet, KeptText

State = Assignment.State
SHOWN = 20
LOOKED_AT = 100  # of the newest: what was submitted after all is among them, too


@dataclass(frozen=True)
class Left:
    """`why` no form took it."""

    work: Assignment
    at: datetime | None
    why: str
    texts: list[str]


def texts_left(work: AssignmentQuerySet, *, now: datetime) -> list[Left]:
    """Of this person's work: first turns of paths, then what was kept, then drafts."""
    found = [*_turns(work), *_kept(work), *_drafts(work)]
    taken = _taken(work, [one.work for one in found], now)
    return [one for one in found if set(one.texts) - taken[_key(one.work)]][: 3 * SHOWN]


def _turns(work: AssignmentQuerySet) -> Iterable[Left]:
    for one in work.with_lost_steps().order_by("-ended_at")[:SHOWN]:
        steps: Any = one.path_steps  # of an app above this one
        texts = [step.text for step in steps.all() if step.text and not step.undone_at]
        yield Left(one, one.ended_at, one.get_state_display(), texts)


def _kept(work: AssignmentQuerySet) -> Iterable[Left]:
    kept = KeptText.objects.filter(assignment__in=work).select_related("assignment")
    for one in kept[:LOOKED_AT]:
        yield Left(one.assignment, one.kept_at, one.get_reason_display(), written(one.content))


def _drafts(work: AssignmentQuerySet) -> Iterable[Left]:
    for one in work.with_lost_draft().order_by("-ended_at")[:LOOKED_AT]:
        yield Left(one, one.ended_at, one.get_state_display(), written(one.draft))


def _taken(
    work: AssignmentQuerySet, looked_at: list[Assignment], now: datetime
) -> dict[tuple[object, ...], set[str]]:
    """By piece of work: what the person submitted of it, or has in its field."""
    here = Q(state=State.SUBMITTED) | Q(state=State.LEASED, expires_at__gt=now)
    same = work.filter(here, work_id__in={one.work_id for one in looked_at})
    taken: dict[tuple[object, ...], set[str]] = defaultdict(set)
    for one in same:
        taken[_key(one)].update(_accepted(one.draft))
    return taken


def _accepted(content: dict[str, str]) -> Iterable[str]:
    for name, text in content.items():
        yield text
        if name.startswith("turn "):
            yield text.rpartition(" ")[0]  # the question without its answer


def _key(work: Assignment) -> tuple[object, ...]:
    return work.kind, work.work_id, work.part
