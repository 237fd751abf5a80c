"""Doors for Celery."""

from celery import shared_task

from apps.exports.services.exporting import run_export
from apps.exports.services.sharc_import import run_import
from apps.exports.services.uploads import forget_uploads
from apps.projects.services.jobs import run_job


@shared_task(name="exports.import_sharc")
def import_sharc(job_id: int) -> None:
    run_job(job_id, run_import)
    forget_uploads(job_id)


@shared_task(name="exports.export")
def export(job_id: int) -> None:
    run_job(job_id, run_export)
