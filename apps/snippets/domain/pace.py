"""How fast a person works: from the moments at which pieces of work were done."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

LONGEST_GAP = timedelta(minutes=10)
"""Between two pieces of work; after a longer one the person had been away."""


@dataclass(frozen=True, slots=True)
class Pace:
    """`active`: the gaps up to LONGEST_GAP together; `timed` pieces of work ended one of them."""

    done: int
    timed: int
    active: timedelta

    @property
    def active_minutes(self) -> float:
        return self.active.total_seconds() / 60

    @property
    def per_hour(self) -> float | None:
        """None where no time is known, such as for a single piece of work."""
        return self.timed * 3600 / self.active.total_seconds() if self.active else None


def pace(moments: Iterable[datetime]) -> Pace:
    """Of one person, in any order. What was done together, at one moment, counts as each."""
    ordered = sorted(moments)
    gaps = [gap for gap in (b - a for a, b in pairwise(ordered)) if gap <= LONGEST_GAP]
    return Pace(len(ordered), len(gaps), sum(gaps, timedelta()))
