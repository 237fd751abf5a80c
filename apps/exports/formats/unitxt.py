"""unitxt 1.26: SPLIT.jsonl, and a catalog with a card, a task and a template that load them.

All rows have the same keys and no nulls, and no column is called so that its loader would make
dates or numbers of it. Used from the folder of the export, with UNITXT_CATALOGS naming it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from apps.exports.formats.checks import (
    FieldError,
    Increasing,
    any_text,
    hex40,
    list_of,
    number,
    object_of,
    one_of,
    same,
    text,
)
from apps.exports.formats.files import (
    json_lines,
    locating,
    name_in,
    open_to_write,
    parse_file,
    split_files,
    write_json_lines,
)
from apps.exports.formats.rows import CLASSES, Cut, Found, Options, Source, UtteranceRow
from apps.trees.domain.tree import Answer, Turn
from apps.trees.domain.tree import Path as Turns

NAME = "unitxt"
READERS = (
    "unitxt: JSON Lines with a task card. Read by unitxt, which compares language models on a "
    "task, without a network."
)
MARKS: tuple[str, ...] = ("cards/*.json",)
CUT = Cut.WHOLE

_PATTERN = "{split}.jsonl"
_CATALOG = ("cards", "tasks", "templates")


def write(source: Source, folder: Path, options: Options) -> None:
    for split in source.splits:
        write_json_lines(folder / _PATTERN.format(split=split), map(_row, source.utterances(split)))
    for kind, content in catalog(source.name, source.splits).items():
        with open_to_write(folder / kind / f"{source.name}.json") as stream:
            stream.write(json.dumps(content, ensure_ascii=False, indent=4) + "\n")


def _row(row: UtteranceRow) -> dict[str, Any]:
    user = [f"{row.scenario}\n\n{row.question}" if row.scenario else row.question]
    user += [turn.follow_up_answer.value for turn in row.history]
    assistant = [turn.follow_up_question for turn in row.history]
    return {
        "utterance_id": row.utterance_id,
        "tree_id": row.tree_id,
        "source_url": row.source_url,
        "snippet": row.snippet,
        "question": row.question,
        "scenario": row.scenario,
        "answer": row.answer,
        "answer_class": row.answer_class,
        "num_turns": len(row.history),
        "user_turns": user,
        "assistant_turns": assistant,
        "user_turns_literal": repr(user),
        "assistant_turns_literal": repr(assistant),
    }


def catalog(name: str, splits: Sequence[str]) -> dict[str, Any]:
    """The files of the catalog by their folder; unitxt finds them as cards.NAME and so on."""
    return {"cards": _card(name, splits), "tasks": _task(), "templates": _template()}


def _card(name: str, splits: Sequence[str]) -> dict[str, Any]:
    names = {split: "validation" if split == "dev" else split for split in splits}
    return {
        "__type__": "task_card",
        "loader": {
            "__type__": "load_json_file",
            "files": {split: _PATTERN.format(split=split) for split in splits},
            "lines": True,
        },
        "preprocess_steps": [
            {"__type__": "rename_splits", "mapper": names},
            {
                "__type__": "filter_by_condition",
                "values": {"answer_class": list(CLASSES)},
                "condition": "in",
            },
            {"__type__": "rename", "field_to_field": {"snippet": "rule_text"}},
            {"__type__": "literal_eval", "field": "user_turns_literal", "to_field": "said"},
            {"__type__": "literal_eval", "field": "assistant_turns_literal", "to_field": "asked"},
            {
                "__type__": "interleave_lists_to_dialog_operator",
                "user_turns_field": "said",
                "assistant_turns_field": "asked",
                "to_field": "dialog",
            },
            {
                "__type__": "dictify",
                "field": "dialog",
                "with_keys": ["role", "content"],
                "process_every_value": True,
            },
        ],
        "task": f"tasks.{name}",
        "templates": [f"templates.{name}"],
    }


def _task() -> dict[str, Any]:
    return {
        "__type__": "task",
        "input_fields": {"rule_text": "str", "dialog": "Dialog"},
        "reference_fields": {"answer": "str"},
        "prediction_type": "str",
        "metrics": ["metrics.accuracy"],
    }


def _template() -> dict[str, Any]:
    return {
        "__type__": "input_output_template",
        "instruction": "Say what the rule text means for the user: Yes, No, Irrelevant, or the "
        "follow-up question that has to be answered first.",
        "input_format": "{rule_text}\n\n{dialog}",
        "output_format": "{answer}",
    }


_FIELDS = object_of({
    "utterance_id": hex40, "tree_id": hex40, "source_url": text, "snippet": text,
    "question": text, "scenario": any_text, "answer": text, "answer_class": one_of(*CLASSES),
    "num_turns": number, "user_turns": list_of(text), "assistant_turns": list_of(text),
    "user_turns_literal": text, "assistant_turns_literal": text,
})  # fmt: skip


def read(folder: Path) -> Iterator[Found]:
    splits = [split for split, _ in split_files(folder, _PATTERN)]
    _check_catalog(folder, splits)
    for split, path in split_files(folder, _PATTERN):
        file = name_in(folder, path)
        order = Increasing("utterance_id")
        with path.open("rb") as stream:
            for where, value in json_lines(stream, file):
                with locating(file, where):
                    _FIELDS(value, "")
                    row = _read_row(value)
                    order.check(row.utterance_id)
                    for key, expected in _row(row).items():
                        same(value[key], expected, key)
                yield Found(file, where, split, value, (row,))


def _check_catalog(folder: Path, splits: list[str]) -> None:
    (card,) = sorted(folder.glob("cards/*.json")) or [folder / "cards/NAME.json"]
    for kind, content in catalog(card.stem, splits).items():
        file = f"{kind}/{card.name}"
        found = parse_file(folder, file)
        with locating(file, ""):
            for key, expected in content.items():
                same(found.get(key), expected, key)


def _read_row(value: dict[str, Any]) -> UtteranceRow:
    said, asked = value["user_turns"], value["assistant_turns"]
    if len(said) != len(asked) + 1:
        raise FieldError("assistant_turns", "must be exactly one fewer than user_turns")
    return UtteranceRow(
        value["utterance_id"], value["tree_id"], value["source_url"], value["snippet"],
        value["question"], value["scenario"], value["answer"], _history(asked, said[1:]),
    )  # fmt: skip


def _history(asked: list[str], answers: list[str]) -> Turns:
    if not {*answers} <= {*Answer}:
        raise FieldError("user_turns", "after the question, each must be Yes or No")
    pairs = zip(asked, answers, strict=True)
    return tuple(Turn(question, Answer(answer)) for question, answer in pairs)
