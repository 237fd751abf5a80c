"""The columns of both configurations: for Parquet, for the card's YAML, and for checks."""

from __future__ import annotations

from typing import Any

import pyarrow

from apps.exports.formats.checks import (
    Check,
    FieldError,
    any_text,
    boolean,
    hex40,
    list_of,
    number,
    object_of,
    one_of,
    same,
    text,
    turns,
    type_name,
)
from apps.exports.formats.rows import CLASSES

_TEXT, _NUMBER = pyarrow.string(), pyarrow.int32()


def _list_of(*fields: tuple[str, Any]) -> Any:
    # The name that Parquet's own specification gives it: read back, it is the same type.
    return pyarrow.list_(pyarrow.field("element", pyarrow.struct(fields)))


_TURNS = _list_of(("follow_up_question", _TEXT), ("follow_up_answer", _TEXT))
_NODES = _list_of(
    ("node_id", _NUMBER), ("parent_id", _NUMBER), ("edge", _TEXT), ("kind", _TEXT),
    ("text", _TEXT), ("span_start", _NUMBER), ("span_end", _NUMBER),
)  # fmt: skip

CONFIGS: dict[str, Any] = {
    "utterances": pyarrow.schema([
        ("utterance_id", _TEXT), ("tree_id", _TEXT), ("source_url", _TEXT), ("snippet", _TEXT),
        ("question", _TEXT), ("scenario", _TEXT), ("answer", _TEXT), ("history", _TURNS),
        ("evidence", _TURNS), ("answer_class", pyarrow.int64()),
        ("negative_question", pyarrow.bool_()), ("negative_scenario", pyarrow.bool_()),
    ]),
    "trees": pyarrow.schema([
        ("tree_id", _TEXT), ("source_url", _TEXT), ("snippet", _TEXT), ("question", _TEXT),
        ("nodes", _NODES),
    ]),
}  # fmt: skip


def _whole(value: Any, field: str) -> None:
    if type(value) is not int or value < -1:
        raise FieldError(field, f"must be a whole number from -1 on, not {type_name(value)}")


def _perhaps(value: Any, field: str) -> None:
    if value is not None:
        number(value, field)


_NODE = object_of({
    "node_id": number, "parent_id": _whole, "edge": one_of("", "Yes", "No"),
    "kind": one_of("question", "answer"), "text": text, "span_start": _perhaps,
    "span_end": _perhaps,
})  # fmt: skip
_ROWS: dict[str, Check] = {
    "utterances": object_of({
        "utterance_id": hex40, "tree_id": hex40, "source_url": text, "snippet": text,
        "question": text, "scenario": any_text, "answer": text, "history": turns,
        "evidence": turns, "answer_class": one_of(*range(len(CLASSES))),
        "negative_question": boolean, "negative_scenario": boolean,
    }),
    "trees": object_of({
        "tree_id": hex40, "source_url": text, "snippet": text, "question": text,
        "nodes": list_of(_NODE),
    }),
}  # fmt: skip


def check_row(config: str, value: Any) -> None:
    """Raises FieldError."""
    _ROWS[config](value, "")
    if config == "trees":
        _check_nodes(value["nodes"], len(value["snippet"]))


def _check_nodes(nodes: list[dict[str, Any]], length: int) -> None:
    """Parents come first, each branch once, spans lie in the rule text."""
    branches: set[tuple[int, str]] = set()
    for index, node in enumerate(nodes):
        field = f"nodes[{index}]"
        same(node["node_id"], index, f"{field}.node_id")
        branch = node["parent_id"], node["edge"]
        is_root = index == 0
        if is_root != (branch == (-1, "")) or branch[0] >= index or branch in branches:
            raise FieldError(f"{field}.parent_id", "is not a node before it with that branch free")
        branches.add(branch)
        start, end = node["span_start"], node["span_end"]
        if (start is None) != (end is None) or (end and not (start or 0) < end <= length):
            raise FieldError(f"{field}.span_end", "the span is not in the rule text")
