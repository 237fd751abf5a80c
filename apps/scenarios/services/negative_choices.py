"""What experts decide about single negatives: drop, replace, put back. Nothing is deleted."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from apps.accounts.models import User
from apps.projects.models import Job
from apps.projects.services import audit, states
from apps.projects.services.jobs import finish_job, queue_job, start_job_here
from apps.scenarios.models import (
    MINING,
    REPLACING,
    Finding,
    NegativeQuestion,
    NegativeScenario,
    Utterance,
    Waived,
)
from apps.scenarios.services.expansion import queue_expansion
from apps.scenarios.services.negatives import Miner, Wish
from apps.trees.models import Tree

Negative = NegativeQuestion | NegativeScenario

REPLACE_TASK = "scenarios.replace_negative"
READ_AT_ONCE = 2_000
"""Trees that are read while somebody waits; of more, a job draws the replacement."""

State = Utterance.State


@transaction.atomic
def drop_negative(negative: Negative, *, reason: str, actor: User, now: datetime) -> bool:
    """It counts no more and is not drawn again, and its utterances are dropped with it; False:
    somebody was faster."""
    in_force: Any = type(negative).objects
    dropped = {"dropped_at": now, "dropped_by": actor, "dropped_reason": reason}
    if not in_force.in_force().filter(pk=negative.pk).update(**dropped):
        return False
    rows = negative.utterances.all()
    Waived.objects.filter(utterance__in=rows, ended_at__isnull=True).update(
        ended_at=now, ended_by=actor
    )
    Finding.objects.filter(utterance__in=rows).delete()
    states.move(
        rows, State.DROPPED, actor=actor, now=now, reason=reason, dropped_reason=reason,
        verified_by=actor, verified_at=now, gone_at=None, version=F("version") + 1,
    )  # fmt: skip
    audit.record(actor, "drop negative", negative, project=negative.tree.project, reason=reason)
    return True


@transaction.atomic
def restore_negative(negative: Negative, *, actor: User, now: datetime) -> bool:
    """It counts again, and what was dropped with it is to be verified; False: it does already."""
    dropped_at = negative.dropped_at
    rows: Any = type(negative).objects.filter(pk=negative.pk, dropped_at=dropped_at)
    kept = {"dropped_at": None, "dropped_by": None, "dropped_reason": ""}
    if dropped_at is None or not rows.update(**kept):
        return False
    with_it = negative.utterances.filter(state=State.DROPPED, verified_at=dropped_at)
    states.move(
        with_it, State.TO_VERIFY, actor=actor, now=now, dropped_reason="", verified_by=None,
        verified_at=None, version=F("version") + 1,
    )  # fmt: skip
    audit.record(
        actor, "put negative back", negative, project=negative.tree.project,
        dropped_because=negative.dropped_reason,
    )  # fmt: skip
    return True


@transaction.atomic
def replace_negative(negative: Negative, *, reason: str, actor: User, now: datetime) -> Job | None:
    """Drops it and draws another one; the job is done where that is quick. None: somebody was
    faster. Utterances follow in the background."""
    if not drop_negative(negative, reason=reason, actor=actor, now=now):
        return None
    project = negative.tree.project
    job = negative.job
    was_drawn = job is not None and job.kind in {MINING, REPLACING}
    wish = Wish.of_job(job) if job and was_drawn else Wish.of(project)
    names = {"negative": negative.pk, "of": negative._meta.model_name}
    parameters = {**asdict(wish), **names}
    if Tree.objects.finished().filter(project=project).count() > READ_AT_ONCE:
        return queue_job(
            project, kind=REPLACING, task=REPLACE_TASK, parameters=parameters, created_by=actor
        )
    job = start_job_here(project, kind=REPLACING, parameters=parameters, created_by=actor)
    run_replacing(job)
    job.refresh_from_db()
    return job


@transaction.atomic
def run_replacing(job: Job) -> None:
    """The work of a job: draws one for the tree of the one that was dropped."""
    kinds = {model._meta.model_name: model for model in (NegativeQuestion, NegativeScenario)}
    model: Any = kinds[job.parameters["of"]]
    dropped = model.objects.select_related("tree").get(pk=job.parameters["negative"])
    wish = Wish.of_job(job)
    miner = Miner(job, wish, wish.read(job.project))
    made = model.objects.filter(replaces=dropped).first() or miner.replace(dropped)
    if made:
        queue_expansion(job.project, author=dropped.dropped_by)
    finish_job(job, report={"made": made and made.pk, "missing": miner.missing})
