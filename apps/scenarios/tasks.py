"""Doors for Celery."""

from celery import shared_task

from apps.projects.services.jobs import run_job
from apps.scenarios.services.audit import run_audit
from apps.scenarios.services.expansion import run_expansion
from apps.scenarios.services.negative_choices import run_replacing
from apps.scenarios.services.negatives import run_mining
from apps.scenarios.services.proof import run_proof
from apps.scenarios.services.similarities import run_measuring


@shared_task(name="scenarios.mine_negatives")
def mine_negatives(job_id: int) -> None:
    run_job(job_id, run_mining)


@shared_task(name="scenarios.replace_negative")
def replace_negative(job_id: int) -> None:
    run_job(job_id, run_replacing)


@shared_task(name="scenarios.measure_similarities")
def measure_similarities(job_id: int) -> None:
    run_job(job_id, run_measuring)


@shared_task(name="scenarios.audit")
def audit(job_id: int) -> None:
    run_job(job_id, run_audit)


@shared_task(name="scenarios.expand")
def expand(job_id: int) -> None:
    run_job(job_id, run_expansion)


@shared_task(name="scenarios.prove")
def prove(job_id: int) -> None:
    run_job(job_id, run_proof)
