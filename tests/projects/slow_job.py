"""A job that a test can interrupt: its first attempt hangs, its second ends."""

import time

from celery import shared_task

from apps.projects.models import Job
from apps.projects.services.jobs import finish_job, report_progress, run_job


@shared_task(name="tests.hang_once")
def hang_once(job_id: int) -> None:
    run_job(job_id, _hang_once)


def _hang_once(job: Job) -> None:
    report_progress(job, step="half-way", done=1, total=2)
    if job.attempt == 1:
        time.sleep(600)
    finish_job(job, report={"attempt": job.attempt})
