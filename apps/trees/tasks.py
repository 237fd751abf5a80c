"""Doors for Celery."""

from celery import shared_task
from django.utils import timezone

from apps.projects.services.jobs import run_job
from apps.trees.models import Tree
from apps.trees.services.near_questions import look_for_near_questions
from apps.trees.services.pruning import TASK, run_pruning


@shared_task(name="trees.look_for_near_questions")
def look_for_near_questions_of_all() -> int:
    return look_for_near_questions(Tree.objects.all(), now=timezone.now())


@shared_task(name=TASK)
def prune_redundant(job_id: int) -> None:
    run_job(job_id, run_pruning)
