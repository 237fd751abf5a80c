"""ShARC's own JSON (Saeidi et al. 2018): one array on one line, `json.dump` defaults.

Read: an array or JSON Lines. Misspelt keys and answers of turns, as the official dev set has them,
are repaired; the record as it came is kept beside, and written again.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from sys import intern
from typing import Any, BinaryIO

from apps.exports.formats.json_items import JsonError, read_items
from apps.scenarios.domain.turns import TURN_KEYS, turns_as_json
from apps.trees.domain.tree import Answer, Path, Turn, contradictions

IRRELEVANT = "Irrelevant"
FINAL_ANSWERS = (Answer.YES.value, Answer.NO.value, IRRELEVANT)
MAX_URL = 2000

_KEYS = (
    "utterance_id", "tree_id", "source_url", "snippet", "question", "scenario", "answer",
    "history", "evidence",
)  # fmt: skip
_MAY_BE_EMPTY = {"scenario"}
_MISSPELT_KEYS = {"followup_question": TURN_KEYS[0], "followup_answer": TURN_KEYS[1]}
_MISSPELT_ANSWERS = {"yes": Answer.YES, "no": Answer.NO, "Noe": Answer.NO}
_ID = re.compile(r"[0-9a-f]{40}")
_BLANKS = "".join(map(chr, [*range(0x21), 0x85, 0xA0, 0x1680, *range(0x2000, 0x2010), 0x2028,
                            0x2029, 0x202F, 0x205F, 0x2060, 0x3000, 0xFEFF]))  # fmt: skip
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # NUL, and halves of surrogate pairs
_ONE_WORD = re.compile(r"\W*[A-Za-z]*\W*")


class Repair(StrEnum):
    """What the reader puts right."""

    MISSPELT_KEY = "misspelt key"
    MISSPELT_ANSWER = "misspelt answer"


@dataclass(frozen=True, slots=True)
class Record:
    """One utterance of a file. `answer` is Yes, No, Irrelevant or a follow-up question.

    `as_imported` is the record as it came, JSON, where it is not what `to_json` would write;
    `repairs` says what was put right, each with the spelling that was found.
    """

    utterance_id: str
    tree_id: str
    source_url: str
    snippet: str
    question: str
    scenario: str
    answer: str
    history: Path
    evidence: Path
    as_imported: str = ""
    repairs: tuple[tuple[Repair, str], ...] = ()


class SharcError(Exception):
    """A file that is not ShARC's: where it is wrong and how, in one line."""

    def __init__(self, file: str, where: str, what: str) -> None:
        # Quoted texts have line breaks; the message has none.
        parts = (file, where, " ".join(what.split()))
        super().__init__(": ".join(part for part in parts if part))


class _FieldError(Exception):
    """The field and what is wrong with it."""


def read_records(stream: BinaryIO, *, file: str) -> Iterator[Record]:
    """The utterances of one file, in its order. Raises SharcError, naming `file`."""
    where = ""
    try:
        for where, value in read_items(stream):  # noqa: B007
            yield _record(value)
    except JsonError as error:
        raise SharcError(file, error.where, error.what) from error
    except _FieldError as error:
        raise SharcError(file, where, str(error)) from error
    if not where:
        raise SharcError(file, "", "the file holds no utterances")


def read_ids(stream: BinaryIO, *, file: str) -> frozenset[str]:
    """The utterance ids of a list of negatives, one a line. Raises SharcError."""
    try:
        lines = stream.read().decode("utf-8-sig").split()
    except UnicodeDecodeError as error:
        raise SharcError(file, "", "the list is not UTF-8") from error
    for number, line in enumerate(lines, 1):
        if not _ID.fullmatch(line):
            raise SharcError(file, f"id {number}", "not an utterance id of 40 hex digits")
    return frozenset(lines)


def _record(value: Any) -> Record:
    if not isinstance(value, dict):
        raise _FieldError(f"an utterance must be an object, not {_type_name(value)}")
    texts = {key: _text(value, key, "") for key in _KEYS[:7]}
    for key in ("utterance_id", "tree_id"):
        if not _ID.fullmatch(texts[key]):
            raise _FieldError(f"{key}: not 40 hex digits")
    if len(texts["source_url"]) > MAX_URL:
        raise _FieldError(f"source_url: longer than {MAX_URL:,} characters")
    _refuse_answer_word(texts["answer"])
    repairs: list[tuple[Repair, str]] = []
    history = _turns(value, "history", repairs)
    if contradicting := next(contradictions(history), None):
        asked = contradicting.follow_up_question
        raise _FieldError(f"history: answers both Yes and No to “{asked}”")
    evidence = _turns(value, "evidence", repairs)
    record = Record(**texts, history=history, evidence=evidence, repairs=tuple(repairs))
    return _keep_as_imported(record, value)


def _keep_as_imported(record: Record, value: dict[str, Any]) -> Record:
    came = json.dumps(value)
    if came == json.dumps(_as_dict(record)):
        return record
    fields = {name: getattr(record, name) for name in record.__slots__}
    return Record(**{**fields, "as_imported": came})


def _text(value: dict[str, Any], key: str, inside: str) -> str:
    field = f"{inside}{key}"
    if key not in value:
        raise _FieldError(f"{field}: missing")
    text = value[key]
    if not isinstance(text, str):
        raise _FieldError(f"{field}: must be a text, not {_type_name(text)}")
    if not text.strip(_BLANKS) and key not in _MAY_BE_EMPTY:
        raise _FieldError(f"{field}: empty")
    if unstorable := _UNSTORABLE.search(text):
        raise _FieldError(f"{field}: has a character that no text has, {unstorable[0]!a}")
    return intern(text)


def _turns(value: dict[str, Any], key: str, repairs: list[tuple[Repair, str]]) -> Path:
    if key not in value:
        raise _FieldError(f"{key}: missing")
    turns = value[key]
    if not isinstance(turns, list):
        raise _FieldError(f"{key}: must be a list, not {_type_name(turns)}")
    return tuple(_turn(turn, f"{key}[{index}]", repairs) for index, turn in enumerate(turns))


def _turn(value: Any, field: str, repairs: list[tuple[Repair, str]]) -> Turn:
    if not isinstance(value, dict):
        raise _FieldError(f"{field}: must be an object, not {_type_name(value)}")
    if misspelt := [key for key in value if key in _MISSPELT_KEYS]:
        repairs.extend((Repair.MISSPELT_KEY, key) for key in misspelt)
        value = {_MISSPELT_KEYS.get(key, key): text for key, text in value.items()}
    question, answer = (_text(value, key, f"{field}.") for key in TURN_KEYS)
    if answer in _MISSPELT_ANSWERS:
        repairs.append((Repair.MISSPELT_ANSWER, answer))
        answer = _MISSPELT_ANSWERS[answer]
    if answer not in (Answer.YES, Answer.NO):
        raise _FieldError(f"{field}.follow_up_answer: must be Yes or No, not “{answer[:40]}”")
    return Turn(question, Answer(answer))


def _refuse_answer_word(answer: str) -> None:
    """A single word without a question mark is not a question, but an answer that we do not know.

    Scripts that write no spaces are not judged so.
    """
    if answer in FINAL_ANSWERS or "?" in answer:
        return
    if _ONE_WORD.fullmatch(answer):
        raise _FieldError(
            f"answer: must be Yes, No, Irrelevant or a follow-up question, not “{answer[:40]}”"
        )


def _type_name(value: Any) -> str:
    names: list[tuple[type, str]] = [
        (bool, "true or false"), (str, "a text"), (dict, "an object"), (list, "a list"),
        (type(None), "null"),
    ]  # fmt: skip
    return next((name for kind, name in names if isinstance(value, kind)), "a number")


def to_json(record: Record) -> str:
    """The record as the official files spell it, or as it came, where that differs."""
    return record.as_imported or json.dumps(_as_dict(record))


def has_only_own_fields(as_imported: str) -> bool:
    """Whether a record as it came, JSON, has no field that ShARC's records do not have."""
    value = json.loads(as_imported or "{}")
    turns = [turn for key in _KEYS[7:] for turn in value.get(key, [])]
    own = {*TURN_KEYS, *_MISSPELT_KEYS}
    return value.keys() <= set(_KEYS) and all(turn.keys() <= own for turn in turns)


def _as_dict(record: Record) -> dict[str, Any]:
    texts: dict[str, Any] = {key: getattr(record, key) for key in _KEYS[:7]}
    return {
        **texts,
        "history": turns_as_json(record.history),
        "evidence": turns_as_json(record.evidence),
    }


def write_records(records: Iterable[Record], write: Callable[[str], object]) -> int:
    """Writes the array, piece by piece; returns how many utterances it has."""
    write("[")
    count = 0
    for record in records:
        write(", " + to_json(record) if count else to_json(record))
        count += 1
    write("]")
    return count
