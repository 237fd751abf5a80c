"""The state of a project that an export holds, in one file: written once, then only read.

People go on working while an export runs, and several workers write it. So one of them first reads
the project as it is at one moment into a file of its own, an SQLite database, whatever database the
studio runs on; all writers read that, and never the project.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from copy import copy
from dataclasses import asdict
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from apps.exports.formats.about import About
from apps.exports.formats.card import statistics_of
from apps.exports.formats.rows import (
    DocumentRow,
    IsWanted,
    NodeRow,
    TreeRow,
    UtteranceRow,
    answer_class,
)
from apps.exports.formats.statistics import Statistics
from apps.exports.services import reading
from apps.exports.services.about import about, about_unverified
from apps.exports.services.reading import Row
from apps.projects.models import Project, Split
from apps.scenarios.domain.turns import turns_from_json
from apps.trees.domain.tree import Path as Turns

_SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE head (value TEXT NOT NULL);
CREATE TABLE utterance (
  number INTEGER PRIMARY KEY, utterance_id TEXT NOT NULL, tree INTEGER NOT NULL,
  question TEXT NOT NULL, scenario TEXT NOT NULL, answer TEXT NOT NULL, history TEXT NOT NULL,
  evidence TEXT NOT NULL, kind TEXT NOT NULL, created_at TEXT NOT NULL, as_imported TEXT NOT NULL
);
CREATE TABLE tree (
  key INTEGER PRIMARY KEY, document INTEGER NOT NULL, tree_id TEXT NOT NULL, question TEXT NOT NULL,
  created_at TEXT NOT NULL, position INTEGER NOT NULL, snippet_key INTEGER NOT NULL,
  snippet TEXT NOT NULL, nodes TEXT NOT NULL, split TEXT NOT NULL
);
CREATE TABLE document (
  key INTEGER PRIMARY KEY, source_url TEXT NOT NULL, version INTEGER NOT NULL,
  title TEXT NOT NULL, created_at TEXT NOT NULL, licence TEXT NOT NULL, attribution TEXT NOT NULL
);
"""
_INDEXES = """
CREATE INDEX utterance_of_tree ON utterance (tree, number);
CREATE INDEX tree_in_order ON tree (split, tree_id);
CREATE INDEX tree_of_document ON tree (document, position, snippet_key);
"""
_UTTERANCES = """
SELECT utterance_id, tree_id, source_url, snippet, utterance.question, scenario, answer, history,
       evidence, kind, utterance.created_at, as_imported
FROM utterance CROSS JOIN tree ON tree.key = utterance.tree
CROSS JOIN document ON document.key = tree.document
"""
_OF_SPLIT = f"{_UTTERANCES} WHERE number BETWEEN ? AND ? ORDER BY number"
_WANTED = f"{_UTTERANCES} WHERE number BETWEEN ? AND ? AND wanted(utterance_id) ORDER BY number"
_OF_TREE = f"{_UTTERANCES} WHERE utterance.tree = ? ORDER BY number"
_TREES = """
SELECT tree.key, tree_id, source_url, title, snippet, question, tree.created_at, nodes
FROM tree CROSS JOIN document ON document.key = tree.document WHERE split = ? ORDER BY tree_id
"""
_DOCUMENTS = """
SELECT key, source_url, version, title, created_at, licence, attribution FROM document
WHERE key IN (SELECT document FROM tree WHERE split = ?) ORDER BY source_url, version
"""
_SNIPPETS = """
SELECT snippet FROM tree WHERE document = ? AND split = ? ORDER BY position, snippet_key
"""
_ANSWERS = """
SELECT CASE WHEN answer IN ('Yes', 'No', 'Irrelevant') THEN answer ELSE '' END AS given, COUNT(*)
FROM utterance WHERE number BETWEEN ? AND ? GROUP BY given
"""
_NONE = (1, 0)
"""From the first number to the last, of a split without utterances."""
EACH = 1000

RowsRead = Callable[[int], None]
"""Called with how many more utterances went by, some hundred at a time."""


def take_snapshot(
    project: Project, splits: Sequence[Split], path: Path, read: RowsRead, *,
    allow_unverified: bool,
) -> None:  # fmt: skip
    """Writes the file; it appears when it is whole."""
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)
    with reading.outside(read) as say, closing(sqlite3.connect(partial)) as target:
        target.executescript(_SCHEMA)
        with reading.one_state():
            head = _head(project, splits, about_unverified if allow_unverified else about)
            for split in splits:
                rows = reading.utterances(project, split, allow_unverified=allow_unverified)
                head["ranges"][split.value] = _keep_utterances(target, _telling(rows, say))
                _keep_trees(target, split, head["ranges"][split.value])
            _keep_documents(target)
        target.executescript(_INDEXES)
        head["state"] = _digest(target, head)
        target.execute("INSERT INTO head VALUES (?)", [json.dumps(head)])
        target.commit()
    with partial.open("rb") as stream:
        os.fsync(stream.fileno())
    partial.replace(path)


def _head(
    project: Project, splits: Sequence[Split], tell: Callable[[Project, Sequence[Split]], About]
) -> dict[str, Any]:
    return {
        "name": project.slug,
        "title": project.name,
        "language": project.language,
        "about": asdict(tell(project, splits)),
        "splits": [split.value for split in splits],
        "ranges": {},
    }


def _telling(rows: Iterable[Row], read: RowsRead) -> Iterator[Row]:
    for some in reading.chunks(rows, EACH):
        yield from some
        read(len(some))


def _keep_utterances(target: sqlite3.Connection, rows: Iterable[Row]) -> list[int]:
    """Numbers them on from those that are there; returns the first number and the last."""
    first = _last_number(target) + 1
    marks = ", ".join("?" * len(reading.UTTERANCE))
    target.executemany(
        f"INSERT INTO utterance VALUES (NULL, {marks})",  # noqa: S608 - marks only
        map(_storable, rows),
    )
    return [first, _last_number(target)]


def _last_number(target: sqlite3.Connection) -> int:
    (last,) = target.execute("SELECT COALESCE(MAX(number), 0) FROM utterance").fetchone()
    return int(last)


def _keep_trees(target: sqlite3.Connection, split: Split, numbers: Sequence[int]) -> None:
    asked = target.execute(
        "SELECT DISTINCT tree FROM utterance WHERE number BETWEEN ? AND ? ORDER BY tree", numbers
    )
    marks = ", ".join("?" * (len(reading.TREE) + 2))
    for tree, nodes in reading.trees(key for (key,) in asked):
        listed = json.dumps([_values_of(node) for node in nodes])
        target.execute(
            f"INSERT INTO tree VALUES ({marks})",  # noqa: S608 - marks only
            [*_storable(tree), listed, split.value],
        )


def _keep_documents(target: sqlite3.Connection) -> None:
    asked = target.execute("SELECT DISTINCT document FROM tree ORDER BY document")
    for document in reading.documents(key for (key,) in asked):
        target.execute("INSERT INTO document VALUES (?, ?, ?, ?, ?, ?, ?)", _storable(document))


def _storable(row: Row) -> Row:
    return tuple(one.isoformat() if isinstance(one, datetime) else one for one in row)


def _values_of(node: NodeRow) -> list[Any]:
    return [getattr(node, name) for name in NodeRow.__slots__]


def _digest(target: sqlite3.Connection, head: dict[str, Any]) -> str:
    """Of all that a format can tell: the same content has the same, whatever its keys are."""
    seen = sha256(json.dumps({**head, "ranges": {}}).encode())
    for row in target.execute(f"{_UTTERANCES} ORDER BY number"):
        seen.update(json.dumps(row).encode())
    for split in head["splits"]:
        for asked in (_TREES, _DOCUMENTS):
            for _, *row in target.execute(asked, [split]):
                seen.update(json.dumps(row).encode())
    return seen.hexdigest()


@contextmanager
def open_snapshot(path: Path, read: RowsRead) -> Iterator[Snapshot]:
    """For one thread. `read` hears of the utterances that go by, in whatever order."""
    address = f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as stored:
        yield Snapshot(stored, read)


class Snapshot:
    """A `Source` over the file."""

    def __init__(self, stored: sqlite3.Connection, read: RowsRead) -> None:
        self._stored, self._read = stored, read
        head = json.loads(stored.execute("SELECT value FROM head").fetchone()[0])
        self.name: str = head["name"]
        self.title: str = head["title"]
        self.language: str = head["language"]
        self.about = About.from_json(head["about"])
        self.splits: tuple[str, ...] = tuple(head["splits"])
        self.state: str = head["state"]
        self._ranges: dict[str, list[int]] = head["ranges"]

    def only(self, split: str) -> Snapshot:
        other = copy(self)
        other.splits = (split,)
        return other

    @cached_property
    def statistics(self) -> Statistics:
        """For cards: counted once, however many formats are written."""
        return statistics_of(self)

    def count(self, split: str) -> int:
        first, last = self._ranges.get(split, _NONE)
        return last - first + 1

    def classes(self, split: str) -> dict[str, int]:
        """How many utterances of the split have an answer of each class that there is."""
        counts: Counter[str] = Counter()
        for answer, count in self._stored.execute(_ANSWERS, self._ranges.get(split, _NONE)):
            counts[answer_class(answer)] += count
        return dict(sorted(counts.items()))

    def utterances(self, split: str, wanted: IsWanted | None = None) -> Iterator[UtteranceRow]:
        if wanted:
            self._stored.create_function("wanted", 1, wanted, deterministic=True)
        asked = _WANTED if wanted else _OF_SPLIT
        rows = self._stored.execute(asked, self._ranges.get(split, _NONE))
        yield from map(_utterance, _telling(rows, self._read))

    def trees(self, split: str) -> Iterator[TreeRow]:
        waiting = 0
        for key, tree_id, source_url, title, snippet, question, at, nodes in self._stored.execute(
            _TREES, [split]
        ):
            found = tuple(map(_utterance, self._stored.execute(_OF_TREE, [key])))
            yield TreeRow(
                tree_id, source_url, title, snippet, question, datetime.fromisoformat(at),
                tuple(NodeRow(*node) for node in json.loads(nodes)), found,
            )  # fmt: skip
            waiting += len(found)
            if waiting >= EACH:
                self._read(waiting)
                waiting = 0

    def documents(self, split: str) -> Iterator[DocumentRow]:
        for key, source_url, version, title, at, *rights in self._stored.execute(
            _DOCUMENTS, [split]
        ):
            texts = dict.fromkeys(text for (text,) in self._stored.execute(_SNIPPETS, [key, split]))
            created_at = datetime.fromisoformat(at)
            yield DocumentRow(source_url, version, title, created_at, tuple(texts), *rights)


def _utterance(row: Row) -> UtteranceRow:
    history, evidence, kind, at, as_imported = row[7:]
    created_at = datetime.fromisoformat(at)
    said = [*row[:7], _turns(history), _turns(evidence), kind, created_at, as_imported]
    return UtteranceRow(*said)


def _turns(listed: str) -> Turns:
    return turns_from_json(json.loads(listed)) if listed != "[]" else ()
