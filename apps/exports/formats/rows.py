"""What the writers of all formats read, and what their readers give back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Protocol

from apps.exports.formats.about import About
from apps.trees.domain.tree import Path

SPLITS = ("train", "dev", "test")
FINAL_ANSWERS = {"Yes": "yes", "No": "no", "Irrelevant": "irrelevant"}
CLASSES = ("yes", "no", "irrelevant", "more")
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class UtteranceRow:
    """One prediction problem. A reader fills in what its format carries.

    `kind` is plain, scenario, negative_question or negative_scenario. `as_imported` is the record
    as it came, ShARC's JSON, where its spelling differs from ours.
    """

    utterance_id: str
    tree_id: str
    source_url: str = ""
    snippet: str = ""
    question: str = ""
    scenario: str = ""
    answer: str = ""
    history: Path = ()
    evidence: Path = ()
    kind: str = ""
    created_at: datetime = LONG_AGO
    as_imported: str = ""

    @property
    def answer_class(self) -> str:
        return answer_class(self.answer)


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A live node; ids count from 0 within the tree, parents first, YES before NO.

    `parent_id` is -1 at the root, whose `edge` is empty; other edges are Yes or No. The span of
    the rule text, in code points, is where a question comes from.
    """

    node_id: int
    parent_id: int
    edge: str
    kind: str
    text: str
    span_start: int | None = None
    span_end: int | None = None


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A tree with its nodes and the utterances of the export, sorted by `utterance_id`."""

    tree_id: str
    source_url: str = ""
    title: str = ""
    snippet: str = ""
    question: str = ""
    created_at: datetime = LONG_AGO
    nodes: tuple[NodeRow, ...] = ()
    utterances: tuple[UtteranceRow, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A source document with its rule texts, each once, in the document's order."""

    source_url: str
    version: int
    title: str
    created_at: datetime
    snippets: tuple[str, ...]
    licence: str = ""
    attribution: str = ""


IsWanted = Callable[[str], bool]
"""Whether the utterance with this id is asked for."""


class Cut(Enum):
    """Into which pieces an export can be cut, so that several workers write it."""

    WHOLE = "its files say something about all splits"
    BY_SPLIT = "each split's files are what they are without the others"
    BY_FILE = "each file is what it is without the others: the module has `write_files`"


class Source(Protocol):
    """A project as an export reads it: streams, so that its size is no concern of a writer.

    `name` is letters, digits, - and _. `splits` are those that are exported, in the order of
    `SPLITS`; a writer may ask for others, too.
    """

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def about(self) -> About: ...
    @property
    def splits(self) -> Sequence[str]: ...

    def only(self, split: str) -> Source:
        """The same source, of which one split is exported."""

    def count(self, split: str) -> int:
        """How many utterances the split has."""

    def utterances(self, split: str, wanted: IsWanted | None = None) -> Iterator[UtteranceRow]:
        """Sorted by `utterance_id`; only those whose id is wanted."""

    def trees(self, split: str) -> Iterator[TreeRow]:
        """Trees that have utterances, sorted by `tree_id`."""

    def documents(self, split: str) -> Iterator[DocumentRow]:
        """Documents whose trees have utterances, sorted by `source_url` and version."""


@dataclass(frozen=True)
class Options:
    """What may be asked of an export; each format heeds what concerns it.

    Lengths are in characters and concern the texts `context` and `response`.
    """

    seed: int = 0
    shards: int = 1
    anonymise: bool = False
    byte_order_mark: bool = False
    min_length: int | None = None
    max_length: int | None = None
    only_follow_ups: bool = False
    fold_context: bool = False
    split_by_hash: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that a reader found valid: where it stands, and what it says.

    `value` is what stands there; `utterances` and `trees`, as far as the format carries them.
    """

    file: str
    where: str
    split: str
    value: Mapping[str, Any]
    utterances: tuple[UtteranceRow, ...] = ()
    trees: tuple[TreeRow, ...] = ()


def answer_class(answer: str) -> str:
    """The class that evaluators count: whatever is no final answer asks for more."""
    return FINAL_ANSWERS.get(answer, "more")
