"""Background jobs: taken up once, never lost, never overwritten (services/jobs.py)."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from apps.projects.errors import JobCancelledError, StudioError
from apps.projects.models import AuditEvent, Job
from apps.projects.services import jobs
from sharc_studio.celery import app
from tests.celery_worker import empty_queue, running_worker, start_worker
from tests.factories import make_project, make_user

pytestmark = pytest.mark.django_db

LONG_AGO = timedelta(days=1)


@pytest.fixture
def sent(monkeypatch) -> list[tuple[str, list[int]]]:
    """What was sent to the broker: task and arguments."""
    messages: list[tuple[str, list[int]]] = []
    monkeypatch.setattr(app, "send_task", lambda name, args: messages.append((name, args)))
    return messages


def make_job(**fields: Any) -> Job:
    defaults = {"kind": "export", "task": "exports.export"}
    return Job.objects.create(project=make_project(), **{**defaults, **fields})


def claim(job: Job) -> Job:
    claimed = jobs.claim_job(job.pk)
    assert claimed is not None
    return claimed


def silence(job: Job) -> None:
    """As if nothing had been heard of the job's worker for a day."""
    Job.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - LONG_AGO)


def test_a_queued_job_is_sent_once_its_transaction_is_committed(
    sent, django_capture_on_commit_callbacks
):
    person = make_user()
    with django_capture_on_commit_callbacks(execute=True):
        job = jobs.queue_job(
            make_project(), kind="export", task="exports.export", parameters={"n": 1},
            created_by=person,
        )  # fmt: skip
        assert sent == []
    assert sent == [("exports.export", [job.pk])]
    assert (job.state, job.parameters, job.attempt) == ("queued", {"n": 1}, 0)
    event = AuditEvent.objects.get(action="start export")
    assert (event.actor, event.object_id) == (person, str(job.pk))


def test_a_claimed_job_is_running_and_its_progress_starts_anew():
    job = claim(make_job(step="reading", done=3, total=9))
    assert (job.state, job.attempt, job.step, job.done, job.total) == ("running", 1, "", 0, 0)
    assert jobs.claim_job(job.pk) is None


@pytest.mark.django_db(transaction=True)
def test_eight_workers_claim_one_job_and_one_gets_it():
    job = make_job()
    results: list[Job | None] = []
    start = threading.Barrier(8)

    def claim_at_once() -> None:
        start.wait()
        try:
            results.append(jobs.claim_job(job.pk))
        finally:
            connection.close()

    threads = [threading.Thread(target=claim_at_once) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(result is None for result in results) == [False] + [True] * 7
    job.refresh_from_db()
    assert job.attempt == 1


def test_progress_is_kept_and_never_passes_the_total():
    job = claim(make_job())
    silence(job)
    jobs.report_progress(job, step="writing", done=12, total=10)
    job.refresh_from_db()
    assert (job.step, job.done, job.total) == ("writing", 10, 10)
    assert job.heartbeat_at is not None
    assert timezone.now() - job.heartbeat_at < timedelta(minutes=1)


def test_progress_without_a_total_is_a_count():
    job = claim(make_job())
    jobs.report_progress(job, step="reading", done=12)
    job.refresh_from_db()
    assert (job.done, job.total) == (12, 0)


def test_a_job_that_ends_says_what_it_did(sent):
    job = make_job()
    jobs.run_job(job.pk, lambda job: jobs.finish_job(job, report={"rows": 3}, result="a.zip"))
    job.refresh_from_db()
    assert (job.state, job.report, job.result, job.error) == ("done", {"rows": 3}, "a.zip", "")
    assert job.finished_at is not None


def raise_in_job(error: Exception) -> Callable[[Job], None]:
    def work(job: Job) -> None:
        raise error

    return work


def test_a_job_that_fails_says_why():
    job = make_job()
    jobs.run_job(job.pk, raise_in_job(StudioError("dev.json: item 3 has no answer.")))
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "dev.json: item 3 has no answer.")
    assert job.finished_at is not None


def test_a_fault_of_our_own_points_to_the_log_and_shows_no_detail():
    job = make_job()
    jobs.run_job(job.pk, raise_in_job(ValueError("password=hunter2")))
    job.refresh_from_db()
    assert (job.state, job.error) == (
        "failed",
        "Something went wrong inside the studio. The log of the server says more under job "
        f"{job.pk}.",
    )


def test_a_failed_job_without_a_reason_is_refused_by_the_database():
    job = make_job()
    with pytest.raises(IntegrityError), transaction.atomic():
        Job.objects.filter(pk=job.pk).update(state="failed", finished_at=timezone.now())


def test_a_cancelled_job_stops_at_its_next_progress_report():
    job, person = make_job(), make_user()
    steps = []

    def work(job: Job) -> None:
        steps.append("began")
        assert jobs.cancel_job(job, actor=person)
        jobs.report_progress(job, step="writing")
        steps.append("went on")

    jobs.run_job(job.pk, work)
    job.refresh_from_db()
    assert (job.state, steps) == ("cancelled", ["began"])
    assert AuditEvent.objects.get(action="cancel export").actor == person


def test_a_job_that_has_ended_is_not_cancelled():
    job = make_job()
    jobs.run_job(job.pk, lambda job: jobs.finish_job(job, report={}))
    assert not jobs.cancel_job(job, actor=make_user())
    job.refresh_from_db()
    assert job.state == "done"


def test_a_cancelled_job_is_not_run_when_its_message_arrives():
    job = make_job()
    jobs.cancel_job(job, actor=make_user())
    jobs.run_job(job.pk, raise_in_job(AssertionError("it ran")))
    job.refresh_from_db()
    assert job.state == "cancelled"


def test_a_job_whose_worker_fell_silent_is_queued_again(sent):
    job = claim(make_job())
    silence(job)
    assert jobs.requeue_lost_jobs() == 1
    job.refresh_from_db()
    assert (job.state, sent) == ("queued", [("exports.export", [job.pk])])
    assert claim(job).attempt == 2


def test_a_job_whose_message_was_lost_is_sent_again_and_not_at_every_turn(sent):
    job = make_job(queued_at=timezone.now() - LONG_AGO)
    assert [jobs.requeue_lost_jobs(), jobs.requeue_lost_jobs()] == [1, 0]
    assert sent == [("exports.export", [job.pk])]


def test_a_job_that_reports_or_has_just_been_queued_is_left_alone(sent):
    running, _waiting = claim(make_job()), make_job()
    assert jobs.requeue_lost_jobs() == 0
    running.refresh_from_db()
    assert (running.state, sent) == ("running", [])


def test_a_job_that_kills_its_workers_is_given_up(sent):
    job = claim(make_job())
    silence(job)
    Job.objects.filter(pk=job.pk).update(attempt=jobs.MAX_ATTEMPTS)
    assert jobs.requeue_lost_jobs() == 0
    job.refresh_from_db()
    assert (job.state, sent) == ("failed", [])
    assert job.error == "Its worker died 5 times. See the server's log."


def test_work_of_a_command_that_was_stopped_is_not_taken_up_by_a_worker(sent):
    job = jobs.start_job_here(make_project(), kind="import", parameters={}, created_by=None)
    silence(job)
    assert jobs.requeue_lost_jobs() == 0
    job.refresh_from_db()
    assert (job.state, sent) == ("failed", [])
    assert job.error == "The command that ran it was stopped. Run it again."


def test_a_worker_that_was_believed_dead_cannot_overwrite_its_successor(sent):
    job = make_job()
    first = claim(job)
    silence(first)
    jobs.requeue_lost_jobs()
    second = claim(job)
    for late in (
        lambda: jobs.report_progress(first, step="late"),
        lambda: jobs.finish_job(first, report={"by": "first"}),
        lambda: jobs.fail_job(first, error="late"),
    ):
        with pytest.raises(JobCancelledError):
            late()
    jobs.finish_job(second, report={"by": "second"})
    job.refresh_from_db()
    assert (job.state, job.report, job.attempt) == ("done", {"by": "second"}, 2)


def wait_for(is_so: Callable[[], bool], *, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)


@pytest.mark.django_db(transaction=True)
def test_work_that_reports_nothing_for_long_is_not_taken_for_lost(sent, settings):
    settings.JOB_LOST_AFTER_SECONDS = 1
    job = make_job()
    requeued: list[int] = []

    def work(running: Job) -> None:
        time.sleep(2.5)
        requeued.append(jobs.requeue_lost_jobs())
        jobs.finish_job(running, report={"slept": True})

    jobs.run_job(job.pk, work)
    job.refresh_from_db()
    assert requeued == [0]
    assert (job.state, job.attempt, job.report) == ("done", 1, {"slept": True})


@pytest.mark.django_db(transaction=True)
def test_a_job_ends_though_its_worker_is_killed_in_the_middle(tmp_path, settings):
    """Case 10."""
    include = "--include=tests.projects.slow_job"
    empty_queue()
    worker = start_worker(tmp_path / "first.log", include)
    job = jobs.queue_job(
        make_project(), kind="hang", task="tests.hang_once", parameters={}, created_by=None
    )
    try:
        wait_for(lambda: Job.objects.get(pk=job.pk).step == "half-way")
    finally:
        worker.kill()
        worker.wait()
    silence(job)
    with running_worker(tmp_path / "second.log", include):
        assert jobs.requeue_lost_jobs() == 1
        wait_for(lambda: Job.objects.get(pk=job.pk).state == Job.State.DONE)
    job.refresh_from_db()
    assert (job.attempt, job.report, job.done) == (2, {"attempt": 2}, 1)
