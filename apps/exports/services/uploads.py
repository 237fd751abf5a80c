"""Files that a person uploads for an import, from the form until their job has ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.exports.services.sharc_reading import ImportFiles
from apps.projects.models import Job, Project, Split
from apps.projects.services.jobs import queue_job

KIND = "ShARC import"
TASK = "exports.import_sharc"
FOLDER, NAME = "uploads", "import"
UPLOADS_STAY = timedelta(hours=1)
"""Files are kept before their job is: until then they are nobody's."""
LISTS = ("negative_questions", "negative_scenarios")


@transaction.atomic
def queue_import(
    project: Project,
    *,
    utterances: list[UploadedFile[Any]],
    lists: Mapping[str, UploadedFile[Any] | None],
    split: Split | None,
    author: User,
) -> Job:
    """Keeps the files and queues their import. `lists` has the negatives, by `LISTS`."""
    files: dict[str, Any] = {"utterances": [_keep(upload) for upload in utterances]}
    files |= {key: _keep(upload) for key in LISTS if (upload := lists.get(key))}
    return queue_job(
        project,
        kind=KIND,
        task=TASK,
        parameters={"files": files, "split": split},
        created_by=author,
    )


def _keep(upload: UploadedFile[Any]) -> list[str]:
    """The name that the person knows, and the one that the file is kept under."""
    return [str(upload.name), default_storage.save(f"{FOLDER}/{NAME}", upload)]


def uploaded_files(job: Job) -> ImportFiles:
    files = job.parameters["files"]
    return ImportFiles(
        utterances=tuple(_stored(entry) for entry in files["utterances"]),
        **{key: _stored(files[key]) for key in LISTS if key in files},
    )


def _stored(entry: list[str]) -> tuple[str, Path]:
    name, kept_as = entry
    return name, Path(default_storage.path(kept_as))


def forget_uploads(job_id: int) -> None:
    """Deletes the files of a job that has ended, however it did; a running one keeps them."""
    job = Job.objects.get(pk=job_id)
    if job.is_finished:
        for kept_as in _kept_names(job):
            default_storage.delete(kept_as)


def forget_lost_uploads() -> None:
    """Deletes files that no import waits for: of jobs that were stopped, or never came to be."""
    jobs = Job.objects.unfinished().filter(kind=KIND)
    awaited = {PurePosixPath(name).name for job in jobs for name in _kept_names(job)}
    if not default_storage.exists(FOLDER):
        return
    for name in default_storage.listdir(FOLDER)[1]:
        kept_as = f"{FOLDER}/{name}"
        age = timezone.now() - default_storage.get_modified_time(kept_as)
        if name.startswith(NAME) and name not in awaited and age > UPLOADS_STAY:
            default_storage.delete(kept_as)


def _kept_names(job: Job) -> Iterator[str]:
    files = job.parameters["files"]
    for entry in [*files["utterances"], *(files[key] for key in LISTS if key in files)]:
        yield entry[1]
