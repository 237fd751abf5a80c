"""Doors for Celery."""

from celery import shared_task

from apps.projects.services.jobs import run_job
from apps.snippets.services.ingest_jobs import forget_uploads, run_ingest
from apps.snippets.services.near_duplicates import TASK, find_near_duplicates
from apps.snippets.services.segmenting_jobs import run_preview, run_segmentation


@shared_task(name="snippets.ingest_documents")
def ingest_documents(job_id: int) -> None:
    run_job(job_id, run_ingest)
    forget_uploads(job_id)


@shared_task(name="snippets.preview_segmentation")
def preview_segmentation(job_id: int) -> None:
    run_job(job_id, run_preview)


@shared_task(name="snippets.segment_anew")
def segment_anew(job_id: int) -> None:
    run_job(job_id, run_segmentation)


@shared_task(name=TASK)
def compare_snippets(job_id: int) -> None:
    run_job(job_id, find_near_duplicates)
