"""What workers did on trees, in numbers; derived from the rows each time somebody asks."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum

from apps.accounts.models import User
from apps.projects.models import Project
from apps.scenarios.models import Scenario
from apps.trees.models import Cut, Node, NodeCheck
from apps.workers.models import WORKER_KINDS, Assignment, Kind

REJECTIONS_SHOWN = 5
DAY, WEEK = timedelta(days=1), timedelta(days=7)

State = Assignment.State


@dataclass(frozen=True)
class Numbers:
    """Of one worker in one project."""

    paths: int = 0  # submitted
    questions: int = 0  # follow-up questions asked
    answers: int = 0  # final answers given
    rejected: int = 0  # of the questions, taken out because others rejected them
    rejections: int = 0  # of turns of others
    returns: int = 0  # paths given back
    measured: int = 0  # of the paths, those with a time on task
    time: timedelta = field(default=timedelta())  # on them

    @property
    def time_per_path(self) -> timedelta | None:
        """None where none was measured: an imported path, or one of the demo, took no time."""
        return self.time / self.measured if self.measured else None


def numbers_of(project: Project, workers: Collection[int]) -> dict[int, Numbers]:
    """For each of these people (keys of users). Three queries."""
    rows: dict[int, dict[str, Any]] = {worker: {} for worker in workers}
    for counted in (_turns(project), _rejections(project), _paths(project)):
        for row in counted.filter(person__in=rows):
            rows[row.pop("person")] |= row
    return {
        worker: Numbers(time=timedelta(seconds=row.pop("seconds", None) or 0), **row)
        for worker, row in rows.items()
    }


def _turns(project: Project) -> Any:
    made = Node.objects.filter(tree__project=project, assignment__isnull=False)
    return _by_person(made, "created_by").annotate(
        questions=Count("pk", filter=Q(kind=Node.Kind.QUESTION)),
        answers=Count("pk", filter=Q(kind=Node.Kind.ANSWER)),
        rejected=Count("pk", filter=_was_rejected()),
    )


def _was_rejected() -> Q:
    """The turn itself, and not one below it that was taken out with it."""
    hung_there = Q(parent=F("cut__parent")) | Q(parent=None, cut__parent=None)
    return Q(cut__kind=Cut.Kind.REJECTED, branch=F("cut__branch")) & hung_there


def _rejections(project: Project) -> Any:
    said = NodeCheck.objects.filter(node__tree__project=project, verdict=NodeCheck.Verdict.REJECTS)
    return _by_person(said, "checker").annotate(rejections=Count("pk"))


def _paths(project: Project) -> Any:
    work = Assignment.objects.filter(project=project, kind=Kind.PATH)
    # A path that ended with a rejection of a turn above it is no path of its worker.
    is_submitted = Q(state=State.SUBMITTED) & ~Q(outcome__has_key="rejected")
    return _by_person(work, "worker").annotate(
        paths=Count("pk", filter=is_submitted),
        measured=Count("pk", filter=is_submitted & Q(active_seconds__gt=0)),
        returns=Count("pk", filter=Q(state=State.RETURNED)),
        seconds=Sum("active_seconds", filter=is_submitted),
    )


def _by_person(rows: QuerySet[Any], name: str) -> Any:
    return rows.order_by().annotate(person=F(f"{name}_id")).values("person")


def done_lately(project: Project, worker: User, *, now: datetime) -> dict[str, int]:
    """Pieces of work submitted within a day, and within a week. One query."""
    mine = Assignment.objects.filter(project=project, worker=worker, kind__in=WORKER_KINDS)
    done = mine.filter(state=State.SUBMITTED, ended_at__gte=now - WEEK)
    return done.aggregate(week=Count("pk"), day=Count("pk", filter=Q(ended_at__gte=now - DAY)))


def sent_back_scenarios(project: Project, author: User) -> QuerySet[Scenario]:
    """The last scenarios of the author that were sent back, if the project tells why; the newest
    first."""
    if not project.tell_rejections:
        return Scenario.objects.none()
    of_project = Scenario.objects.filter(tree__project=project).sent_back_to(author)
    return of_project.select_related("tree__question")[:REJECTIONS_SHOWN]


def rejected_turns(project: Project, author: User) -> QuerySet[Node]:
    """The last turns of the author that were rejected, the newest first, each with its cut."""
    mine = Node.objects.filter(_was_rejected(), tree__project=project, created_by=author)
    mine = mine.filter(assignment__isnull=False).select_related("cut", "tree__question")
    return mine.order_by("-cut__at", "-pk")[:REJECTIONS_SHOWN]
