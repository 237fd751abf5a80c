"""CSV for people (RFC 4180): one row per utterance, a file for each split.

History and evidence are text, a turn a line: `Are you over 60? Yes`. A cell that a spreadsheet
would take for a formula gets an apostrophe before it, and so does one that has one already: what
is read back is what was written.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from apps.exports.formats.checks import (
    Check,
    FieldError,
    FormatError,
    Increasing,
    any_text,
    hex40,
    one_of,
    same,
    text,
)
from apps.exports.formats.files import locating, name_in, open_to_write, split_files
from apps.exports.formats.rows import CLASSES, Cut, Found, Options, Source, UtteranceRow
from apps.trees.domain.tree import Answer, Turn
from apps.trees.domain.tree import Path as Turns

NAME = "csv"
READERS = "CSV: a table for each split. Read by people in a spreadsheet, formulas made harmless."
MARKS: tuple[str, ...] = ("utterances_*.csv",)
CUT = Cut.BY_SPLIT

_PATTERN = "utterances_{split}.csv"
_MARK = "\ufeff"
_LONGEST_CELL = 64 << 20
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_ANSWERED = re.compile(r"(?s)(.*) (Yes|No)")
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}
_UNESCAPES = {"\\": "\\", "n": "\n", "r": "\r"}

KINDS = ("plain", "scenario", "negative_question", "negative_scenario")
_CHECKS: dict[str, Check] = {
    "utterance_id": hex40, "tree_id": hex40, "source_url": text, "snippet": text,
    "question": text, "scenario": any_text, "history": any_text, "evidence": any_text,
    "answer": text, "answer_class": one_of(*CLASSES), "kind": one_of(*KINDS),
}  # fmt: skip
COLUMNS = tuple(_CHECKS)


def write(source: Source, folder: Path, options: Options) -> None:
    for split in source.splits:
        with open_csv(folder / _PATTERN.format(split=split)) as stream:
            stream.write(_MARK if options.byte_order_mark else "")
            writer = csv.writer(stream, lineterminator="\r\n")
            writer.writerow(COLUMNS)
            writer.writerows(map(_cells, source.utterances(split)))


def open_csv(path: Path) -> TextIO:
    """The csv module makes the line ends itself."""
    stream = open_to_write(path)
    stream.reconfigure(newline="")  # type: ignore[attr-defined]
    return stream


def _cells(row: UtteranceRow) -> list[str]:
    cells = [
        row.utterance_id, row.tree_id, row.source_url, row.snippet, row.question, row.scenario,
        _turns_as_text(row.history), _turns_as_text(row.evidence), row.answer, row.answer_class,
        row.kind,
    ]  # fmt: skip
    return list(map(harmless, cells))


def harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _turns_as_text(turns: Turns) -> str:
    return "\n".join(
        f"{_one_line(turn.follow_up_question)} {turn.follow_up_answer}" for turn in turns
    )


def _one_line(question: str) -> str:
    return re.sub(r"[\\\n\r]", lambda found: _ESCAPES[found[0]], question)


def _turns_from_text(cell: str, field: str) -> Turns:
    return tuple(_turn(line, field) for line in cell.split("\n")) if cell else ()


def _turn(line: str, field: str) -> Turn:
    found = _ANSWERED.fullmatch(line)
    if not found:
        raise FieldError(field, f"a line must end in Yes or No: “{line[:60]}”")
    question = _ESCAPED.sub(lambda escape: _UNESCAPES.get(escape[1], escape[0]), found[1])
    return Turn(question, Answer(found[2]))


def read(folder: Path) -> Iterator[Found]:
    for split, path in split_files(folder, _PATTERN):
        file = name_in(folder, path)
        order = Increasing("utterance_id")
        with path.open(encoding="utf-8-sig", newline="") as stream:
            for where, cells in _rows(stream, file):
                with locating(file, where):
                    value = _checked(cells)
                    order.check(value["utterance_id"])
                    row = _row(value)
                yield Found(file, where, split, value, (row,))


def _rows(stream: TextIO, file: str) -> Iterator[tuple[str, list[str]]]:
    before = csv.field_size_limit(_LONGEST_CELL)
    lines = _Lines(stream, file)
    reader = csv.reader(lines, strict=True)
    start = 1
    try:
        if tuple(next(reader, [])) != COLUMNS:
            raise FormatError(file, "line 1", f"the columns must be {', '.join(COLUMNS)}")
        start = reader.line_num + 1
        for cells in reader:
            yield f"line {start}", cells
            start = reader.line_num + 1
        if not lines.last.endswith("\r\n"):
            raise FormatError(file, f"line {start - 1}", "has no line end: the file is cut off")
    except csv.Error as error:
        raise FormatError(file, f"line {start}", f"not CSV: {error}") from None
    finally:
        csv.field_size_limit(before)


class _Lines(Iterator[str]):
    """The lines of a file, the last of them at hand."""

    def __init__(self, stream: Iterable[str], file: str) -> None:
        self._lines = iter(stream)
        self._file = file
        self.last = ""

    def __next__(self) -> str:
        try:
            self.last = next(self._lines)
        except UnicodeDecodeError as error:
            raise FormatError(self._file, "", f"not UTF-8: {error.reason}") from None
        return self.last


def _checked(cells: list[str]) -> dict[str, Any]:
    if len(cells) != len(COLUMNS):
        raise FieldError("", f"has {len(cells)} cells, must have {len(COLUMNS)}")
    value = dict(zip(COLUMNS, cells, strict=True))
    for column, check in _CHECKS.items():
        if _FORMULA.match(value[column]):
            if not value[column].startswith("'"):
                raise FieldError(column, "a spreadsheet would take it for a formula")
            value[column] = value[column][1:]
        check(value[column], column)
    return value


def _row(value: dict[str, str]) -> UtteranceRow:
    row = UtteranceRow(
        value["utterance_id"], value["tree_id"], value["source_url"], value["snippet"],
        value["question"], value["scenario"], value["answer"],
        _turns_from_text(value["history"], "history"),
        _turns_from_text(value["evidence"], "evidence"), value["kind"],
    )  # fmt: skip
    same(value["answer_class"], row.answer_class, "answer_class")
    return row
