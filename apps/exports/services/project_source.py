"""A project as exports read it: in chunks, with as many queries for each as for any other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

from apps.exports.formats.card import statistics_of
from apps.exports.formats.rows import DocumentRow, NodeRow, TreeRow, UtteranceRow
from apps.exports.formats.statistics import Statistics
from apps.exports.services.about import about
from apps.exports.services.exportable import exportable
from apps.projects.models import Project, Split
from apps.scenarios.domain.turns import turns_from_json
from apps.scenarios.models import UtteranceQuerySet
from apps.snippets.models import Document, Snippet
from apps.trees.models import Node, Tree

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much."""

UTTERANCES = 1000
TREES = 50
DOCUMENTS = 50

Item = TypeVar("Item")

_FIELDS = (
    "tree_id", "utterance_id", "question", "scenario", "answer", "history", "evidence", "kind",
    "created_at", "as_imported",
)  # fmt: skip


class ProjectSource:
    """A `Source` over the database. `doing` says what is being written, for progress."""

    def __init__(
        self, project: Project, splits: Sequence[Split], progress: Progress, *,
        allow_unverified: bool = False,
    ) -> None:  # fmt: skip
        self._project = project
        self._allow_unverified = allow_unverified
        self._progress = progress
        self.name = project.slug
        self.title = project.name
        self.language = project.language
        self.splits: tuple[str, ...] = tuple(split.value for split in splits)
        self.about = about(project, splits)
        self.doing = "writing"

    @cached_property
    def statistics(self) -> Statistics:
        """For the card: counted once, however many formats are written."""
        return statistics_of(self)

    def count(self, split: str) -> int:
        return self._rows(split).count()

    def _rows(self, split: str) -> UtteranceQuerySet:
        return exportable(self._project, split, allow_unverified=self._allow_unverified)

    def utterances(self, split: str) -> Iterator[UtteranceRow]:
        total = self.count(split)
        rows = self._rows(split).order_by("utterance_id").values_list(*_FIELDS)
        done = 0
        for chunk in _chunks(rows.iterator(chunk_size=UTTERANCES), UTTERANCES):
            self._progress(f"{self.doing}, {split}", done, total)
            trees = _sources_of({row[0] for row in chunk})
            yield from (_utterance(row, trees[row[0]]) for row in chunk)
            done += len(chunk)

    def trees(self, split: str) -> Iterator[TreeRow]:
        asked = self._rows(split).order_by().values("tree")
        trees = Tree.objects.filter(pk__in=asked)
        total = trees.count()
        done = 0
        keys = trees.order_by("tree_id").values_list("pk", flat=True)
        for chunk in _chunks(keys.iterator(chunk_size=TREES), TREES):
            self._progress(f"{self.doing}, trees of {split}", done, total)
            yield from _trees(chunk, self._rows(split))
            done += len(chunk)

    def documents(self, split: str) -> Iterator[DocumentRow]:
        asked = self._rows(split).order_by().values("tree__question__snippet__document")
        documents = Document.objects.filter(pk__in=asked).order_by("source_url", "version")
        rows = documents.without_texts()
        for chunk in _chunks(rows.iterator(chunk_size=DOCUMENTS), DOCUMENTS):
            snippets = _snippets_of([one.pk for one in chunk], self._rows(split))
            for one in chunk:
                texts = tuple(dict.fromkeys(snippets[one.pk]))
                yield DocumentRow(
                    one.source_url, one.version, one.title, one.created_at, texts, one.licence,
                    one.credit,
                )  # fmt: skip


def _chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    items = iter(items)
    while chunk := list(islice(items, size)):
        yield chunk


def _sources_of(trees: Iterable[int]) -> dict[int, tuple[str, str, str]]:
    """The tree's public id, source URL and rule text, by its key."""
    rows = Tree.objects.filter(pk__in=trees).values_list(
        "pk", "tree_id", "question__snippet__document__source_url", "question__snippet__text"
    )
    return {key: (tree_id, source_url, snippet) for key, tree_id, source_url, snippet in rows}


def _utterance(row: tuple[Any, ...], tree: tuple[str, str, str]) -> UtteranceRow:
    _, utterance_id, question, scenario, answer, history, evidence, kind, at, as_imported = row
    return UtteranceRow(
        utterance_id, *tree, question, scenario, answer, turns_from_json(history),
        turns_from_json(evidence), kind, at, as_imported,
    )  # fmt: skip


def _trees(keys: Sequence[int], told: UtteranceQuerySet) -> Iterator[TreeRow]:
    """The trees in the order of their public ids, with nodes and utterances: three queries."""
    nodes = _nodes_of(keys)
    utterances: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    rows = told.filter(tree__in=keys).order_by("utterance_id")
    for row in rows.values_list(*_FIELDS):
        utterances[row[0]].append(row)
    trees = Tree.objects.filter(pk__in=keys).order_by("tree_id").values_list(
        "pk", "tree_id", "question__snippet__document__source_url", "question__snippet__text",
        "question__snippet__document__title", "question__text", "created_at",
    )  # fmt: skip
    for key, tree_id, source_url, snippet, title, question, created_at in trees:
        found = tuple(_utterance(row, (tree_id, source_url, snippet)) for row in utterances[key])
        yield TreeRow(tree_id, source_url, title, snippet, question, created_at, nodes[key], found)


def _nodes_of(trees: Sequence[int]) -> dict[int, tuple[NodeRow, ...]]:
    """The live nodes of each tree, parents first, YES before NO."""
    rows: dict[int, list[Any]] = defaultdict(list)
    live = Node.objects.live().filter(tree__in=trees)
    fields = ("tree_id", "place", "kind", "text", "answer", "span_start", "span_end")
    for tree, *node in live.values_list(*fields):
        rows[tree].append(node)
    return defaultdict(tuple, {tree: tuple(_numbered(nodes)) for tree, nodes in rows.items()})


def _numbered(nodes: list[Any]) -> Iterator[NodeRow]:
    numbers: dict[str, int] = {}
    for place, kind, text, answer, start, end in sorted(nodes, key=_yes_before_no):
        numbers[place] = len(numbers)
        parent = numbers[place[:-1]] if place else -1
        edge = {"y": "Yes", "n": "No"}[place[-1]] if place else ""
        yield NodeRow(numbers[place], parent, edge, kind, text or answer, start, end)


def _yes_before_no(node: list[Any]) -> str:
    place: str = node[0]
    return place.translate({ord("y"): "0", ord("n"): "1"})


def _snippets_of(documents: Sequence[int], told: UtteranceQuerySet) -> dict[int, list[str]]:
    """The rule texts that trees with utterances have, in the order of their documents."""
    snippets: dict[int, list[str]] = defaultdict(list)
    asked = told.order_by().values("tree__question__snippet")
    rows = Snippet.objects.filter(document__in=documents, pk__in=asked).order_by("position", "pk")
    for document, text in rows.values_list("document_id", "text"):
        snippets[document].append(text)
    return snippets
