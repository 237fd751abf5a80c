"""The audit of a project: what its utterances give away, against what a release may reach."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db import transaction
from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.projects.fields import is_blank
from apps.projects.models import Job, Project
from apps.projects.services import audit as audit_log
from apps.projects.services.jobs import finish_job, queue_job, report_progress, start_job_here
from apps.scenarios.domain.audit.balance import by_depth, by_items, by_position, by_split
from apps.scenarios.domain.audit.figures import NEAR, AuditedTree, measure, unmeasured
from apps.scenarios.domain.audit.partial import hard_rows, run_partial_models
from apps.scenarios.domain.audit.rows import Row
from apps.scenarios.domain.turns import turns_from_json
from apps.scenarios.models import AuditLimit, Utterance
from apps.scenarios.services.expansion import Progress
from apps.snippets.domain.reshaping import count_items
from apps.trees.models import Tree, TreeQuerySet, build

KIND = "audit"
TASK = "scenarios.audit"
AT_ONCE = 500
MOST_ROWS = 50_000
"""Utterances that the partial models see: more of them say no more, and take minutes."""


@dataclass(frozen=True)
class Scope:
    """The part of a project that is audited: all of it, one tree, the trees in which a worker
    wrote, or those of a batch: of the documents that one job brought in, as its number says."""

    tree_id: str = ""
    worker: str = ""
    batch: int = 0

    @property
    def is_all(self) -> bool:
        return self == Scope()

    @property
    def query(self) -> dict[str, str]:
        """As it stands in an address."""
        named = {"tree": self.tree_id, "worker": self.worker, "batch": str(self.batch or "")}
        return {name: value for name, value in named.items() if value}

    @property
    def address(self) -> str:
        return urlencode(self.query)


def why_unknown(project: Project, scope: Scope) -> str:
    """Why this project has no such part; empty where it has."""
    found = _part(Tree.objects.filter(project=project), scope).count()
    if not found:
        told = ", ".join(f"{name} {value}" for name, value in scope.query.items())
        return f"{told}: no tree of this project belongs to it" if told else ""
    if scope.tree_id and found > 1:
        return f"tree {scope.tree_id}: {found:,} trees begin so; give more of the id"
    return ""


def queue_audit(project: Project, scope: Scope, *, author: User | None) -> Job:
    return queue_job(project, kind=KIND, task=TASK, parameters=asdict(scope), created_by=author)


def audit_here(project: Project, scope: Scope, *, author: User | None, progress: Progress) -> Job:
    """The audit in this process; the job has the report."""
    job = start_job_here(project, kind=KIND, parameters=asdict(scope), created_by=author)
    audit(job, progress)
    job.refresh_from_db()
    return job


def run_audit(job: Job) -> None:
    """The work of a queued job."""
    audit(job, lambda step, done, total: report_progress(job, step=step, done=done, total=total))


def audit(job: Job, progress: Progress) -> None:
    """Measures the figures, and marks the utterances that no partial model gets right."""
    scope = Scope(**job.parameters)
    progress("reading trees and utterances", 0, 0)
    chosen = _trees(job.project, scope)
    trees = list(_audited(chosen))
    rows = list(_rows(_utterances(job.project, chosen, scope)))
    progress("training models on parts of the input", 0, 0)
    seen = rows[:MOST_ROWS]
    models = run_partial_models(seen)
    near = job.project.near_duplicate_threshold or NEAR
    hard = hard_rows(models, seen)
    report = {
        "scope": asdict(scope),
        "trees": len(trees),
        "utterances": len(rows),
        "seen_by_models": len(seen),
        "hard": len(hard),
        "figures": [asdict(figure) for figure in measure(rows, trees, models, near)],
        "balance": {
            "split": _plain(by_split(rows)),
            "depth": _plain(by_depth(rows)),
            "position": _plain(by_position(rows)),
        },
        "questions_by_items": _plain(by_items((tree.asked, tree.items) for tree in trees)),
    }
    with transaction.atomic():
        if scope.is_all:
            _mark_hard(job.project, hard)
        finish_job(job, report=report)


def _plain(table: dict[str, Counter[str]]) -> dict[str, dict[str, int]]:
    return {name: dict(labels) for name, labels in table.items()}


def _trees(project: Project, scope: Scope) -> TreeQuerySet:
    return _part(Tree.objects.finished().filter(project=project), scope).order_by("tree_id")


def _part(trees: TreeQuerySet, scope: Scope) -> TreeQuerySet:
    if scope.tree_id:
        trees = trees.filter(tree_id__startswith=scope.tree_id)
    if scope.worker:
        wrote = Q(nodes__created_by__username=scope.worker)
        wrote |= Q(scenarios__created_by__username=scope.worker)
        trees = trees.filter(pk__in=trees.filter(wrote).order_by().values("pk"))
    if scope.batch:
        trees = trees.filter(question__snippet__document__job=scope.batch)
    return trees


def _audited(trees: TreeQuerySet) -> Iterator[AuditedTree]:
    for tree in trees.with_source().with_live_nodes().iterator(chunk_size=AT_ONCE):
        snippet = tree.question.snippet
        yield AuditedTree(
            tree.tree_id, build(tree.nodes.all()), snippet.text, count_items(snippet.text),
            snippet.document.split,
        )  # fmt: skip


def _utterances(project: Project, trees: TreeQuerySet, scope: Scope) -> QuerySet[Utterance]:
    utterances = Utterance.objects.in_force().filter(project=project)
    if not scope.is_all:
        utterances = utterances.filter(tree__in=trees.order_by().values("pk"))
    # By their ids, which are as good as random: what the models see is a fair sample.
    return utterances.order_by("utterance_id")


def _rows(utterances: QuerySet[Utterance]) -> Iterator[Row]:
    values = utterances.values_list(
        "utterance_id", "tree__tree_id", "tree__question__snippet__document__split", "question",
        "scenario", "history", "evidence", "answer", "answer_class", "kind",
    )  # fmt: skip
    for (
        key,
        tree,
        split,
        question,
        scenario,
        history,
        evidence,
        answer,
        label,
        kind,
    ) in values.iterator():
        yield Row(
            key, tree, split, question, scenario, turns_from_json(history),
            turns_from_json(evidence), answer, label, kind,
        )  # fmt: skip


def _mark_hard(project: Project, hard: list[str]) -> None:
    utterances = Utterance.objects.filter(project=project)
    utterances.filter(is_hard=True).update(is_hard=False)
    for start in range(0, len(hard), AT_ONCE):
        utterances.filter(utterance_id__in=hard[start : start + AT_ONCE]).update(is_hard=True)


# Limits ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """A figure of a report beside what the project's release may reach."""

    figure: dict[str, Any]
    most: float | None
    waiver: str
    is_own: bool = False
    """Whether the project has set the limit; the usual ones are advice."""

    @property
    def passes(self) -> bool:
        value = self.figure["value"]
        return value is None or self.most is None or value <= self.most

    @property
    def percent(self) -> str:
        return f"{self.figure['value'] * 100:.1f}"

    @property
    def most_percent(self) -> str | None:
        return None if self.most is None else f"{self.most * 100:g}"

    @property
    def own_percent(self) -> str | None:
        """As it stands in the form: the usual limit is none of the project's."""
        return self.most_percent if self.is_own else None

    @property
    def blocks(self) -> bool:
        """Whether a release must wait for it."""
        return self.is_own and not self.passes and not self.waiver

    @property
    def state(self) -> str:
        """In words, against its limit."""
        if self.most is None or self.figure["value"] is None:
            return ""
        if self.passes:
            return "within"
        if self.waiver:
            return "waived"
        return "over the limit" if self.is_own else "over the usual limit"


def judge(project: Project, report: dict[str, Any]) -> list[Judged]:
    """The figures of a report, each with its limit and its waiver."""
    limits = {limit.figure: limit for limit in AuditLimit.objects.filter(project=project)}
    judged = []
    for figure in report.get("figures", []):
        limit = limits.get(figure["code"])
        own = None if limit is None else limit.most
        most = figure["usual"] if own is None else own
        waiver = limit.waiver if limit and not is_blank(limit.waiver) else ""
        judged.append(Judged(figure, most, waiver, own is not None))
    return judged


def empty_report() -> dict[str, Any]:
    """All figures, and no value of any: what limits are set by before the first audit."""
    return {"figures": [asdict(figure) for figure in unmeasured()]}


def last_audit(project: Project, scope: Scope | None = None) -> Job | None:
    """The last one of this part that was done; without a scope, of the whole project."""
    done = Job.objects.filter(project=project, kind=KIND, state=Job.State.DONE)
    scope = scope or Scope()
    of_batch = Q(parameters__batch=scope.batch)
    if not scope.batch:
        of_batch |= Q(parameters__batch__isnull=True)  # earlier versions knew no batches
    of_part = done.filter(
        of_batch, parameters__tree_id=scope.tree_id, parameters__worker=scope.worker
    )
    return of_part.order_by("-pk").first()


def number_now(project: Project) -> int:
    """Utterances in force, to be held against those of a report."""
    return Utterance.objects.in_force().filter(project=project).count()


@transaction.atomic
def set_limit(
    project: Project, figure: str, *, most: float | None, waiver: str, actor: User, now: datetime
) -> AuditLimit:
    """What a release may reach in this figure; with a waiver it may pass the limit."""
    waived = {"waived_by": actor, "waived_at": now} if waiver else {}
    fields = {"most": most, "waiver": waiver, "waived_by": None, "waived_at": None, **waived}
    limit, _ = AuditLimit.objects.update_or_create(project=project, figure=figure, defaults=fields)
    audit_log.record(
        actor, "set audit limit", limit, project=project, figure=figure, most=most, waiver=waiver
    )
    return limit
