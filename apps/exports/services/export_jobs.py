"""An export as a job: one worker runs it, and calls the others for its shards.

Each step leaves something whole behind, so that whoever takes the job up after a worker was killed
goes on from there: the plan, the snapshot, the shards, the zip file, the report. What is half-
written has another name, and is written anew. Nothing can be downloaded before all of it is kept.
"""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

from django.db.models import Sum
from django.utils import timezone

from apps.exports.domain.remaining import Course, in_words
from apps.exports.formats.manifest import MANIFEST, list_files, sha256_of
from apps.exports.models import ExportShard
from apps.exports.services.exporting import Wanted, plan_export
from apps.exports.services.packing import write_manifest, zip_folder
from apps.exports.services.shards import (
    BEAT_SECONDS,
    call_for_help,
    cut,
    folder_of,
    snapshot_of,
    take_next,
    work_folder,
    write,
)
from apps.exports.services.snapshot import open_snapshot, take_snapshot
from apps.exports.storage import storage
from apps.projects.models import Job, Split
from apps.projects.services.jobs import finish_job, report_progress

PLAN, READY, ARCHIVE, REPORT = "plan.json", "ready", "ready.zip", "report.json"
READING, WRITING, PACKING, KEEPING = (
    "reading the project", "writing the files", "packing", "keeping the result",
)  # fmt: skip


def run_export(job: Job) -> None:
    """Exports as the running job asks; its result is a folder and a zip file in the storage."""
    wanted = Wanted.of_job(job)
    work = work_folder(job.pk)
    work.mkdir(parents=True, exist_ok=True)
    plan = _plan(job, wanted)
    told = _Told(job, wanted, plan["total"])
    if not (work / REPORT).exists():
        _freeze(job, wanted, plan, told)
        _write_shards(job, told)
        _pack(job, wanted, plan, told)
    report = json.loads((work / REPORT).read_text("utf-8"))
    told.begin(KEEPING, report["size"] + sum(one["bytes"] for one in report["files"]))
    kept_in = storage()
    kept_in.keep_export(work / READY, work / ARCHIVE, name_of(job), told.add)
    finish_job(job, report={**report, "kept_in": kept_in.KIND}, result=name_of(job))


def name_of(job: Job) -> str:
    """Of the zip file in the storage; the folder stands beside it."""
    return f"exports/{job.pk}/{job.project.slug}.zip"


def _plan(job: Job, wanted: Wanted) -> dict[str, Any]:
    """What is exported, settled when the job was first taken up."""
    kept = work_folder(job.pk) / PLAN
    if not kept.exists():
        _forget_shards(job)
        plan = plan_export(job.project, wanted)
        values = {"splits": plan.splits, "total": plan.total, "warnings": plan.warnings,
                  "release": plan.release}  # fmt: skip
        _write_json(kept, {**values, "taken_at": timezone.now().isoformat()})
    found: dict[str, Any] = json.loads(kept.read_text("utf-8"))
    return found


def _forget_shards(job: Job) -> None:
    """Those of an attempt whose work was thrown away."""
    ExportShard.objects.of(job).delete()
    shutil.rmtree(work_folder(job.pk) / "shards", ignore_errors=True)


def _freeze(job: Job, wanted: Wanted, plan: dict[str, Any], told: _Told) -> None:
    """Reads the project as it is now, once; and cuts the export into shards."""
    told.begin(READING, plan["total"])
    if not snapshot_of(job).exists():
        splits = [Split(split) for split in plan["splits"]]
        take_snapshot(
            job.project, splits, snapshot_of(job), told.add,
            allow_unverified=wanted.allow_unverified,
        )  # fmt: skip
    with open_snapshot(snapshot_of(job), _unheard) as source:
        cut(job, source, wanted)


def _write_shards(job: Job, told: _Told) -> None:
    """With whoever comes to help; a shard whose worker died is taken over."""
    call_for_help(job)
    shards = ExportShard.objects.of(job)
    told.begin(WRITING, shards.aggregate(total=Sum("size"))["total"])

    def beat() -> None:
        told.stand_at(shards.aggregate(done=Sum("done"))["done"])

    while shards.unfinished().exists():
        if shard := take_next(job):
            write(shard, beat)
        else:
            time.sleep(BEAT_SECONDS / 2)
        beat()


def _pack(job: Job, wanted: Wanted, plan: dict[str, Any], told: _Told) -> None:
    """Puts the shards' files into one folder, with a manifest and a zip file beside it."""
    work = work_folder(job.pk)
    listed = _gather(job, work / READY)
    with open_snapshot(snapshot_of(job), _unheard) as source:
        formats = {name: (name, listed[name]) for name in wanted.formats}
        exported = write_manifest(
            source, wanted.parameters, wanted.options, formats, plan["release"], work / READY
        )
    files = [one for found in listed.values() for one in found]
    files += list_files(work / READY, MANIFEST)
    told.begin(PACKING, sum(one["bytes"] for one in files))
    zip_folder(work / READY, work / ARCHIVE, told.add)
    _write_json(work / REPORT, {
        "exported": exported, "warnings": plan["warnings"], "taken_at": plan["taken_at"],
        "size": (work / ARCHIVE).stat().st_size, "sha256": sha256_of(work / ARCHIVE),
        "files": sorted(files, key=lambda one: str(one["path"])),
    })  # fmt: skip


def _write_json(path: Path, value: Any) -> None:
    """Appears when it is whole."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(json.dumps(value), encoding="utf-8")
    partial.replace(path)


def _gather(job: Job, ready: Path) -> dict[str, list[dict[str, Any]]]:
    """Each format's files; those that a killed attempt has moved are where they belong."""
    listed: dict[str, list[dict[str, Any]]] = {}
    for shard in ExportShard.objects.of(job).select_related("job"):
        for one in shard.files:
            listed.setdefault(one["path"].partition("/")[0], []).append(one)
            here, there = folder_of(shard) / one["path"], ready / one["path"]
            if here.exists():
                there.parent.mkdir(parents=True, exist_ok=True)
                here.replace(there)
    return listed


def _unheard(number: int) -> None:
    """Nobody asks how far this is."""


class _Told:
    """Says each second how far the whole is, and how long it will still take."""

    def __init__(self, job: Job, wanted: Wanted, total: int) -> None:
        self._job, self._said = job, 0.0
        written = total * len(wanted.formats)
        shares = {READING: total, WRITING: written, PACKING: written * 0.3, KEEPING: written * 0.1}
        self._course = Course(shares, begun_seconds=time.monotonic())
        self._step, self._size, self._done = READING, 1, 0

    def begin(self, step: str, size: int) -> None:
        self._step, self._size, self._done, self._said = step, max(size, 1), 0, 0.0
        self.add(0)

    def add(self, number: int) -> None:
        self.stand_at(self._done + number)

    def stand_at(self, done: int) -> None:
        self._done = done
        now = time.monotonic()
        if now - self._said >= BEAT_SECONDS:
            self._said = now
            whole = self._course.done(self._step, done / self._size)
            left = in_words(self._course.seconds_left(whole, now))
            step = f"{self._step}: {left}" if left else self._step
            report_progress(self._job, step=step, done=round(whole), total=self._course.total)
