"""Finds redundant questions of a whole project, and takes them all out for new annotation."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Max, QuerySet
from django.db.models.functions import Length, Substr
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Job, Project
from apps.projects.services.jobs import finish_job, queue_job, report_progress, start_job_here
from apps.trees.domain.places import parse_slot
from apps.trees.errors import FlagSettledError
from apps.trees.models import Flag, FlagQuerySet, Node, Tree
from apps.trees.services.flags import prune
from apps.trees.services.near_questions import look_for_near_questions
from apps.trees.services.repair import raise_flags
from apps.workers.models import Assignment, Kind

KIND = "pruning"
TASK = "trees.prune_redundant"
REPORT_EVERY = 20
LEASES_AT_ONCE = 400

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much."""


def _say_nothing(step: str, done: int, total: int) -> None:
    """The job's row has the progress."""


@dataclass(frozen=True)
class Preview:
    """What goes when all redundant questions of a project are pruned. `last` is the newest flag:
    what is found after it is not part of it."""

    trees: int
    questions: int
    nodes: int
    leases: int
    last: int


def find_flags(project: Project, *, now: datetime) -> None:
    """Raises every flag that a finished tree of the project should have."""
    raise_flags(project, now=now)
    trees = Tree.objects.filter(project=project)
    look_for_near_questions(trees, now=now, most=trees.count())


def flags_of_project(project: Project) -> FlagQuerySet:
    """Those that wait for an expert, with what is shown of them; in the order of their trees."""
    flags = Flag.objects.open().filter(tree__project=project)
    return flags.select_related("node", "other", "tree__question__snippet").order_by("tree", "pk")


def preview_of(project: Project) -> Preview:
    """In a constant number of queries."""
    flags = _redundant(project)
    return Preview(
        trees=flags.values("tree").distinct().count(),
        questions=flags.count(),
        nodes=_nodes_below(flags).count(),
        leases=_leases_below(project, flags),
        last=flags.aggregate(last=Max("pk"))["last"] or 0,
    )


def _redundant(project: Project) -> FlagQuerySet:
    return Flag.objects.open().redundant().filter(tree__project=project)


def _nodes_below(flags: FlagQuerySet, **among: Any) -> QuerySet[Any]:
    """The keys of the live nodes that go with the flagged questions, these included.

    From the flags to the nodes of their trees, since PostgreSQL knows little of flags that have
    just been found, and would look through all of them for each node.
    """
    from_root: Any = Substr("tree__nodes__place", 1, Length("node__place"))
    live = flags.filter(tree__nodes__taken_out_at=None, **among).annotate(way=from_root)
    below: QuerySet[Any] = live.filter(way=F("node__place")).order_by()
    return below.values_list("tree__nodes", flat=True).distinct()


def _leases_below(project: Project, flags: FlagQuerySet) -> int:
    """As many as people have work in their hands: looked at one by one."""
    held = Assignment.objects.leased().filter(
        project=project, kind__in=[Kind.PATH, Kind.NODE_CHECK]
    )
    under = [
        lease.work_id if lease.kind == Kind.NODE_CHECK else parse_slot(lease.part)[0]
        for lease in held
    ]
    going: set[int] = set()
    for start in range(0, len(under), LEASES_AT_ONCE):
        keys = [key for key in under[start : start + LEASES_AT_ONCE] if key]
        going.update(_nodes_below(flags, tree__nodes__in=keys))
    return sum(1 for key in under if key in going)


# Pruning ------------------------------------------------------------------------------------


def queue_pruning(project: Project, *, last: int, author: User) -> Job:
    """Prunes in the background what the preview showed."""
    return queue_job(
        project, kind=KIND, task=TASK, parameters={"last": last}, created_by=author
    )  # fmt: skip


def prune_here(project: Project, *, progress: Progress) -> Job:
    """Prunes in this process all that is redundant now."""
    last = preview_of(project).last
    job = start_job_here(project, kind=KIND, parameters={"last": last}, created_by=None)
    run_pruning(job, progress=progress)
    job.refresh_from_db()
    return job


def run_pruning(job: Job, *, progress: Progress = _say_nothing) -> None:
    """Tree by tree, each in a transaction of its own: taken up again, it goes on with the rest."""
    flags = _redundant(job.project).filter(pk__lte=job.parameters["last"]).order_by("pk")
    keys = list(flags.values_list("pk", flat=True))
    for number, key in enumerate(keys):
        if number % REPORT_EVERY == 0:
            report_progress(job, step="pruning", done=number, total=len(keys))
            progress("pruning", number, len(keys))
        try:
            prune(
                Flag.objects.get(pk=key), seen="", expert=job.created_by, reason="",
                now=timezone.now(),
            )  # fmt: skip
        except FlagSettledError:
            continue  # by an expert, meanwhile
    finish_job(job, report=_report_of(job))


def _report_of(job: Job) -> dict[str, int]:
    """Of all attempts together."""
    pruned = Flag.objects.redundant().filter(
        tree__project=job.project, state=Flag.State.PRUNED, pk__lte=job.parameters["last"],
        settled_by=job.created_by, settled_at__gte=job.created_at,
    )  # fmt: skip
    return {
        "trees": pruned.values("tree").distinct().count(),
        "questions": pruned.count(),
        "nodes": Node.objects.filter(cut__in=pruned.values("node__cut")).count(),
    }
