"""A project as an export reads it from the database: in chunks, and as it was at one moment.

What is read here goes into a snapshot (snapshot.py); nothing else reads the project for an export.
Rows are tuples in the order of their fields below; keys are the database's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.models import TextField
from django.db.models.functions import Cast

from apps.exports.formats.rows import NodeRow
from apps.exports.services.exportable import exportable
from apps.projects.models import Project, Split
from apps.snippets.models import Document
from apps.trees.models import Node, Tree

Row = tuple[Any, ...]

AT_ONCE = 500
"""Rows that are asked for by their keys: SQLite takes a limited number of them."""
UTTERANCES = 2000

Item = TypeVar("Item")

UTTERANCE = (
    "utterance_id", "tree_id", "question", "scenario", "answer", "history_text", "evidence_text",
    "kind", "created_at", "as_imported",
)  # fmt: skip
TREE = (
    "pk", "question__snippet__document", "tree_id", "question__text", "created_at",
    "question__snippet__position", "question__snippet", "question__snippet__text",
)  # fmt: skip


@contextmanager
def one_state() -> Iterator[None]:
    """All that is read inside is as it was at the first of it, whatever is written meanwhile.

    On SQLite a transaction that only reads keeps nobody from writing; Django's own would, since
    they take the lock at their start. Inside the caller's transaction it is that one that counts.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")
    else:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield


@contextmanager
def outside(tell: Callable[[int], None]) -> Iterator[Callable[[int], None]]:
    """The same, on a connection of its own: it writes while this thread's may only read."""
    if connection.in_atomic_block:
        yield tell
        return
    with ThreadPoolExecutor(1) as pool:
        try:
            yield lambda number: pool.submit(tell, number).result()
        finally:
            # Not `connection.close`, which would be this thread's.
            pool.submit(lambda: connection.close()).result()


def utterances(project: Project, split: Split, *, allow_unverified: bool) -> Iterator[Row]:
    """What the export holds of a split, sorted by `utterance_id`."""
    rows = exportable(project, split, allow_unverified=allow_unverified)
    told = rows.annotate(
        history_text=Cast("history", TextField()), evidence_text=Cast("evidence", TextField())
    )
    ordered = told.order_by("utterance_id").values_list(*UTTERANCE)
    yield from ordered.iterator(chunk_size=UTTERANCES)


def trees(keys: Iterable[int]) -> Iterator[tuple[Row, tuple[NodeRow, ...]]]:
    """The trees with these keys, each with its live nodes: two queries for some hundred."""
    for some in chunks(keys, AT_ONCE):
        nodes = _nodes_of(some)
        for tree in Tree.objects.filter(pk__in=some).order_by("pk").values_list(*TREE):
            yield tree, nodes[tree[0]]


def documents(keys: Iterable[int]) -> Iterator[Row]:
    for some in chunks(keys, AT_ONCE):
        for one in Document.objects.filter(pk__in=some).without_texts().order_by("pk"):
            yield (
                one.pk, one.source_url, one.version, one.title, one.created_at, one.licence,
                one.credit,
            )  # fmt: skip


def chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    items = iter(items)
    while chunk := list(islice(items, size)):
        yield chunk


def _nodes_of(trees: Sequence[int]) -> dict[int, tuple[NodeRow, ...]]:
    """The live nodes of each tree, parents first, YES before NO."""
    rows: dict[int, list[Any]] = defaultdict(list)
    live = Node.objects.live().filter(tree__in=trees)
    fields = ("tree_id", "place", "kind", "text", "answer", "span_start", "span_end")
    for tree, *node in live.order_by().values_list(*fields).iterator():
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
