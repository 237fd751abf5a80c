"""Rule texts of different splits that are nearly the same: found in the background, kept in a job.

All texts are compared with all, so a page shows what was found last, and whether anything has
changed since.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from heapq import nlargest

from apps.accounts.models import User
from apps.exports.services.splits import sources_of, state_of
from apps.projects.models import Job, Project
from apps.projects.services.jobs import finish_job, queue_job, report_progress
from apps.snippets.domain.similarity import near_duplicates
from apps.trees.models import Tree

KIND = "leak report"
TASK = "exports.find_leaks"
MOST_KEPT = 1000
"""Pairs, the nearest; of all of them the number is kept."""


@dataclass(frozen=True)
class NearLeak:
    """Two rule texts of different splits that are nearly the same."""

    cosine: float
    splits: tuple[str, str]
    tree_ids: tuple[str, str]


def near_leaks(project: Project) -> list[NearLeak]:
    """Rule texts of different splits whose TF-IDF cosine reaches the project's threshold."""
    trees = Tree.objects.filter(project=project).order_by("pk")
    rows = list(
        trees.values_list(
            "tree_id", "question__snippet__document__split", "question__snippet__text"
        )
    )
    pairs = near_duplicates([text for *_, text in rows], project.near_duplicate_threshold or 1.0)
    return [
        NearLeak(cosine, (rows[i][1], rows[j][1]), (rows[i][0], rows[j][0]))
        for i, j, cosine in pairs
        if rows[i][1] and rows[j][1] and rows[i][1] != rows[j][1]
    ]


def last_leak_report(project: Project) -> Job | None:
    return Job.objects.filter(project=project, kind=KIND, state=Job.State.DONE).first()


def queue_leak_report(project: Project, *, author: User) -> Job:
    """The one that is under way, or a new one."""
    under_way = Job.objects.unfinished().filter(project=project, kind=KIND).first()
    return under_way or queue_job(project, kind=KIND, task=TASK, parameters={}, created_by=author)


def run_leak_report(job: Job) -> None:
    """The work of a queued job."""
    report_progress(job, step="comparing rule texts")
    sources = sources_of(job.project)
    found = near_leaks(job.project)
    nearest = nlargest(MOST_KEPT, found, key=lambda one: (one.cosine, one.tree_ids))
    finish_job(job, report={
        "state": state_of(sources),
        "texts": sum(one.trees for one in sources),
        "threshold": job.project.near_duplicate_threshold,
        "count": len(found),
        "pairs": [astuple(one) for one in nearest],
    })  # fmt: skip
