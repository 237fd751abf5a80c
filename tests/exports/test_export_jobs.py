"""Exports as jobs: in shards, by several workers; killed, stopped, and tried again."""

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from apps.exports.formats.rows import Options
from apps.exports.models import ExportShard
from apps.exports.services import export_jobs, keeping, shards, snapshot
from apps.exports.services.exporting import Wanted, queue_export
from apps.exports.tasks import export, write_shard
from apps.projects.models import Job, Project, Role, Split
from apps.projects.services.jobs import cancel_job, retry_job
from apps.scenarios.models import Utterance
from sharc_studio.celery import app
from tests.exports.s3_server import running_s3
from tests.exports.test_export import CARD, buses, command  # noqa: F401 - a fixture
from tests.factories import make_member

pytestmark = pytest.mark.django_db

WANTED = Wanted(["csv", "conversational-json", "unitxt"], [Split.DEV], Options(shards=3))
SHARDS = ["cards", "csv", "unitxt", *["conversational-json"] * 3]


@pytest.fixture
def project(buses: Project) -> Project:  # noqa: F811
    return buses


@pytest.fixture
def sent(monkeypatch) -> list[tuple[str, list[int]]]:
    messages: list[tuple[str, list[int]]] = []
    monkeypatch.setattr(app, "send_task", lambda name, args: messages.append((name, args)))
    return messages


def queue(project: Project, wanted: Wanted = WANTED) -> Job:
    return queue_export(project, wanted, author=make_member(project, Role.ADMIN))


def keys_of(job: Job) -> list[int]:
    return [shard.pk for shard in ExportShard.objects.of(job)]


def folder_of(job: Job) -> Path:
    return Path(django_settings.MEDIA_ROOT) / "exports" / str(job.pk)


def ended(job: Job) -> Job:
    """What the job says in the end, once it is done."""
    job.refresh_from_db()
    assert (job.state, job.error) == (Job.State.DONE, "")
    assert sorted(path.name for path in folder_of(job).iterdir()) == ["buses.zip", "files"]
    archive = (folder_of(job) / "buses.zip").read_bytes()
    assert hashlib.sha256(archive).hexdigest() == job.report["sha256"]
    return job


@pytest.fixture
def alone(project) -> str:
    """The SHA-256 of the export that one worker makes without trouble."""
    job = queue(project)
    export(job.pk)
    return str(ended(job).report["sha256"])


def test_an_export_is_cut_into_shards_and_each_is_a_task(
    project, sent, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        job = queue(project)
    with django_capture_on_commit_callbacks(execute=True):
        export(job.pk)
    rows = list(ExportShard.objects.of(job))
    assert sorted(row.format for row in rows) == sorted(SHARDS)
    assert {row.state for row in rows} == {ExportShard.State.DONE}
    assert sent == [
        ("exports.export", [job.pk]),
        *(("exports.write_shard", [row.pk]) for row in rows[1:]),
    ]
    files = {one["path"]: one for one in ended(job).report["files"]}
    assert "csv/utterances_dev.csv" in files
    assert len(files) == 1 + 1 + 3 + 4 + 3 * len(CARD)
    for path, one in files.items():
        data = (folder_of(job) / "files" / path).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (one["bytes"], one["sha256"])


def test_the_folder_that_is_kept_is_valid(project):
    job = queue(project)
    export(job.pk)
    said, _ = command("check_export", folder_of(job) / "files")
    assert said.count(": valid\n") == 3


class Killed(BaseException):
    """What no code catches: the process is gone."""


def die(*args: Any, **kwargs: Any) -> None:
    raise Killed


def dying_after(call: Callable[..., Any], times: int) -> Callable[..., Any]:
    count = 0

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        nonlocal count
        count += 1
        if count > times:
            raise Killed
        return call(*args, **kwargs)

    return wrapped


def silence(job: Job) -> None:
    """As when nothing has been heard of its workers for a day, and it is queued again."""
    long_ago = timezone.now() - timedelta(days=1)
    ExportShard.objects.of(job).filter(state="running").update(heartbeat_at=long_ago)
    Job.objects.filter(pk=job.pk).update(state=Job.State.QUEUED)


DEATHS = {
    "before anything": ("plan_export", 0),
    "while reading the project": ("take_snapshot", 0),
    "before the first shard": ("write", 0),
    "among the shards": ("write", 3),
    "before the manifest": ("write_manifest", 0),
    "while packing": ("zip_folder", 0),
    "before the report": ("sha256_of", 0),
    "before the end": ("finish_job", 0),
}


@pytest.mark.parametrize("when", DEATHS)
def test_killed_at_any_point_it_goes_on_and_never_offers_half_of_it(
    project, alone, when, monkeypatch
):
    name, times = DEATHS[when]
    job = queue(project)
    with monkeypatch.context() as patch:
        patch.setattr(export_jobs, name, dying_after(getattr(export_jobs, name), times))
        with pytest.raises(Killed):
            export(job.pk)
    job.refresh_from_db()
    assert (job.state, job.result) == (Job.State.RUNNING, "")
    silence(job)
    if shards.snapshot_of(job).exists():
        Utterance.objects.all().delete()  # what the project is now does not matter any more
    export(job.pk)
    assert ended(job).report["sha256"] == alone


def test_half_of_a_file_that_a_killed_worker_left_is_written_anew(project, alone):
    job = queue(project)
    work = shards.work_folder(job.pk)
    for name in ("snapshot.sqlite3.partial", "ready.zip.partial", "report.json.partial"):
        work.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("half")
    export(job.pk)
    assert ended(job).report["sha256"] == alone


@pytest.mark.django_db(transaction=True)
def test_however_many_workers_write_the_bytes_are_the_same(project, alone, sent, monkeypatch):
    job = queue(project)
    told = threading.Event()
    call = shards.call_for_help

    def call_and_tell(job: Job) -> None:
        call(job)
        told.set()

    monkeypatch.setattr(export_jobs, "call_for_help", call_and_tell)

    def help_out() -> None:
        told.wait(30)
        try:
            for key in list(
                ExportShard.objects.of(job).order_by("-number").values_list("pk", flat=True)
            ):
                write_shard(key)
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool:
        helpers = [pool.submit(help_out) for _ in range(2)]
        export(job.pk)
        for helper in helpers:
            helper.result()
    assert ended(job).report["sha256"] == alone
    assert {shard.attempt for shard in ExportShard.objects.of(job)} == {1}  # each was written once


@pytest.mark.django_db(transaction=True)
def test_what_is_written_meanwhile_is_in_no_shard(project, alone, monkeypatch):
    """Also on SQLite somebody can write while the project is read, and is not waited for."""
    keep_trees = snapshot._keep_trees

    def change_then_go_on(*args: Any) -> None:
        def change() -> None:
            try:
                Utterance.objects.update(question="What is it now?")
                project.trees.update(created_at=timezone.now())
            finally:
                connection.close()

        with ThreadPoolExecutor(1) as pool:
            pool.submit(change).result(timeout=20)
        keep_trees(*args)

    monkeypatch.setattr(snapshot, "_keep_trees", change_then_go_on)
    job = queue(project)
    export(job.pk)
    assert ended(job).report["sha256"] == alone
    assert Utterance.objects.filter(question="What is it now?").count() == 9


def test_a_shard_whose_worker_died_is_taken_over_and_one_that_lives_is_not(project):
    job = queue(project)
    shard = ExportShard.objects.create(job=job, number=0, format="csv", split="dev", first=0, end=0,
                                       size=9)  # fmt: skip
    taken = shards.take_next(job)
    assert taken is not None
    assert shards.take_next(job) is None
    long_ago = timezone.now() - timedelta(days=1)
    ExportShard.objects.filter(pk=shard.pk).update(heartbeat_at=long_ago)
    again = shards.take_next(job)
    assert again is not None
    assert (taken.attempt, again.attempt) == (1, 2)


def test_a_helper_that_fails_leaves_the_shard_to_the_one_who_runs_the_export(
    project, alone, monkeypatch
):
    job = queue(project)
    run = shards.call_for_help

    def help_badly(job: Job) -> None:
        with monkeypatch.context() as patch:
            patch.setattr("apps.exports.services.shards.list_files", lambda folder: 1 / 0)
            for key in keys_of(job):
                write_shard(key)
        run(job)

    monkeypatch.setattr(export_jobs, "call_for_help", help_badly)
    export(job.pk)
    assert ended(job).report["sha256"] == alone
    assert {shard.attempt for shard in ExportShard.objects.of(job)} == {2}


def test_case_28_a_failure_leaves_the_reason_and_a_retry_ends_well(project, alone, monkeypatch):
    job = queue(project)
    with monkeypatch.context() as patch:
        patch.setattr(export_jobs, "zip_folder", lambda *args: 1 / 0)
        export(job.pk)
    job.refresh_from_db()
    assert (job.state, job.result) == (Job.State.FAILED, "")
    assert "Something went wrong inside the studio" in job.error
    assert shards.work_folder(job.pk).exists()  # kept for a retry
    attempts = [shard.attempt for shard in ExportShard.objects.of(job)]
    assert job.created_by is not None
    assert retry_job(job, actor=job.created_by)
    export(job.pk)
    assert ended(job).report["sha256"] == alone
    assert [shard.attempt for shard in ExportShard.objects.of(job)] == attempts
    assert not retry_job(job, actor=job.created_by)


def test_a_stopped_export_leaves_nothing_and_a_retry_starts_anew(project, alone, monkeypatch):
    job = queue(project)
    admin = job.created_by
    assert admin is not None

    def stop(job: Job) -> None:
        assert cancel_job(job, actor=admin)

    with monkeypatch.context() as patch:
        patch.setattr(export_jobs, "call_for_help", stop)
        export(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.CANCELLED
    assert not folder_of(job).exists()
    for key in keys_of(job):
        write_shard(key)  # a message that comes late finds nothing to do
    assert not folder_of(job).exists()
    assert retry_job(job, actor=admin)
    export(job.pk)
    assert ended(job).report["sha256"] == alone


def test_clean_up_takes_what_nobody_needs_and_nothing_else(project, alone):
    jobs = {state: queue(project) for state in ("failed", "old", "cancelled", "running")}
    now = timezone.now()
    for state, job in jobs.items():
        shards.work_folder(job.pk).mkdir(parents=True)
        finished = now - timedelta(days=2) if state == "old" else now
        Job.objects.filter(pk=job.pk).update(
            state="failed" if state == "old" else state, heartbeat_at=now, error="It failed.",
            finished_at=finished,
        )  # fmt: skip
    (folder_of(Job(pk=987654)) / "work").mkdir(parents=True)
    done = Job.objects.get(state="done", kind="export")
    shards.work_folder(done.pk).mkdir()
    keeping.clean_up()
    here = {state for state, job in jobs.items() if shards.work_folder(job.pk).exists()}
    assert here == {"failed", "running"}
    assert not folder_of(Job(pk=987654)).exists()
    ended(done)


def test_uploads_that_no_import_waits_for_are_cleaned_up(project, settings):
    waiting = Job.objects.create(
        project=project, kind="ShARC import", task="exports.import_sharc",
        parameters={"files": {"utterances": [["a.json", "uploads/import_a"]]}},
    )  # fmt: skip
    uploads = Path(settings.MEDIA_ROOT) / "uploads"
    uploads.mkdir(parents=True)
    for name, hours in {"import_a": 9, "import_b": 9, "import_c": 0, "documents_d": 9}.items():
        (uploads / name).write_text("x")
        then = time.time() - 3600 * hours
        os.utime(uploads / name, (then, then))
    keeping.clean_up()
    assert sorted(path.name for path in uploads.iterdir()) == [
        "documents_d", "import_a", "import_c",
    ]  # fmt: skip
    Job.objects.filter(pk=waiting.pk).update(state="cancelled", finished_at=timezone.now())
    keeping.clean_up()
    assert sorted(path.name for path in uploads.iterdir()) == ["documents_d", "import_c"]


def test_an_export_is_kept_in_a_bucket(project, alone, settings, monkeypatch, client):
    settings.EXPORT_BUCKET = "studio"
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "made-up")
    job = queue(project)
    with running_s3() as bucket:
        settings.AWS_ENDPOINT_URL = bucket.address
        bucket.is_full = True
        export(job.pk)
        job.refresh_from_db()
        assert job.error.startswith("The bucket studio did not take the export: ")
        bucket.is_full = False
        assert job.created_by is not None
        assert retry_job(job, actor=job.created_by)
        export(job.pk)
        job.refresh_from_db()
        assert (job.state, job.report["kept_in"]) == (Job.State.DONE, "s3")
        archive = bucket.objects[f"exports/{job.pk}/buses.zip"]
        assert hashlib.sha256(archive).hexdigest() == alone
        manifest = json.loads(bucket.objects[f"exports/{job.pk}/files/MANIFEST.json"])
        assert {one["format"] for one in manifest["exports"]} == {*WANTED.formats}
        assert not folder_of(job).exists()
        assert "X-Amz-Signature=" in keeping.link_to(job, "csv/utterances_dev.csv")


def test_the_database_keeps_one_row_for_a_shard(project):
    job = queue(project)
    fields: dict[str, Any] = {"job": job, "number": 1, "format": "csv", "first": 0, "end": 0,
                              "size": 1}  # fmt: skip
    ExportShard.objects.create(**fields)
    with pytest.raises(IntegrityError, match=r"export_shard_once|number"), transaction.atomic():
        ExportShard.objects.create(**fields)
    fields["number"] = 2
    with pytest.raises(IntegrityError, match="export_shard_running_beats"), transaction.atomic():
        ExportShard.objects.create(**fields, state="running")
