"""OR-ShARC (Gao et al. 2021): rule texts stand apart, to be found by the model.

A JSON object a line, escapes as in the official files; `id2snippet.json` holds all rule texts of
the exported splits. There are no Irrelevant utterances: no rule text would be theirs.
"""

import json
from collections.abc import Iterator
from hashlib import sha1
from pathlib import Path
from typing import Any

from apps.exports.formats.checks import (
    FormatError,
    Increasing,
    any_text,
    boolean,
    hex40,
    matching,
    object_of,
    path_of,
    text,
    turns,
)
from apps.exports.formats.files import (
    json_lines,
    locating,
    name_in,
    open_to_write,
    parse_file,
    split_files,
)
from apps.exports.formats.rows import SPLITS, Cut, Found, Options, Source, UtteranceRow
from apps.scenarios.domain.turns import turns_as_json

NAME = "or-sharc"
READERS = (
    "OR-ShARC JSON Lines: as ShARC, with the rule texts in a file of their own. Read by models "
    "that look for the rule text themselves."
)
MARKS: tuple[str, ...] = ("id2snippet.json", "open_retrieval_sharc_*.json")
CUT = Cut.WHOLE

RULE_TEXTS = "id2snippet.json"
_PATTERN = "open_retrieval_sharc_{split}.json"
_TRAIN = SPLITS[0]
_LEFT_OUT = "irrelevant"


def write(source: Source, folder: Path, options: Options) -> None:
    numbers = _write_rule_texts(source, folder)
    seen = {_digest(tree.snippet) for tree in source.trees(_TRAIN)}
    for split in source.splits:
        with open_to_write(folder / _PATTERN.format(split=split)) as stream:
            for row in source.utterances(split):
                if is_kept(row):
                    record = _record(row, numbers[_digest(row.snippet)])
                    if split != _TRAIN:
                        record["snippet_seen"] = _digest(row.snippet) in seen
                    stream.write(json.dumps(record) + "\n")


def is_kept(row: UtteranceRow) -> bool:
    return row.answer_class != _LEFT_OUT


def kept(classes: dict[str, int]) -> dict[str, int]:
    """Of how many utterances there are by class: those that are written."""
    return {name: count for name, count in classes.items() if name != _LEFT_OUT}


def _write_rule_texts(source: Source, folder: Path) -> dict[bytes, str]:
    """The number of each rule text, by its digest: the texts themselves may not fit in memory."""
    numbers: dict[bytes, str] = {}
    with open_to_write(folder / RULE_TEXTS) as stream:
        for split in source.splits:
            for tree in source.trees(split):
                digest = _digest(tree.snippet)
                if digest not in numbers:
                    stream.write(", " if numbers else "{")
                    numbers[digest] = str(len(numbers))
                    stream.write(f'"{numbers[digest]}": {json.dumps(tree.snippet)}')
        stream.write("}" if numbers else "{}")
    return numbers


def _digest(rule_text: str) -> bytes:
    return sha1(rule_text.encode(), usedforsecurity=False).digest()


def _record(row: UtteranceRow, number: str) -> dict[str, Any]:
    return {
        "utterance_id": row.utterance_id,
        "tree_id": row.tree_id,
        "source_url": row.source_url,
        "question": row.question,
        "scenario": row.scenario,
        "answer": row.answer,
        "history": turns_as_json(row.history),
        "evidence": turns_as_json(row.evidence),
        "gold_snippet_id": number,
    }


_FIELDS = {
    "utterance_id": hex40, "tree_id": hex40, "source_url": text, "question": text,
    "scenario": any_text, "answer": matching("(?s)(?!(Irrelevant|MORE)$).+", "an answer"),
    "history": turns, "evidence": turns, "gold_snippet_id": text,
}  # fmt: skip


def read(folder: Path) -> Iterator[Found]:
    rule_texts = _read_rule_texts(folder)
    for split, path in split_files(folder, _PATTERN):
        file = name_in(folder, path)
        fields = _FIELDS if split == _TRAIN else {**_FIELDS, "snippet_seen": boolean}
        check, order = object_of(fields), Increasing("utterance_id")
        with path.open("rb") as stream:
            for where, value in json_lines(stream, file):
                with locating(file, where):
                    check(value, "")
                    order.check(value["utterance_id"])
                if value["gold_snippet_id"] not in rule_texts:
                    raise FormatError(file, where, f"gold_snippet_id: not in {RULE_TEXTS}")
                yield Found(file, where, split, value, (_row(value, rule_texts),))


def _read_rule_texts(folder: Path) -> dict[str, str]:
    rule_texts: dict[str, str] = parse_file(folder, RULE_TEXTS)
    with locating(RULE_TEXTS, ""):
        object_of({str(number): text for number in range(len(rule_texts))})(rule_texts, "")
    return rule_texts


def _row(value: dict[str, Any], rule_texts: dict[str, str]) -> UtteranceRow:
    return UtteranceRow(
        value["utterance_id"], value["tree_id"], value["source_url"],
        rule_texts[value["gold_snippet_id"]], value["question"], value["scenario"],
        value["answer"], path_of(value["history"]), path_of(value["evidence"]),
    )  # fmt: skip
