"""The work of the last days, by kind and day: what was submitted. Derived when somebody asks."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count
from django.db.models.functions import TruncDate

from apps.projects.models import Project
from apps.workers.models import Assignment, Kind

DAYS = 14
BAR_HEIGHT, BAR_WIDTH = 24, 10


@dataclass(frozen=True)
class Day:
    """`height` of its bar against the most of all kinds and days, `top` and `x` where it stands."""

    date: date
    count: int
    x: int = 0
    top: int = 0
    height: int = 0


@dataclass(frozen=True)
class WorkOfKind:
    label: str
    days: tuple[Day, ...]

    @property
    def count(self) -> int:
        return sum(day.count for day in self.days)


@dataclass(frozen=True)
class LastDays:
    """The kinds of which something was submitted, each with the same days, the oldest first."""

    kinds: tuple[WorkOfKind, ...]

    def by_day(self) -> list[tuple[date, list[tuple[str, int]]]]:
        """The same as numbers: each day with (kind, how many)."""
        days = zip(*(kind.days for kind in self.kinds), strict=True)
        labels = [kind.label for kind in self.kinds]
        return [
            (row[0].date, list(zip(labels, (day.count for day in row), strict=True)))
            for row in days
        ]


def work_of_last_days(project: Project, *, now: datetime) -> LastDays:
    """What was submitted today (UTC) and on the days before it. One query."""
    today = now.date()
    dates = [today - timedelta(days=back) for back in reversed(range(DAYS))]
    counts = _counts(project, since=now - timedelta(days=DAYS))
    most = max((counts[kind][one] for kind in counts for one in dates), default=0)
    return LastDays(
        tuple(
            WorkOfKind(kind.label, tuple(_days(counts[kind], dates, most)))
            for kind in Kind
            if any(counts[kind][one] for one in dates)
        )
    )


def _counts(project: Project, *, since: datetime) -> dict[str, Counter[date]]:
    submitted = Assignment.objects.filter(
        project=project, state=Assignment.State.SUBMITTED, ended_at__gt=since
    )
    rows = submitted.order_by().annotate(day=TruncDate("ended_at")).values_list("kind", "day")
    counts: dict[str, Counter[date]] = defaultdict(Counter)
    for kind, day, number in rows.annotate(number=Count("pk")):
        counts[kind][day] = number
    return counts


def _days(counts: Counter[date], dates: list[date], most: int) -> list[Day]:
    return [_day(one, counts[one], index, most) for index, one in enumerate(dates)]


def _day(one: date, count: int, index: int, most: int) -> Day:
    height = -(-BAR_HEIGHT * count // most) if most else 0  # up: one piece of work can be seen
    return Day(one, count, index * BAR_WIDTH, BAR_HEIGHT - height, height)
