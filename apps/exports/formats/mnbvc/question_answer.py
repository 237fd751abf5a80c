"""MNBVC's question-answer: a line per utterance; question, scenario and history are its lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from apps.exports.formats.checks import Increasing, object_of, path_of, same, text, turns
from apps.exports.formats.files import locating
from apps.exports.formats.mnbvc.lines import (
    MOST_BYTES,
    SOURCE_CHECKS,
    check_split,
    extra_of,
    question_answer,
    question_answer_check,
    read_lines,
    source_fields,
    write_lines,
)
from apps.exports.formats.rows import Cut, Found, Options, Source, UtteranceRow
from apps.scenarios.domain.turns import turns_as_json

NAME = "mnbvc-qa"
READERS = (
    "MNBVC question and answer: a line per utterance. Read by who trains Chinese language models."
)
MARKS: tuple[str, ...] = ("*_qa_*_*.jsonl",)
CUT = Cut.BY_SPLIT

_KIND = "qa"
_CHECK = question_answer_check(object_of({**SOURCE_CHECKS, "问题": text, "历史": turns}))


def write(source: Source, folder: Path, options: Options) -> None:
    for split in source.splits:
        lines = (_line(row, split, source.name) for row in source.utterances(split))
        write_lines(source, folder, _KIND, split, lines, MOST_BYTES)


def _line(row: UtteranceRow, split: str, name: str) -> Any:
    extra = {**source_fields(row, split), "问题": row.question, "历史": turns_as_json(row.history)}
    return question_answer(row, _asked(row), row.answer, extra, name)


def _asked(row: UtteranceRow) -> str:
    told = [f"{turn.follow_up_question} {turn.follow_up_answer}" for turn in row.history]
    return "\n".join([row.question, *filter(None, [row.scenario]), *told])


def read(folder: Path) -> Iterator[Found]:
    orders: dict[str, Increasing] = {}
    for file, where, split, value in read_lines(folder, _KIND, _CHECK):
        extra = extra_of(value["元数据"])
        row = UtteranceRow(
            extra["utterance_id"], extra["tree_id"], extra["来源网址"], extra["规则文本"],
            extra["问题"], extra["情景"], value["答"], path_of(extra["历史"]),
            path_of(extra["证据"]),
        )  # fmt: skip
        with locating(file, where):
            check_split(extra, split)
            same(value["问"], _asked(row), "问")
            orders.setdefault(split, Increasing("utterance_id")).check(row.utterance_id)
        yield Found(file, where, split, value, (row,))
