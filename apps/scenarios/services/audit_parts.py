"""The labels of a project's utterances by batch, worker and tree, counted as they are now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from apps.projects.models import Project
from apps.scenarios.models import Utterance
from apps.scenarios.services.audit import Scope

LABELS = ("yes", "no", "irrelevant", "more")

_JOB = "tree__question__snippet__document__job"


@dataclass(frozen=True)
class Part:
    """One batch, worker or tree: what it is called, and how many utterances have which label."""

    name: str
    scope: Scope
    labels: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.labels.values())

    @property
    def most_percent(self) -> str:
        """The share of the most frequent label."""
        return f"{max(self.labels.values()) / self.total * 100:.0f}"


@dataclass(frozen=True)
class Kind:
    """A way to part a project: the columns that tell parts from each other, and what is counted."""

    title: str
    help: str
    columns: tuple[str, ...]
    counted: Q
    part: Callable[..., tuple[str, Scope]]


def _batch(row: dict[str, Any]) -> tuple[str, Scope]:
    kind = row[f"{_JOB}__kind"]
    return f"{kind[0].upper()}{kind[1:]} {row[_JOB]}", Scope(batch=row[_JOB])


def _worker(row: dict[str, Any]) -> tuple[str, Scope]:
    name = row["node__created_by__username"]
    return name, Scope(worker=name)


def _tree(row: dict[str, Any]) -> tuple[str, Scope]:
    return row["tree__question__text"], Scope(tree_id=row["tree__tree_id"])


KINDS = {
    "batch": Kind(
        "Batch", "All documents that one upload or import brought in.",
        (_JOB, f"{_JOB}__kind"), Q(**{f"{_JOB}__isnull": False}), _batch,
    ),
    "worker": Kind(
        "Worker", "Utterances whose answer is what this person wrote in the tree.",
        ("node__created_by__username",),
        Q(node__created_by__isnull=False) & ~Q(kind=Utterance.Kind.NEGATIVE_QUESTION), _worker,
    ),
    "tree": Kind(
        "Tree", "One tree with its scenarios and negatives.",
        ("tree__tree_id", "tree__question__text"), Q(), _tree,
    ),
}  # fmt: skip


def rows_of(project: Project, kind: str) -> QuerySet[Any, Any]:
    """A row of plain values for each part, the largest first."""
    chosen = KINDS[kind]
    utterances = Utterance.objects.in_force().filter(chosen.counted, project=project)
    labels = {label: Count("pk", filter=Q(answer_class=label)) for label in LABELS}
    rows = utterances.order_by().values(*chosen.columns).annotate(total=Count("pk"), **labels)
    found: QuerySet[Any, Any] = rows.order_by("-total", *chosen.columns)
    return found


def part_of(kind: str, row: dict[str, Any]) -> Part:
    name, scope = KINDS[kind].part(row)
    return Part(name, scope, {label: row[label] for label in LABELS})
