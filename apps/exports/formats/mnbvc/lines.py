"""What MNBVC's formats share: files of at most 500 MiB, dates, and the models of rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from hashlib import md5
from pathlib import Path
from typing import Any

from apps.exports.formats.checks import (
    Check,
    FieldError,
    any_text,
    hex40,
    json_text,
    list_of,
    matching,
    number,
    object_of,
    one_of,
    same,
    text,
    turns,
)
from apps.exports.formats.files import as_json, json_lines, locating, name_in, split_files
from apps.exports.formats.rows import SPLITS, Source, UtteranceRow
from apps.scenarios.domain.turns import turns_as_json

MOST_BYTES = 500 << 20
PLACE = "扩展字段"
"""The field for whatever else there is: a text that is JSON."""

day = matching(r"-?\d{4}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])", "a day as yyyymmdd")
moment = matching(
    r"-?\d{4}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01]) ([01]\d|2[0-3]):[0-5]\d:[0-5]\d",
    "a time as yyyymmdd HH:MM:SS",
)
md5_hex = matching("[0-9a-f]{32}", "32 hex digits")


def day_stamp(year: int, month: int | None = None, day: int | None = None) -> str:
    """`yyyymmdd`; what is not known is 01, and a year before our era has a minus."""
    return f"{'-' if year < 0 else ''}{abs(year):04d}{month or 1:02d}{day or 1:02d}"


def day_of(moment: datetime) -> str:
    return day_stamp(moment.year, moment.month, moment.day)


def time_of(moment: datetime) -> str:
    return f"{day_of(moment)} {moment:%H:%M:%S}"


def question_answer(row: UtteranceRow, asked: str, said: str, extra: Any, name: str) -> Any:
    """A line of both question-answer formats; its id is the MD5 of all the rest."""
    line = {
        "问": asked,
        "答": said,
        "来源": name,
        "元数据": {
            "create_time": time_of(row.created_at),
            "问题明细": "",
            "回答明细": "",
            PLACE: as_json(extra),
        },
        "时间": day_of(row.created_at),
    }
    return {"id": _id_of(line), **line}


def _id_of(line: dict[str, Any]) -> str:
    content = json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return md5(content.encode(), usedforsecurity=False).hexdigest()


def question_answer_check(extra: Check) -> Check:
    metadata = object_of({
        "create_time": moment, "问题明细": any_text, "回答明细": any_text, PLACE: json_text(extra),
    })  # fmt: skip
    fields = object_of({
        "id": md5_hex, "问": text, "答": text, "来源": text, "元数据": metadata, "时间": day,
    })  # fmt: skip

    def check(value: Any, field: str) -> None:
        fields(value, field)
        line = {key: part for key, part in value.items() if key != "id"}
        same(value["id"], _id_of(line), "id")
        same(value["时间"], value["元数据"]["create_time"].split()[0], "时间")

    return check


def source_fields(row: UtteranceRow, split: str) -> dict[str, Any]:
    """Where an utterance comes from and what belongs to it, for `扩展字段`."""
    return {
        "utterance_id": row.utterance_id,
        "tree_id": row.tree_id,
        "split": split,
        "来源网址": row.source_url,
        "规则文本": row.snippet,
        "情景": row.scenario,
        "证据": turns_as_json(row.evidence),
    }


SOURCE_CHECKS: dict[str, Check] = {
    "utterance_id": hex40, "tree_id": hex40, "split": one_of(*SPLITS), "来源网址": text,
    "规则文本": text, "情景": any_text, "证据": turns,
}  # fmt: skip
COUNT: Check = number
TEXTS: Check = list_of(text)


def write_lines(
    source: Source, folder: Path, kind: str, split: str, lines: Iterable[Any], most: int
) -> None:
    """NAME_KIND_SPLIT_0.jsonl and, past `most` bytes, the next number."""
    waiting = iter(lines)
    line = next(waiting, None)
    part = 0
    while line is not None or not part:
        with (folder / f"{source.name}_{kind}_{split}_{part}.jsonl").open("wb") as stream:
            written = 0
            while line is not None and written < most:
                written += stream.write(f"{as_json(line)}\n".encode())
                line = next(waiting, None)
        part += 1


def read_lines(
    folder: Path, kind: str, check: Check
) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """File, place, split and value of each line, checked."""
    for split, path in _in_order(folder, kind):
        file = name_in(folder, path)
        with path.open("rb") as stream:
            for where, value in json_lines(stream, file):
                with locating(file, where):
                    check(value, "")
                yield file, where, split, value


def _in_order(folder: Path, kind: str) -> list[tuple[str, Path]]:
    """The files of a split by their number: 10 comes after 9."""
    files = split_files(folder, f"*_{kind}_{{split}}_*.jsonl")
    return sorted(files, key=lambda one: (SPLITS.index(one[0]), _number(one[1])))


def _number(path: Path) -> int:
    digits = path.stem.rpartition("_")[2]
    return int(digits) if digits.isdecimal() else -1


def extra_of(value: dict[str, Any]) -> dict[str, Any]:
    extra: dict[str, Any] = json.loads(value[PLACE])
    return extra


def check_split(extra: dict[str, Any], split: str) -> None:
    if extra["split"] != split:
        raise FieldError(f"{PLACE}.split", f"must be the file's, {split}")
