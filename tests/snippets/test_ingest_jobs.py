"""Loading in the background: the report, the uploads, a killed worker."""

import time
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Count
from django.utils import timezone

from apps.projects.models import Job, Project
from apps.projects.services import jobs
from apps.snippets.domain.extraction import Format
from apps.snippets.errors import DocumentRefusedError, IndexRefusedError
from apps.snippets.models import Document
from apps.snippets.services import ingest_fetch
from apps.snippets.services.ingest import Details
from apps.snippets.services.ingest_jobs import queue_fetch, queue_uploads, run_ingest
from apps.snippets.tasks import ingest_documents
from sharc_studio.celery import app
from tests.celery_worker import empty_queue, running_worker, start_worker
from tests.factories import make_project, make_user
from tests.snippets.archives import zip_bytes

pytestmark = pytest.mark.django_db

TEXT = b"You can apply if you live here.\n"


@pytest.fixture
def project():
    return make_project("bikes")


@pytest.fixture
def nothing_is_sent(monkeypatch):
    monkeypatch.setattr(app, "send_task", lambda name, args: None)


def upload(name: str, data: bytes = TEXT) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def queue(project: Project, *files: SimpleUploadedFile, index: bytes = b"", **details: Any) -> Job:
    return queue_uploads(
        project, files=files, index=upload("list.json", index) if index else None,
        details=Details(**details), author=make_user(),
    )  # fmt: skip


def run(job: Job) -> Job:
    jobs.run_job(job.pk, run_ingest)
    job.refresh_from_db()
    return job


def test_the_report_names_every_file_those_that_failed_first(project, nothing_is_sent):
    index = b'[{"file": "a.txt", "source_url": "https://office.example/a"}, {"file": "gone.txt"}]'
    job = queue(
        project, upload("a.txt"), upload("b.txt", b""), upload("c.zip", zip_bytes({"d.md": TEXT})),
        index=index, licence="OGL", retrieved_on=date(2024, 5, 31),
    )  # fmt: skip
    run(job)

    first, second = Document.objects.order_by("pk")
    assert (job.state, job.report) == (
        "done",
        {
            "files": [
                {"name": "b.txt", "outcome": "failed", "reason": "There is no text in its body."},
                {"name": "a.txt", "outcome": "created", "snippets": 1, "document": first.pk,
                 "version": 1},
                {"name": "c.zip/d.md", "outcome": "created", "snippets": 1, "document": second.pk,
                 "version": 1},
            ],
            "counts": {"created": 2, "failed": 1},
            "snippets": 2,
            "missing": ["gone.txt"],
        },
    )  # fmt: skip
    assert [first.source_url, first.licence, first.retrieved_on, first.created_by] == [
        "https://office.example/a", "OGL", date(2024, 5, 31), job.created_by,
    ]  # fmt: skip


def are_kept(job: Job) -> list[bool]:
    return [default_storage.exists(entry["kept_as"]) for entry in job.parameters["files"]]


def test_uploads_are_kept_until_their_job_is_done(project, nothing_is_sent):
    job = queue(project, upload("a.txt"), upload("b.txt", b""))
    assert are_kept(job) == [True, True]
    ingest_documents(job.pk)
    assert are_kept(job) == [False, False]


def test_uploads_of_a_job_that_failed_are_deleted(project, nothing_is_sent):
    job = queue(project, upload("a.txt"))
    Job.objects.filter(pk=job.pk).update(parameters={**job.parameters, "details": None})
    ingest_documents(job.pk)
    job.refresh_from_db()
    assert (job.state, are_kept(job)) == ("failed", [False])


def test_uploads_of_a_job_that_was_cancelled_before_it_began_are_deleted(project, nothing_is_sent):
    job = queue(project, upload("a.txt"))
    jobs.cancel_job(job, actor=make_user())
    ingest_documents(job.pk)
    assert (are_kept(job), Document.objects.count()) == ([False], 0)


def test_uploads_of_a_job_that_was_given_up_go_with_the_next_and_of_others_none(
    project, nothing_is_sent
):
    given_up, running, queued = (queue(project, upload("a.txt")) for _ in range(3))
    long_ago = timezone.now() - timedelta(days=1)
    dead = Job.objects.filter(pk=given_up.pk)
    dead.update(state="running", attempt=jobs.MAX_ATTEMPTS, heartbeat_at=long_ago)
    jobs.requeue_lost_jobs()
    Job.objects.filter(pk=running.pk).update(state="running", heartbeat_at=timezone.now())
    ingest_documents(running.pk)  # a message that came twice
    ingest_documents(queue(project, upload("b.txt")).pk)
    assert [are_kept(job) for job in (given_up, running, queued)] == [[False], [True], [True]]


def test_a_single_file_has_the_source_that_the_form_says(project, nothing_is_sent):
    run(queue(project, upload("a.txt"), source_url="https://office.example/a", title="A"))
    assert str(Document.objects.get(source_url="https://office.example/a")) == "A"


def test_what_is_new_is_then_compared_with_what_is_here(project, nothing_is_sent):
    run(queue(project, upload("a.txt")))
    assert project.jobs.filter(kind="near-duplicates", state="queued").count() == 1


def test_a_wrong_list_queues_nothing(project, nothing_is_sent):
    with pytest.raises(IndexRefusedError, match=r"^list.json: line 1 is not JSON"):
        queue(project, upload("a.txt"), index=b"{")
    assert Job.objects.count() == 0


def test_a_job_that_was_stopped_loads_no_further(project, nothing_is_sent, monkeypatch):
    job = queue(project, upload("a.txt"), upload("b.txt"))
    report = jobs.report_progress

    def stop_at_the_second(job: Job, *, step: str, done: int, total: int) -> None:
        if done == 1:
            jobs.cancel_job(job, actor=make_user())
        report(job, step=step, done=done, total=total)

    monkeypatch.setattr("apps.snippets.services.ingest_jobs.report_progress", stop_at_the_second)
    assert run(job).state == "cancelled"
    assert Document.objects.count() == 1


def test_pages_are_fetched_by_a_job(project, nothing_is_sent, monkeypatch):
    def fetch(url: str) -> tuple[bytes, Format]:
        if url.endswith("bad"):
            raise DocumentRefusedError("a.example answered 404.")
        return b"<p>You can.</p>", Format.HTML

    monkeypatch.setattr(ingest_fetch, "fetch", fetch)
    urls = ["https://a.example/good", "https://a.example/bad"]
    job = run(queue_fetch(project, urls=urls, details=Details(), author=make_user()))
    assert job.report["counts"] == {"created": 1, "failed": 1}
    assert job.report["files"][0]["reason"] == "a.example answered 404."
    assert Document.objects.get().source_url == urls[0]


def wait_for(is_so: Callable[[], bool], *, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def page(number: int) -> bytes:
    """Some 60 KB, so that a worker can be killed between two of them."""
    rules = "".join(
        f"<h2>Rule {number}.{n}</h2><p>You can apply for part {n} if:</p>"
        "<ul><li>you are over 18</li><li>you live in the district</li></ul>"
        for n in range(400)
    )
    return f"<html><title>Page {number}</title><body><main>{rules}</main></body></html>".encode()


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_killed_in_the_middle_loses_nothing_and_repeats_nothing(tmp_path):
    project = make_project()
    count = 10
    empty_queue()
    worker = start_worker(tmp_path / "first.log", VAR_DIR=str(tmp_path))
    try:
        job = queue(project, *(upload(f"{number}.html", page(number)) for number in range(count)))
        wait_for(lambda: Document.objects.count() >= 3)
    finally:
        worker.kill()
        worker.wait()
    loaded_first = Document.objects.count()
    assert 3 <= loaded_first < count

    long_ago = timezone.now() - timedelta(days=1)
    Job.objects.filter(pk=job.pk).update(heartbeat_at=long_ago)
    with running_worker(tmp_path / "second.log", VAR_DIR=str(tmp_path)):
        assert jobs.requeue_lost_jobs() == 1
        wait_for(lambda: Job.objects.get(pk=job.pk).state == Job.State.DONE)

    job.refresh_from_db()
    assert (job.attempt, job.report["counts"]) == (2, {"created": count})
    versions = Document.objects.order_by("pk").values_list("version", flat=True)
    assert list(versions) == [1] * count
    snippets = Document.objects.annotate(number=Count("snippets")).values_list("number", flat=True)
    assert set(snippets) == {400}
    assert job.report["snippets"] == 400 * count
