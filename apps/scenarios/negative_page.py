"""What the pages of negatives show, put together from the rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import log1p
from typing import Any

from django.db.models import Count, DateTimeField, Exists, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce

from apps.projects.models import Job, Project
from apps.projects.paging import page_of
from apps.scenarios.domain.negatives.similarities import Bar, around, distribution, share_under
from apps.scenarios.models import (
    EXPANSION,
    MINING,
    REPLACING,
    NegativeQuestion,
    NegativeScenario,
    Utterance,
)
from apps.scenarios.negative_forms import KINDS, TITLES, NegativeFilter
from apps.scenarios.services.similarities import last_measured
from apps.trees.models import Node, Tree

ROWS_ON_PAGE = 25
PAIRS_SHOWN = 4

LINKS = {"questions": "negative_question", "scenarios": "negative_scenario"}
SOURCES = {
    "questions": ("source__tree", "source__snippet__document"),
    "scenarios": ("source__tree__question__snippet__document",),
}


# The list ------------------------------------------------------------------------------------


def list_page(project: Project, negatives: Any, form: NegativeFilter, *, asked: str | None) -> Any:
    """The negatives of one kind. Three queries for the rows, two for the numbers, one for jobs."""
    kind = form.chosen_kind
    mine = negatives[kind].filter(tree__project=project)
    shown = mine.select_related("tree__question", "tree__project", *SOURCES[kind])
    page = page_of(form.filtered(mine), shown, asked=asked, size=ROWS_ON_PAGE)
    return {
        "project": project,
        "form": form,
        "kind": kind,
        "page": page,
        "rows": [_row(one, kind) for one in page.object_list],
    }


def numbers_page(project: Project) -> dict[str, Any]:
    """How many there are, and what runs. Three queries."""
    numbers = [_numbers(project, kind) for kind in KINDS]
    running = Job.objects.unfinished().filter(project=project, kind__in=[MINING, REPLACING])
    return {
        "numbers": numbers,
        "unexpanded": sum(one["unexpanded"] for one in numbers),
        "running": list(running.order_by("pk")),
    }


def _numbers(project: Project, kind: str) -> dict[str, Any]:
    in_force = Q(dropped_at__isnull=True)
    waits = in_force & _waits_for_expansion(project, kind)
    negatives = KINDS[kind].objects.filter(tree__project=project)
    counted = negatives.aggregate(
        in_force=Count("pk", filter=in_force),
        dropped=Count("pk", filter=~in_force),
        unexpanded=Count("pk", filter=waits),
    )
    return {"kind": kind, "title": TITLES[kind], **counted}


def _waits_for_expansion(project: Project, kind: str) -> Q:
    """It has no utterances, and came after the last expansion: one from before has none because
    another utterance says the same."""
    made = Exists(Utterance.objects.filter(**{LINKS[kind]: OuterRef("pk")}))
    done = Job.objects.filter(project=project, kind=EXPANSION, state=Job.State.DONE)
    last = Subquery(done.order_by("-pk").values("created_at")[:1])
    since = Coalesce(last, Value(datetime(1970, 1, 1, tzinfo=UTC)), output_field=DateTimeField())
    return Q(tree__state=Tree.State.FINISHED, created_at__gt=since) & ~Q(made)


@dataclass(frozen=True)
class Row:
    """A negative, and the tree that it comes from, if that is here."""

    negative: NegativeQuestion | NegativeScenario
    kind: str
    source: Tree | None

    @property
    def form(self) -> str:
        """In words, what stands before an irrelevant question."""
        if self.kind != "questions":
            return ""
        scenario: Any = getattr(self.negative, "attached_scenario_id", None)
        place: Any = getattr(self.negative, "attached_place", "")
        names = [
            name for name, is_there in (("scenario", scenario), ("history", place)) if is_there
        ]
        return "with " + " and ".join(names) if names else ""


def _row(negative: Any, kind: str) -> Row:
    source = negative.source
    if source is None:
        return Row(negative, kind, None)
    if kind == "scenarios":
        return Row(negative, kind, source.tree)
    tree: Tree | None = getattr(source, "tree", None)
    if tree is not None:
        tree.question = source  # it is known, and saves a query
    return Row(negative, kind, tree)


# One negative ----------------------------------------------------------------------------------


def negative_page(negative: Any, kind: str) -> dict[str, Any]:
    """One negative between its two trees, with what became of it."""
    row = _row(negative, kind)
    trees = [negative.tree, *([row.source] if row.source else [])]
    asked = questions_of(tree.pk for tree in trees)
    return {
        "project": negative.tree.project,
        "negative": negative,
        "kind": kind,
        "title": TITLES[kind][:-1],
        "row": row,
        "asked": asked.get(negative.tree_id, []),
        "source_asked": asked.get(row.source.pk, []) if row.source else [],
        "utterances": list(negative.utterances.order_by("utterance_id")[: ROWS_ON_PAGE + 1]),
        "replaced_by": type(negative).objects.filter(replaces=negative).first(),
        "next": _next(negative),
    }


def _next(negative: Any) -> Any:
    """The next one of its kind in force, in the order in which the list begins: newest first."""
    mine = type(negative).objects.in_force().filter(tree__project=negative.tree.project_id)
    return mine.filter(pk__lt=negative.pk).order_by("-pk").values_list("pk", flat=True).first()


def questions_of(trees: Iterable[int]) -> dict[int, list[str]]:
    """By tree its follow-up questions, each once, as they come on the way down. One query."""
    found: dict[int, dict[str, None]] = defaultdict(dict)
    nodes = Node.objects.live().questions().filter(tree__in=list(trees)).order_by("place")
    for tree, text in nodes.values_list("tree_id", "text"):
        found[tree][text] = None
    return {tree: list(texts) for tree, texts in found.items()}


# Similarities ------------------------------------------------------------------------------------


WIDTH, HEIGHT = 480, 200
LEFT, RIGHT, TOP, BOTTOM = 8, 8, 26, 30


@dataclass(frozen=True)
class Picture:
    """The distribution as a drawing of WIDTH x HEIGHT; the heights grow with the logarithm."""

    bars: Sequence[dict[str, Any]]
    ticks: Sequence[tuple[str, str]]
    line: str
    label_x: str
    label_anchor: str
    width: int = WIDTH
    height: int = HEIGHT
    top: int = TOP
    ground: int = HEIGHT - BOTTOM


def similarities_page(project: Project, threshold: float) -> dict[str, Any]:
    """The last sample of candidate pairs, and what this threshold does to it."""
    job = last_measured(project)
    pairs = job.report["pairs"] if job else []
    cosines = [pair[2] for pair in pairs]
    bars = distribution(cosines)
    under, above = around(cosines, threshold, PAIRS_SHOWN)
    shown = _pairs([pairs[place] for place in (*under, *above)])
    share = share_under(cosines, threshold)
    return {
        "project": project,
        "job": job,
        "threshold": threshold,
        "bars": bars,
        "picture": picture_of(bars, threshold),
        "pairs": len(pairs),
        "passing": sum(cosine < threshold for cosine in cosines),
        "percent": None if share is None else f"{share * 100:.1f}",
        "groups": [
            ("Just under the threshold: taken", shown[: len(under)]),
            ("At the threshold and just above it: not taken", shown[len(under) :]),
        ],
    }


def _pairs(pairs: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """Each with both trees and their questions. Two queries."""
    keys = {key for one, other, _ in pairs for key in (one, other)}
    trees = Tree.objects.with_source().in_bulk(keys)
    asked = questions_of(keys)
    return [
        {
            "cosine": cosine,
            "trees": [(trees.get(key), asked.get(key, [])) for key in (one, other)],
        }
        for one, other, cosine in pairs
    ]


def picture_of(bars: Sequence[Bar], threshold: float) -> Picture:
    most = max((bar.number for bar in bars), default=0)
    scale = (HEIGHT - TOP - BOTTOM) / log1p(most) if most else 0
    drawn = [_bar(bar, scale, threshold) for bar in bars]
    ticks = [(_x(tick / 4), f"{tick / 4:g}") for tick in range(5)]
    on_the_right = threshold > 0.6
    offset = -4 if on_the_right else 4
    label = f"{float(_x(threshold)) + offset:.1f}"
    return Picture(drawn, ticks, _x(threshold), label, "end" if on_the_right else "start")


def _x(cosine: float) -> str:
    return f"{LEFT + cosine * (WIDTH - LEFT - RIGHT):.1f}"


def _bar(bar: Bar, scale: float, threshold: float) -> dict[str, Any]:
    height = log1p(bar.number) * scale
    width = (WIDTH - LEFT - RIGHT) / 20 - 2
    return {
        "x": f"{float(_x(bar.low)) + 1:.1f}",
        "y": f"{HEIGHT - BOTTOM - height:.1f}",
        "width": f"{width:.1f}",
        "height": f"{height:.1f}",
        "passes": bar.high <= threshold + 1e-9,
        "number": bar.number,
    }
