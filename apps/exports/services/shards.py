"""The pieces of an export as work for several workers: each is written once, by whoever is free.

A shard's files appear under its number when they are whole. Which worker writes it does not matter,
nor whether two do: they make the same bytes, and the second one's are thrown away.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import structlog
from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from apps.exports.formats import huggingface
from apps.exports.formats.manifest import list_files
from apps.exports.formats.pieces import Piece, pieces
from apps.exports.models import ExportShard
from apps.exports.services.cards import add_card
from apps.exports.services.exporting import Wanted
from apps.exports.services.snapshot import Snapshot, open_snapshot
from apps.projects.errors import JobCancelledError
from apps.projects.models import Job
from apps.projects.services.jobs import MAX_ATTEMPTS

log = structlog.get_logger(__name__)

TASK = "exports.write_shard"
MOST_CALLED = 8
"""Messages that wait at a time: so many workers come to help, if there are as many."""
CARDS = "cards"
"""The shard of all formats' cards: what they say is counted once."""
BEAT_SECONDS = 1.0

WAITING = ExportShard.State.WAITING
RUNNING = ExportShard.State.RUNNING
DONE = ExportShard.State.DONE


def work_folder(job_id: int) -> Path:
    """Where an export is made: on the disk that all workers share. It goes when the job ends."""
    return Path(settings.MEDIA_ROOT) / "exports" / str(job_id) / "work"


def snapshot_of(job: Job) -> Path:
    return work_folder(job.pk) / "snapshot.sqlite3"


def cut(job: Job, source: Snapshot, wanted: Wanted) -> None:
    """Makes the shards of an export, unless they are there."""
    found = pieces(wanted.formats, source, wanted.options)
    if set(wanted.formats) != {huggingface.NAME}:  # which has its own card
        found.insert(0, Piece(CARDS))
    rows = [
        ExportShard(
            job=job, number=number, format=piece.format, split=piece.split, first=piece.first,
            end=piece.end, size=piece.size(source, wanted.options),
        )
        for number, piece in enumerate(found)
    ]  # fmt: skip
    ExportShard.objects.bulk_create(rows, ignore_conflicts=True)


def call_for_help(job: Job, *, workers: int = MOST_CALLED) -> None:
    """A task for each of the next shards; one that is written calls for the next one.

    A message only wakes a worker, and who comes too late finds nothing to do. So few of them are
    under way at a time, and none that are needless keep the next job waiting.
    """
    waiting = ExportShard.objects.of(job).filter(state=WAITING).order_by("number")
    for key in waiting.values_list("pk", flat=True)[1 : 1 + workers]:  # one is begun at once
        transaction.on_commit(partial(current_app.send_task, TASK, [key]))


def take_next(job: Job) -> ExportShard | None:
    """A shard that nobody writes, or whose worker has not been heard of, is now the caller's."""
    return _take(ExportShard.objects.of(job).filter(_is_free()).order_by("number"))


def take(shard_id: int) -> ExportShard | None:
    """This shard, or else another one of its export, if that still runs."""
    running = ExportShard.objects.filter(job__state=Job.State.RUNNING, state=WAITING)
    asked = ExportShard.objects.filter(pk=shard_id).values("job")
    return _take(running.filter(pk=shard_id)) or _take(running.filter(job__in=asked))


def _is_free() -> Q:
    lost_since = timezone.now() - timedelta(seconds=settings.JOB_LOST_AFTER_SECONDS)
    return Q(state=WAITING) | Q(state=RUNNING, heartbeat_at__lt=lost_since)


def _take(shards: QuerySet[ExportShard]) -> ExportShard | None:
    for shard in shards.select_related("job"):
        mine = ExportShard.objects.filter(pk=shard.pk, attempt=shard.attempt).exclude(state=DONE)
        now = timezone.now()
        if mine.update(state=RUNNING, attempt=F("attempt") + 1, heartbeat_at=now, done=0):
            shard.attempt += 1
            return shard
    return None


def write(shard: ExportShard, beat: Callable[[], None]) -> None:
    """Writes a shard that was taken. `beat` is called each second, and may raise an error."""
    wanted = Wanted.of_job(shard.job)
    counted = _Counted(shard, beat)
    with (
        _folder_aside(shard) as aside,
        open_snapshot(snapshot_of(shard.job), counted.add) as source,
    ):
        _write_files(shard, source, aside, wanted)
        files = list_files(aside)
        _put_in_place(aside, folder_of(shard))
    if not _mine(shard).update(state=DONE, done=F("size"), files=files):
        raise JobCancelledError(f"Shard {shard.pk} is written by another worker now.")


def _write_files(shard: ExportShard, source: Snapshot, folder: Path, wanted: Wanted) -> None:
    """Into a folder for each format."""
    for name in wanted.formats if shard.format == CARDS else [shard.format]:
        inside = folder / name
        inside.mkdir()
        if shard.format == CARDS:
            add_card(name, source, inside, wanted.options)
        else:
            shard.piece.write(source, inside, wanted.options)


def help_with(shard_id: int) -> None:
    """What a worker does that was called: a fault is left to the one who runs the export."""
    asked = ExportShard.objects.select_related("job").filter(pk=shard_id).first()
    if asked is None or not snapshot_of(asked.job).exists():
        return  # it is over, or its files lie where this machine cannot see them
    shard = take(shard_id)
    if shard is None:
        return
    try:
        write(shard, partial(_refuse_if_ended, shard))
        call_for_help(shard.job, workers=1)
    except JobCancelledError:
        log.info("shard_stopped", shard=shard_id)
    except Exception:
        log.exception("shard_failed", shard=shard_id)
        give_back(shard)


def give_back(shard: ExportShard) -> None:
    """Somebody else may try; after MAX_ATTEMPTS it is left running, and fails with its job."""
    _mine(shard).filter(attempt__lt=MAX_ATTEMPTS).update(state=WAITING)


def folder_of(shard: ExportShard) -> Path:
    return work_folder(shard.job_id) / "shards" / f"{shard.number:05d}"


def _refuse_if_ended(shard: ExportShard) -> None:
    if not Job.objects.filter(pk=shard.job_id, state=Job.State.RUNNING).exists():
        raise JobCancelledError(f"Job {shard.job_id} was stopped.")


def _mine(shard: ExportShard) -> QuerySet[ExportShard]:
    return ExportShard.objects.filter(pk=shard.pk, state=RUNNING, attempt=shard.attempt)


class _Counted:
    """Utterances that went by; each second it is said how many."""

    def __init__(self, shard: ExportShard, beat: Callable[[], None]) -> None:
        self._shard, self._beat, self._done, self._said = shard, beat, 0, time.monotonic()

    def add(self, number: int) -> None:
        self._done += number
        if time.monotonic() - self._said >= BEAT_SECONDS:
            self._said = time.monotonic()
            done = min(self._done, self._shard.size)
            if not _mine(self._shard).update(done=done, heartbeat_at=timezone.now()):
                raise JobCancelledError(f"Shard {self._shard.pk} is written by another worker now.")
            self._beat()


@contextmanager
def _folder_aside(shard: ExportShard) -> Iterator[Path]:
    folder = folder_of(shard).parent
    folder.mkdir(parents=True, exist_ok=True)
    aside = Path(mkdtemp(prefix=f".{shard.number:05d}-", dir=folder))
    try:
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _put_in_place(aside: Path, place: Path) -> None:
    try:
        aside.rename(place)
    except OSError:
        if not place.is_dir():
            raise
