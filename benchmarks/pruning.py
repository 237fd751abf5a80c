"""Finding and pruning the redundant questions of 10,000 trees, by a job that is killed half-way.

Fills a temporary database (of the kind that DATABASE_URL names) with trees that have one redundant
question each; finds them, previews what goes, and prunes. The process that prunes is killed with
SIGKILL in the middle; another one goes on. Each step runs in a process of its own, whose memory is
measured. Usage: python -m benchmarks.pruning [trees]
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial

from benchmarks._filling import fill
from benchmarks._studio import arguments, settle, temporary_database

# isort: split
from django.db import connection, connections
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Job, Project
from apps.trees.models import Cut, Flag, Node
from apps.trees.services.pruning import KIND, TASK, find_flags, preview_of
from apps.trees.tasks import prune_redundant

Write = Callable[[str], object]


def make_redundant(trees: int) -> None:
    """Each tree is finished, and one of its questions cannot change the outcome."""
    fill(trees, growing_every=0, with_utterances=False)
    Node.objects.filter(place="yyyyn", kind=Node.Kind.ANSWER).update(answer="Yes")


def in_a_process(act: Callable[[], object], kill_when: Callable[[], bool] | None = None) -> float:
    """Does it in a fork of this process; returns the most memory that it took, in MiB."""
    connections.close_all()
    child = os.fork()
    if not child:
        status = 1
        try:
            act()
            status = 0
        finally:
            os._exit(status)
    while kill_when is not None and not kill_when():
        time.sleep(0.2)
    if kill_when is not None:
        os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    if kill_when is None and status:
        raise SystemExit(f"a step ended with status {status}")
    return usage.ru_maxrss / 1024


def measured(write: Write, what: str, act: Callable[[], object], *more: Callable[[], bool]) -> None:
    start = time.perf_counter()
    memory = in_a_process(act, *more)
    write(f"{what:<44}{time.perf_counter() - start:>8.1f} s{memory:>8.0f} MiB\n")


def pruned() -> int:
    done = Flag.objects.filter(state=Flag.State.PRUNED).count()
    connections.close_all()  # the next step is a fork, and must not share it
    return done


def find() -> None:
    find_flags(Project.objects.get(), now=timezone.now())


def preview(write: Write) -> None:
    project = Project.objects.get()
    start = time.perf_counter()
    shown = preview_of(project)
    seconds = time.perf_counter() - start
    write(f"the preview takes {seconds:.2f} s: {shown.questions:,} questions of {shown.trees:,} ")
    write(f"trees, {shown.nodes:,} nodes\n")
    sys.stdout.flush()
    # Not queued: this database is not the one that the queue's workers know.
    admin = User.objects.create_user("admin")
    Job.objects.create(
        project=project, kind=KIND, task=TASK, parameters={"last": shown.last}, created_by=admin
    )


def prune() -> None:
    prune_redundant(Job.objects.get().pk)


def report(write: Write, trees: int) -> None:
    write(f"pruning, {connection.vendor}: {trees:,} trees\n")
    measured(write, "fill", partial(make_redundant, trees))
    settle()
    measured(write, "find", find)
    measured(write, "preview, and the job is queued", partial(preview, write))
    measured(write, "prune, until it is killed half-way", prune, lambda: pruned() > trees // 2)
    # As requeue_lost_jobs does it for a job whose worker has been silent for some minutes.
    Job.objects.update(state=Job.State.QUEUED)
    measured(write, "prune, by the process that goes on", prune)
    job = Job.objects.get()
    write(f"job: {job.state}, attempt {job.attempt}, {job.report}\n")
    cuts, left = Cut.objects.count(), Flag.objects.open().redundant().count()
    write(f"{cuts:,} cuts, {left:,} flags left\n")
    if (job.state, cuts, left) != (Job.State.DONE, trees, 0):
        raise SystemExit("That is not what was to come out.")


if __name__ == "__main__":
    with temporary_database():
        report(sys.stdout.write, *arguments(10_000))
