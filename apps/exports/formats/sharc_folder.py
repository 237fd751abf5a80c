"""ShARC's folder: NAME/json/sharc_SPLIT.json and the two lists of ids of negatives."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from apps.exports.formats import sharc
from apps.exports.formats.checks import FieldError, FormatError, Increasing
from apps.exports.formats.files import locating, name_in, open_to_write, split_files
from apps.exports.formats.rows import Cut, Found, Options, Source, UtteranceRow
from apps.scenarios.domain.turns import turns_as_json

NAME = "sharc"
READERS = (
    "ShARC JSON: a file for each split and the two lists of negatives. Read by ShARC's own "
    "evaluator and by models for its task."
)
MARKS: tuple[str, ...] = ("*/json/sharc_*.json",)
CUT = Cut.WHOLE

LISTS = {
    "negative_question": "sharc_negative_question_utterance_ids.txt",
    "negative_scenario": "sharc_negative_scenario_utterance_ids.txt",
}
_LIST_FOLDER = "negative_sample_utterance_ids"


def write(source: Source, folder: Path, options: Options) -> None:
    root = folder / source.name
    negatives: dict[str, list[str]] = {kind: [] for kind in LISTS}
    for split in source.splits:
        with open_to_write(root / "json" / f"sharc_{split}.json") as stream:
            rows = _noting(source.utterances(split), negatives)
            records = (record_of(row, anonymise=options.anonymise) for row in rows)
            sharc.write_records(records, stream.write)
    for kind, name in LISTS.items():
        with open_to_write(root / _LIST_FOLDER / name) as stream:
            stream.writelines(f"{utterance_id}\n" for utterance_id in sorted(negatives[kind]))


def _noting(
    rows: Iterator[UtteranceRow], negatives: dict[str, list[str]]
) -> Iterator[UtteranceRow]:
    for row in rows:
        if row.kind in negatives:
            negatives[row.kind].append(row.utterance_id)
        yield row


def record_of(row: UtteranceRow, *, anonymise: bool) -> sharc.Record:
    """A record as it came is written so, unless it has fields that might name somebody."""
    kept = not anonymise or sharc.has_only_own_fields(row.as_imported)
    return sharc.Record(
        row.utterance_id, row.tree_id, row.source_url, row.snippet, row.question, row.scenario,
        row.answer, row.history, row.evidence, row.as_imported if kept else "",
    )  # fmt: skip


def read(folder: Path) -> Iterator[Found]:
    roots = {path.parent.parent for _, path in split_files(folder, "*/json/sharc_{split}.json")}
    root = min(roots)
    if others := sorted(roots - {root}):
        name = name_in(folder, others[0])
        raise FormatError(name, "", f"is there beside {root.name}: a folder holds one dataset")
    lists = {kind: _read_list(folder, root / _LIST_FOLDER / name) for kind, name in LISTS.items()}
    irrelevant: set[str] = set()
    for split, path in split_files(root, "json/sharc_{split}.json"):
        for found in _read_file(folder, path, split, lists):
            (row,) = found.utterances
            if row.answer == sharc.IRRELEVANT:
                irrelevant.add(row.utterance_id)
            yield found
    if odd := sorted(irrelevant ^ lists["negative_question"]):
        name = name_in(folder, root / _LIST_FOLDER / LISTS["negative_question"])
        raise FormatError(name, "", f"is not the list of the Irrelevant utterances: see {odd[0]}")


def _read_file(
    folder: Path, path: Path, split: str, lists: dict[str, frozenset[str]]
) -> Iterator[Found]:
    file = name_in(folder, path)
    order = Increasing("utterance_id")
    with path.open("rb") as stream:
        try:
            for number, record in enumerate(sharc.read_records(stream, file=file), 1):
                where = f"item {number}"
                with locating(file, where):
                    order.check(record.utterance_id)
                row = row_of(record)
                kind = next((kind for kind, ids in lists.items() if row.utterance_id in ids), "")
                row = replace(row, kind=kind or ("scenario" if row.scenario else "plain"))
                yield Found(file, where, split, value_of(record), (row,))
        except sharc.SharcError as error:
            raise FormatError("", "", str(error)) from None


def _read_list(folder: Path, path: Path) -> frozenset[str]:
    file = name_in(folder, path)
    if not path.is_file():
        raise FormatError(file, "", "missing")
    with path.open("rb") as stream:
        try:
            ids = sharc.read_ids(stream, file=file)
        except sharc.SharcError as error:
            raise FormatError("", "", str(error)) from None
    order = Increasing("id")
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        with locating(file, f"line {number}"):
            if len(line) != len(line.strip()) or not line:
                raise FieldError("id", "white space around it, or nothing else")
            order.check(line)
    return ids


def row_of(record: sharc.Record) -> UtteranceRow:
    return UtteranceRow(
        record.utterance_id, record.tree_id, record.source_url, record.snippet, record.question,
        record.scenario, record.answer, record.history, record.evidence,
        as_imported=record.as_imported,
    )  # fmt: skip


def value_of(record: sharc.Record) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(sharc.to_json(record))
    return value


def turn_fields(row: UtteranceRow) -> dict[str, Any]:
    return {"history": turns_as_json(row.history), "evidence": turns_as_json(row.evidence)}
