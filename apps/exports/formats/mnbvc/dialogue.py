"""MNBVC's multi-turn dialogue: a line per turn, the turns of a session one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from apps.exports.formats.checks import FieldError, hex40, list_of, object_of, path_of, same
from apps.exports.formats.files import locating
from apps.exports.formats.mnbvc.lines import (
    COUNT,
    MOST_BYTES,
    PLACE,
    SOURCE_CHECKS,
    check_split,
    extra_of,
    question_answer,
    question_answer_check,
    read_lines,
    source_fields,
    write_lines,
)
from apps.exports.formats.mnbvc.sessions import Session, sessions
from apps.exports.formats.rows import Cut, Found, Options, Source, TreeRow, UtteranceRow
from apps.trees.domain.tree import Answer, Turn

NAME = "mnbvc-dialogue"
READERS = (
    "MNBVC multi-turn dialogue: a line per turn, grouped by session. Read by who trains Chinese "
    "language models."
)
MARKS: tuple[str, ...] = ("*_dialogue_*_*.jsonl",)
CUT = Cut.BY_SPLIT

_KIND = "dialogue"
_TWINS = "其他utterance_id"
"""Further utterances that say the same: the official data have some."""


def write(source: Source, folder: Path, options: Options) -> None:
    for split in source.splits:
        lines = (line for tree in source.trees(split) for line in _lines(tree, split, source.name))
        write_lines(source, folder, _KIND, split, lines, MOST_BYTES)


def _lines(tree: TreeRow, split: str, name: str) -> Iterator[Any]:
    for session in sessions(tree.utterances):
        turns = zip(session.user_turns, session.system_turns, session.steps, strict=True)
        for number, (asked, said, step) in enumerate(turns, 1):
            extra = _extra(session, step, number, split)
            yield question_answer(session.last, asked, said, extra, name)


def _extra(
    session: Session, step: tuple[UtteranceRow, ...], number: int, split: str
) -> dict[str, Any]:
    ids = [row.utterance_id for row in step]
    extra = {
        "会话": session.number,
        "多轮序号": number,
        **source_fields(session.last, split),
        "utterance_id": ids[0] if ids else "",
    }
    return {**extra, _TWINS: ids[1:]} if ids[1:] else extra


def _id_or_nothing(value: Any, field: str) -> None:
    if value != "":
        hex40(value, field)


_CHECK = question_answer_check(
    object_of(
        {**SOURCE_CHECKS, "utterance_id": _id_or_nothing, "会话": COUNT, "多轮序号": COUNT},
        {_TWINS: list_of(hex40)},
    )
)


def read(folder: Path) -> Iterator[Found]:
    told: list[Turn] = []
    opening: dict[str, Any] = {}
    tree, seen = "", set[str]()
    for file, where, split, value in read_lines(folder, _KIND, _CHECK):
        extra = extra_of(value["元数据"])
        with locating(file, where):
            check_split(extra, split)
            if extra["多轮序号"] == 1:
                told, opening = [], {"会话": extra["会话"], "问": value["问"], "答": value["答"]}
            else:
                told.append(_answered(value, opening, extra, len(told)))
                opening["答"] = value["答"]
        if extra["tree_id"] != tree:
            tree, seen = extra["tree_id"], set()
        rows = tuple(_rows(value, extra, opening.get("问", ""), told))
        yield Found(file, where, split, value, _new(rows, seen))


def _new(rows: tuple[UtteranceRow, ...], seen: set[str]) -> tuple[UtteranceRow, ...]:
    """Those that no session of the tree had before: sessions share their beginnings."""
    new = tuple(row for row in rows if row.utterance_id not in seen)
    seen.update(row.utterance_id for row in new)
    return new


def _answered(
    value: dict[str, Any], opening: dict[str, Any], extra: dict[str, Any], before: int
) -> Turn:
    """The turn that the line before asked for, and this one answers."""
    same(extra["会话"], opening.get("会话"), f"元数据.{PLACE}.会话")
    same(extra["多轮序号"], before + 2, f"元数据.{PLACE}.多轮序号")
    if value["问"] not in [*Answer]:
        raise FieldError("问", "must be Yes or No, the answer to the line before")
    return Turn(opening["答"], Answer(value["问"]))


def _rows(
    value: dict[str, Any], extra: dict[str, Any], question: str, told: list[Turn]
) -> Iterator[UtteranceRow]:
    ids = [extra["utterance_id"], *extra.get(_TWINS, [])]
    for utterance_id in filter(None, ids):
        yield UtteranceRow(
            utterance_id, extra["tree_id"], extra["来源网址"], extra["规则文本"], question,
            extra["情景"], value["答"], tuple(told), path_of(extra["证据"]),
        )  # fmt: skip
