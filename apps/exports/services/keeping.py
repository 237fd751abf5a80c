"""What stays of an export and what goes: results are kept, everything else is cleaned up.

Work of a job that failed is kept for a day, so that a retry goes on where it stopped.
"""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

import structlog
from django.conf import settings
from django.utils import timezone

from apps.exports.errors import ExportStorageError
from apps.exports.services.exporting import KIND
from apps.exports.services.shards import work_folder
from apps.exports.services.uploads import forget_lost_uploads
from apps.exports.storage import FOLDER, LocalStorage, storage, storage_of
from apps.projects.models import Job, Project

log = structlog.get_logger(__name__)

FAILED_WORK_STAYS = timedelta(days=1)
State = Job.State


def forget_ended_work(job_id: int) -> None:
    """Once an export has ended: done or stopped, nothing of its work stays."""
    job = Job.objects.filter(pk=job_id).select_related("project").first()
    if job is None or job.state in (State.DONE, State.CANCELLED) or _is_old_failure(job):
        _forget(job_id, job)


def _is_old_failure(job: Job) -> bool:
    if job.state != State.FAILED or job.finished_at is None:
        return False
    return timezone.now() - job.finished_at > FAILED_WORK_STAYS


def _forget(job_id: int, job: Job | None) -> None:
    if job is None or job.state != State.DONE:
        storage().forget(f"exports/{job_id}/")
    work = work_folder(job_id)
    shutil.rmtree(work, ignore_errors=True)
    with suppress(OSError):  # the result lies beside it, unless it is in a bucket
        work.parent.rmdir()


def clean_up() -> int:
    """Runs periodically. Returns how many exports' work it looked at."""
    seen = 0
    for seen, job_id in enumerate(_with_work(), 1):  # noqa: B007
        try:
            forget_ended_work(job_id)
        except ExportStorageError as error:
            log.warning("export_work_stays", job=job_id, why=str(error))
    forget_lost_uploads()
    return seen


def _with_work() -> Iterator[int]:
    folder = Path(settings.MEDIA_ROOT) / "exports"
    for path in folder.glob("*/work"):
        if path.parent.name.isdecimal():
            yield int(path.parent.name)


def link_to(job: Job, path: str = "") -> str:
    """To the zip file of a finished export, or to one of its files. Raises ExportStorageError."""
    kept_in = storage_of(job.report.get("kept_in", ""))
    if not path:
        return kept_in.link(job.result, called=_archive_name(job))
    beside = job.result.rpartition("/")[0]
    return kept_in.link(f"{beside}/{FOLDER}/{path}", called=path.rpartition("/")[2])


def _archive_name(job: Job) -> str:
    # Jobs of earlier versions had one format.
    formats = job.parameters.get("formats") or [job.parameters["format"]]
    what = formats[0] if len(formats) == 1 else "export"
    return f"{job.project.slug}-{what}-{job.pk}.zip"


def open_kept(name: str) -> BinaryIO:
    """A file that lies here. Raises FileNotFoundError where it is gone, or its project is."""
    if not Job.objects.filter(
        pk__in=name.split("/")[1:2], project__in=Project.objects.all()
    ).exists():
        raise FileNotFoundError(name)
    return LocalStorage().path(name).open("rb")


def has_file(job: Job, path: str) -> bool:
    """Whether the export has such a file: nobody else's can be asked for."""
    return job.kind == KIND and any(one["path"] == path for one in job.report.get("files", []))
