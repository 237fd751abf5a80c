"""Doors for Celery."""

from celery import shared_task

from apps.exports.services import keeping
from apps.exports.services.export_jobs import run_export
from apps.exports.services.keeping import forget_ended_work
from apps.exports.services.leaks import run_leak_report
from apps.exports.services.sharc_import import run_import
from apps.exports.services.shards import help_with
from apps.exports.services.splits import run_splits
from apps.exports.services.uploads import forget_uploads
from apps.projects.services.jobs import run_job


@shared_task(name="exports.import_sharc")
def import_sharc(job_id: int) -> None:
    run_job(job_id, run_import)
    forget_uploads(job_id)


@shared_task(name="exports.make_splits")
def make_splits(job_id: int) -> None:
    run_job(job_id, run_splits)


@shared_task(name="exports.find_leaks")
def find_leaks(job_id: int) -> None:
    run_job(job_id, run_leak_report)


@shared_task(name="exports.export")
def export(job_id: int) -> None:
    run_job(job_id, run_export)
    forget_ended_work(job_id)


@shared_task(name="exports.clean_up")
def clean_up() -> int:
    return keeping.clean_up()


@shared_task(name="exports.write_shard")
def write_shard(shard_id: int) -> None:
    help_with(shard_id)
