"""The columns of both configurations: for Parquet, for the card's YAML, and for checks."""

from __future__ import annotations

from typing import Any

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

Features = dict[str, Any]
"""Each column's type by its name: Parquet's, or the features of a list's items."""

_TURNS: Features = {"follow_up_question": "string", "follow_up_answer": "string"}
_NODES: Features = {
    "node_id": "int32", "parent_id": "int32", "edge": "string", "kind": "string",
    "text": "string", "span_start": "int32", "span_end": "int32",
}  # fmt: skip
CLASS = "answer_class"
"""The column whose numbers stand for names, those of `CLASSES`."""

CONFIGS: dict[str, Features] = {
    "utterances": {
        "utterance_id": "string", "tree_id": "string", "source_url": "string",
        "snippet": "string", "question": "string", "scenario": "string", "answer": "string",
        "history": _TURNS, "evidence": _TURNS, CLASS: "int64",
        "negative_question": "bool", "negative_scenario": "bool",
    },
    "trees": {
        "tree_id": "string", "source_url": "string", "snippet": "string", "question": "string",
        "nodes": _NODES,
    },
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
