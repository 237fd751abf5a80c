"""Other limits for a project: what they would do, and doing it. Much of it is a job's work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Job, Project
from apps.projects.services.jobs import finish_job, queue_job, report_progress
from apps.projects.services.projects import save_settings
from apps.snippets.domain.segmentation import Limits, LongLists
from apps.snippets.services.segmenting import (
    Change,
    changes_by,
    cuttable,
    limits_of,
    recut_documents,
)

PREVIEW_KIND, PREVIEW_TASK = "segmentation preview", "snippets.preview_segmentation"
KIND, TASK = "segmentation", "snippets.segment_anew"
FEW = 20
"""As many documents are cut while somebody waits for the page; more of them by a job."""

Report = dict[str, Any]


def try_limits(project: Project, *, limits: Limits, author: User) -> Report | Job:
    """What the limits would do: at once, or as a job that reports it. Nothing is changed."""
    keys = cuttable(project)
    if len(keys) <= FEW:
        return _report(changes_by(keys, limits, now=timezone.now()), limits)
    return queue_job(
        project, kind=PREVIEW_KIND, task=PREVIEW_TASK, parameters={"limits": asdict(limits)},
        created_by=author,
    )  # fmt: skip


def run_preview(job: Job) -> None:
    values = job.parameters["limits"]
    limits = Limits(**{**values, "long_lists": LongLists(values["long_lists"])})
    keys, found = cuttable(job.project), []
    for change in changes_by(keys, limits, now=timezone.now()):
        found.append(change)
        report_progress(job, step="trying", done=len(found), total=len(keys))
    finish_job(job, report=_report(found, limits))


def apply_limits(project: Project, *, actor: User) -> Report | Job:
    """Saves the limits that `project` now has, and cuts what nobody has touched anew."""
    with transaction.atomic():
        save_settings(project, actor=actor)
        keys = cuttable(project)
        if len(keys) > FEW:
            return queue_job(project, kind=KIND, task=TASK, parameters={}, created_by=actor)
    done = recut_documents(project, keys, author=actor, job=None, progress=_say_nothing)
    return _report(done, limits_of(project))


def run_segmentation(job: Job) -> None:
    done = recut_documents(
        job.project, cuttable(job.project), author=job.created_by, job=job,
        progress=partial(_report_progress, job),
    )  # fmt: skip
    finish_job(job, report=_report(done, limits_of(Project.objects.get(pk=job.project_id))))


def _say_nothing(step: str, done: int, total: int) -> None:
    """Nobody waits long enough to want progress."""


def _report_progress(job: Job, step: str, done: int, total: int) -> None:
    report_progress(job, step=step, done=done, total=total)


def _report(changes: Iterable[Change], limits: Limits) -> Report:
    changes = list(changes)
    totals = ("snippets", "snippets_then", "over", "over_then")
    return {
        "limits": asdict(limits),
        "documents": len(changes),
        **{name: sum(getattr(one, name) for one in changes) for name in totals},
        "changed": [
            {**asdict(one), "snippets_then": one.snippets_then}
            for one in changes
            if one.removed or one.added
        ],
        "left_alone": [asdict(one) for one in changes if one.left_alone],
    }
