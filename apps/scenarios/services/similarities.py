"""How like the candidates for irrelevant scenarios are: a sample, to choose the threshold by."""

from __future__ import annotations

from typing import Any

from apps.accounts.models import User
from apps.projects.models import Job, Project
from apps.projects.services import audit
from apps.projects.services.jobs import finish_job, queue_job, start_job_here
from apps.scenarios.domain.negatives.similarities import sample_pairs
from apps.scenarios.services.negative_source import Source
from apps.trees.models import Tree

KIND = "similarities"
TASK = "scenarios.measure_similarities"
SAMPLE = 2_000
READ_AT_ONCE = 2_000
"""Trees that are read while somebody waits; more of them are read by a job."""


def measure_or_queue(project: Project, *, author: User, seed: int = 0) -> Job:
    """Measures at once where that takes a second or two; else the job is queued."""
    parameters = {"seed": seed}
    if Tree.objects.finished().filter(project=project).count() > READ_AT_ONCE:
        return queue_job(project, kind=KIND, task=TASK, parameters=parameters, created_by=author)
    job = start_job_here(project, kind=KIND, parameters=parameters, created_by=author)
    run_measuring(job)
    job.refresh_from_db()
    return job


def run_measuring(job: Job) -> None:
    """The work of a job. The report has `pairs`: the keys of two trees, and their cosine."""
    source = Source(job.project)
    pairs = sample_pairs(source.pool, SAMPLE, seed=job.parameters["seed"])
    found: list[list[Any]] = [
        [source.keys[pair.one], source.keys[pair.other], round(pair.cosine, 6)] for pair in pairs
    ]
    finish_job(job, report={"trees": len(source.keys), "pairs": found})


def last_measured(project: Project) -> Job | None:
    done = Job.objects.filter(project=project, kind=KIND, state=Job.State.DONE)
    return done.order_by("-pk").first()


def set_threshold(project: Project, threshold: float, *, actor: User) -> None:
    """For what is mined from now on; what was drawn before stays."""
    before = project.negative_threshold
    if before == threshold:
        return
    Project.objects.filter(pk=project.pk).update(negative_threshold=threshold)
    audit.record(
        actor, "set negative threshold", project, project=project, before=before, after=threshold
    )
