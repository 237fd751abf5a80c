"""Doors for Celery."""

from celery import shared_task

from apps.exports.services.exporting import run_export
from apps.exports.services.sharc_import import run_import
from apps.projects.services.jobs import run_job


@shared_task(name="exports.import_sharc")
def import_sharc(job_id: int) -> None:
    run_job(job_id, run_import)


@shared_task(name="exports.export")
def export(job_id: int) -> None:
    run_job(job_id, run_export)
