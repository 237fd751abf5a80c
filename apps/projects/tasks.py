"""Doors for Celery."""

from celery import shared_task

from apps.projects.services import jobs


@shared_task(name="projects.requeue_lost_jobs")
def requeue_lost_jobs() -> int:
    return jobs.requeue_lost_jobs()
