"""Background jobs. The row is the truth about a job; the broker's message only wakes a worker.

A job may be taken up again when its worker died, so whatever it does must bear being done twice.
Each take-up is an attempt; only the latest attempt may report, so that a worker that was believed
dead cannot overwrite its successor.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from threading import Event, Thread
from typing import Any

import structlog
from celery import current_app
from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.db.models import F
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.errors import JobCancelledError, StudioError
from apps.projects.models import Job, Project
from apps.projects.services import audit

log = structlog.get_logger(__name__)

MAX_ATTEMPTS = 5


@transaction.atomic
def queue_job(
    project: Project, *, kind: str, task: str, parameters: dict[str, Any], created_by: User | None
) -> Job:
    """A job that the named Celery task will run once this transaction is committed."""
    job = Job.objects.create(
        project=project, kind=kind, task=task, parameters=parameters, created_by=created_by
    )
    audit.record(created_by, f"start {kind}", job, project=project)
    transaction.on_commit(partial(_send, job))
    return job


def start_job_here(
    project: Project, *, kind: str, parameters: dict[str, Any], created_by: User | None
) -> Job:
    """A job that the calling process runs itself: the command line's door to the same services."""
    job = Job.objects.create(
        project=project,
        kind=kind,
        parameters=parameters,
        created_by=created_by,
        state=Job.State.RUNNING,
        attempt=1,
        heartbeat_at=timezone.now(),
    )
    audit.record(created_by, f"start {kind}", job, project=project)
    return job


def claim_job(job_id: int) -> Job | None:
    """Takes a waiting job up, or returns None: somebody else has it, or it has ended."""
    claimed = Job.objects.filter(pk=job_id, state=Job.State.QUEUED).update(
        state=Job.State.RUNNING, attempt=F("attempt") + 1, heartbeat_at=timezone.now(),
        step="", done=0, total=0,
    )  # fmt: skip
    return Job.objects.select_related("project", "created_by").get(pk=job_id) if claimed else None


def report_progress(job: Job, *, step: str, done: int = 0, total: int = 0) -> None:
    """Says how far the job is, which is also its heartbeat.

    Raises JobCancelledError when the job is no longer this attempt's.
    """
    _update(job, step=step, done=min(done, total) if total else done, total=total)


def finish_job(job: Job, *, report: dict[str, Any], result: str = "") -> None:
    """Ends the job as done. Inside the transaction of its work, both count or neither does."""
    _update(job, state=Job.State.DONE, report=report, result=result, finished_at=timezone.now())


def fail_job(job: Job, *, error: str) -> None:
    """Ends the job as failed, with one sentence that says why."""
    _update(job, state=Job.State.FAILED, error=error, finished_at=timezone.now())


def _update(job: Job, **values: Any) -> None:
    mine = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, attempt=job.attempt)
    if not mine.update(heartbeat_at=timezone.now(), **values):
        raise JobCancelledError(f"Job {job.pk} was stopped, or another worker took it over.")


def run_job(job_id: int, work: Callable[[Job], None]) -> None:
    """What every job's task does: claim, work, and end with the reason when it fails."""
    job = claim_job(job_id)
    if job is None:
        return
    try:
        with _heart_beating(job):
            _work_or_fail(job, work)
    except JobCancelledError:
        log.info("job_stopped", job=job.pk)


def _work_or_fail(job: Job, work: Callable[[Job], None]) -> None:
    try:
        work(job)
    except JobCancelledError:
        raise
    except StudioError as error:
        fail_job(job, error=str(error))
    except Exception:
        log.exception("job_failed", job=job.pk)
        fail_job(
            job, error="Something went wrong inside the studio. The log of the server says more "
            f"under job {job.pk}.",
        )  # fmt: skip


@contextmanager
def _heart_beating(job: Job) -> Iterator[None]:
    """Keeps the heartbeat going while the work has nothing to report: in one long transaction."""
    ended = Event()
    heart = Thread(target=_beat_until, args=(ended, job.pk, job.attempt), daemon=True)
    heart.start()
    try:
        yield
    finally:
        ended.set()
        heart.join()


def _beat_until(ended: Event, job_id: int, attempt: int) -> None:
    mine = Job.objects.filter(pk=job_id, state=Job.State.RUNNING, attempt=attempt)
    try:
        while not ended.wait(settings.JOB_LOST_AFTER_SECONDS / 5):
            try:
                mine.update(heartbeat_at=timezone.now())
            except OperationalError:  # SQLite, while the work itself holds the lock
                log.debug("heartbeat_waits", job=job_id)
    finally:
        connection.close()


@transaction.atomic
def cancel_job(job: Job, *, actor: User) -> bool:
    """Stops a job that has not ended; its worker notices at its next progress report."""
    stopped = Job.objects.unfinished().filter(pk=job.pk)
    if not stopped.update(state=Job.State.CANCELLED, finished_at=timezone.now()):
        return False
    audit.record(actor, f"cancel {job.kind}", job, project=job.project)
    return True


@transaction.atomic
def retry_job(job: Job, *, actor: User) -> bool:
    """Queues a job again that failed or was stopped; its task finds what is left of its work."""
    ended = Job.objects.filter(pk=job.pk, state__in=[Job.State.FAILED, Job.State.CANCELLED])
    now = timezone.now()
    if not ended.update(state=Job.State.QUEUED, queued_at=now, finished_at=None, error=""):
        return False
    audit.record(actor, f"retry {job.kind}", job, project=job.project)
    transaction.on_commit(partial(_send, job))
    return True


def requeue_lost_jobs() -> int:
    """Queues again what lost its worker or its message; returns how many. Runs periodically."""
    lost_since = timezone.now() - timedelta(seconds=settings.JOB_LOST_AFTER_SECONDS)
    silent = Job.objects.filter(state=Job.State.RUNNING, heartbeat_at__lt=lost_since)
    silent.filter(attempt__gte=MAX_ATTEMPTS).update(
        state=Job.State.FAILED,
        finished_at=timezone.now(),
        error=f"Its worker died {MAX_ATTEMPTS} times. See the server's log.",
    )
    # Work that a command runs has no task: nobody else can take it up.
    silent.filter(task="").update(
        state=Job.State.FAILED,
        finished_at=timezone.now(),
        error="The command that ran it was stopped. Run it again.",
    )
    silent.update(state=Job.State.QUEUED, queued_at=lost_since)
    forgotten = list(Job.objects.filter(state=Job.State.QUEUED, queued_at__lte=lost_since))
    Job.objects.filter(pk__in=[job.pk for job in forgotten]).update(queued_at=timezone.now())
    for job in forgotten:
        _send(job)
    return len(forgotten)


def _send(job: Job) -> None:
    # By name: a project's jobs belong to apps that this one must not know.
    current_app.send_task(job.task, [job.pk])
