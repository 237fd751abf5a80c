"""Loading many documents: one job, with a report that names every file.

Each document has a transaction of its own. What a killed attempt has loaded is found again by its
content, and not loaded twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Job, Project
from apps.projects.services.jobs import finish_job, queue_job, report_progress, start_job_here
from apps.projects.services.projects import create_project
from apps.snippets.errors import DocumentRefusedError, NothingLoadedError
from apps.snippets.services.ingest import Details, Ingested, ingest_document
from apps.snippets.services.ingest_fetch import fetched
from apps.snippets.services.ingest_files import Incoming, Upload, incoming
from apps.snippets.services.ingest_index import Index, read_index
from apps.snippets.services.near_duplicates import look_for_near_duplicates

KIND = "document ingest"
TASK = "snippets.ingest_documents"
FAILED = "failed"

Progress = Callable[[str, int, int], None]
Row = dict[str, Any]
"""What became of one file, for the report."""


# Starting -----------------------------------------------------------------------------------


@transaction.atomic
def queue_uploads(
    project: Project, *, files: Sequence[UploadedFile[Any]], index: UploadedFile[Any] | None,
    details: Details, author: User,
) -> Job:  # fmt: skip
    """Keeps the files and queues their loading. `details` hold where the list has no other.

    Raises IndexRefusedError.
    """
    known = read_index(index.read(), name=str(index.name)) if index else Index()
    kept = [
        {"name": str(file.name), "kept_as": default_storage.save("uploads/documents", file),
         "details": _as_json(known.of(str(file.name)))}
        for file in files
    ]  # fmt: skip
    return queue_job(
        project,
        kind=KIND,
        task=TASK,
        parameters={"files": kept, "details": _as_json(details), "missing": known.unused()},
        created_by=author,
    )


def queue_fetch(project: Project, *, urls: Sequence[str], details: Details, author: User) -> Job:
    parameters = {"urls": list(urls), "details": _as_json(details)}
    return queue_job(project, kind=KIND, task=TASK, parameters=parameters, created_by=author)


def _as_json(details: Details | None) -> dict[str, str]:
    return {key: str(value) for key, value in asdict(details or Details()).items() if value}


def _from_json(values: dict[str, str]) -> Details:
    texts = {key: value for key, value in values.items() if key != "retrieved_on"}
    day = values.get("retrieved_on")
    return Details(**texts, retrieved_on=date.fromisoformat(day) if day else None)


# Running ------------------------------------------------------------------------------------


def ingest_here(
    uploads: Sequence[Upload], *, slug: str, author: User | None, missing: Iterable[str],
    progress: Progress,
) -> Job:  # fmt: skip
    """Loads in this process, into the project `slug`, which is made if it is not there.

    Raises NothingLoadedError; then nothing was written, not even the project.
    """
    with ExitStack() as stack:
        files = list(incoming(uploads, Details(), stack))
        # Up to the first document that can be read, which gives project and job their reason.
        with transaction.atomic():
            job = _start_here(slug, files=len(uploads), author=author)
            rows = _rows(job, files, progress=progress)
            first = list(_until_loaded(rows))
            if all(row["outcome"] == FAILED for row in first):
                raise NothingLoadedError({**_report(first), "missing": list(missing)})
        report = _report([*first, *rows])
    finish_job(job, report={**report, "missing": list(missing)})
    job.refresh_from_db()
    return job


def _start_here(slug: str, *, files: int, author: User | None) -> Job:
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        project = create_project(Project(slug=slug, name=slug), created_by=author)
    return start_job_here(project, kind=KIND, parameters={"files": files}, created_by=author)


def _until_loaded(rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        yield row
        if row["outcome"] != FAILED:
            return


def run_ingest(job: Job) -> None:
    """Loads what the parameters of a running job name. Raises IndexRefusedError."""
    details = _from_json(job.parameters["details"])
    with ExitStack() as stack:
        files = (
            fetched(job.parameters["urls"], details)
            if "urls" in job.parameters
            else list(incoming(map(_kept, job.parameters["files"]), details, stack))
        )
        report = _report(list(_rows(job, files, progress=_say_nothing)))
    missing = job.parameters.get("missing", [])
    with transaction.atomic():
        finish_job(job, report={**report, "missing": missing})
        look_for_near_duplicates(job.project, now=timezone.now())


def _say_nothing(step: str, done: int, total: int) -> None:
    """The job's own progress is enough."""


def _kept(entry: dict[str, Any]) -> Upload:
    path = Path(default_storage.path(entry["kept_as"]))
    return Upload(entry["name"], path, _from_json(entry["details"]))


def _rows(job: Job, files: Sequence[Incoming], *, progress: Progress) -> Iterator[Row]:
    """Loads one file after the other, and says what became of each."""
    seen: dict[str, str] = {}
    for number, file in enumerate(files):
        report_progress(job, step="loading", done=number, total=len(files))
        progress("loading", number, len(files))
        yield _row(file, job, seen)


def _report(rows: Sequence[Row]) -> dict[str, Any]:
    counts = Counter(row["outcome"].replace(" ", "_") for row in rows)
    # What failed comes first: a person must do something about it.
    in_order = sorted(rows, key=lambda row: row["outcome"] != FAILED)
    return {"files": in_order, "counts": dict(counts), "snippets": _new_snippets(rows)}


def _row(file: Incoming, job: Job, seen: dict[str, str]) -> Row:
    """What became of one file. `seen` maps source URLs to the files that had them before."""
    try:
        loaded = _ingest(file, job, seen)
    except DocumentRefusedError as error:
        return {"name": file.name, "outcome": FAILED, "reason": str(error)}
    return {
        "name": file.name, "outcome": str(loaded.outcome), "snippets": loaded.snippets,
        "document": loaded.document.pk, "version": loaded.document.version,
    }  # fmt: skip


def _ingest(file: Incoming, job: Job, seen: dict[str, str]) -> Ingested:
    url = file.details.source_url
    if url in seen:
        raise DocumentRefusedError(f"It has the same source URL as {seen[url]}: {url}")
    data, text_format = file.read()
    seen[url] = file.name
    return ingest_document(
        job.project, data=data, text_format=text_format, details=file.details,
        author=job.created_by, job=job,
    )  # fmt: skip


def _new_snippets(rows: Iterable[Row]) -> int:
    return sum(row["snippets"] for row in rows if row["outcome"] in {"created", "new version"})


# Afterwards ---------------------------------------------------------------------------------


def forget_uploads(job_id: int) -> None:
    """Deletes the files of a job that has ended, however it did; a running one keeps them.

    Also those of earlier jobs whose end no worker has seen: cancelled or given up.
    """
    unseen = Q(state__in=[Job.State.CANCELLED, Job.State.FAILED])
    done = Q(pk=job_id, state=Job.State.DONE)
    ended = Job.objects.filter(done | unseen, task=TASK)
    for parameters in ended.values_list("parameters", flat=True):
        for entry in parameters.get("files", []):
            default_storage.delete(entry["kept_as"])
