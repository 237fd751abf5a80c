"""MNBVC's general text: a line per source document, the lines of its rule texts as paragraphs."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import md5
from pathlib import Path
from typing import Any

from apps.exports.formats.checks import (
    Increasing,
    any_text,
    boolean,
    json_text,
    list_of,
    number,
    object_of,
    one_of,
    same,
    text,
)
from apps.exports.formats.files import as_json, locating
from apps.exports.formats.mnbvc.lines import (
    MOST_BYTES,
    PLACE,
    check_split,
    day,
    day_of,
    extra_of,
    md5_hex,
    read_lines,
    write_lines,
)
from apps.exports.formats.rows import SPLITS, Cut, DocumentRow, Found, Options, Source
from apps.exports.formats.tokens import tokenize

NAME = "mnbvc-text"
READERS = (
    "MNBVC general text: a line per document, its rule texts in paragraphs. Read by who trains "
    "Chinese language models."
)
MARKS: tuple[str, ...] = ("*_text_*_*.jsonl",)
CUT = Cut.BY_SPLIT

_KIND = "text"
_BITS = 63


def write(source: Source, folder: Path, options: Options) -> None:
    for split in source.splits:
        lines = (_line(document, split) for document in source.documents(split))
        write_lines(source, folder, _KIND, split, lines, MOST_BYTES)


def _line(document: DocumentRow, split: str) -> Any:
    rule_texts = [_lines_of(snippet) for snippet in document.snippets]
    paragraphs = _paragraphs(rule_texts)
    repeated = sum(paragraph["是否重复"] for paragraph in paragraphs)
    extra = {"split": split, "来源网址": document.source_url, "版本": document.version,
             "标题": document.title}  # fmt: skip
    return {
        "文件名": document.source_url,
        "是否待查文件": False,
        "是否重复文件": False,
        **_measures([paragraph["内容"] for paragraph in paragraphs]),
        "段落数": len(paragraphs),
        "去重段落数": len(paragraphs) - repeated,
        "低质量段落数": 0,
        "段落": paragraphs,
        PLACE: as_json(extra),
        "时间": day_of(document.created_at),
    }


def _measures(paragraphs: list[str]) -> dict[str, int]:
    whole = "\n".join(paragraphs)
    return {
        "文件大小": len(whole.encode()),
        "simhash": simhash(whole),
        "最长段落长度": max(map(len, paragraphs), default=0),
    }


def _lines_of(snippet: str) -> list[str]:
    return [line for line in snippet.split("\n") if line.strip()]


def _paragraphs(rule_texts: list[list[str]]) -> list[dict[str, Any]]:
    seen: set[str] = set()
    paragraphs: list[dict[str, Any]] = []
    for which, lines in enumerate(rule_texts):
        for line in lines:
            digest = _digest(line)
            paragraphs.append({
                "行号": len(paragraphs) + 1,
                "是否重复": digest in seen,
                "是否跨文件重复": False,
                "md5": digest,
                "内容": line,
                PLACE: as_json({"规则文本": which}),
            })  # fmt: skip
            seen.add(digest)
    return paragraphs


def _digest(line: str) -> str:
    return md5(line.strip().encode(), usedforsecurity=False).hexdigest()


def simhash(text: str) -> int:
    """Of the tokens (Charikar 2002): near texts differ in few bits. Fits a signed 64-bit number."""
    totals = [0] * _BITS
    for token, _ in tokenize(text):
        digest = md5(str(token).encode(), usedforsecurity=False).digest()
        value = int.from_bytes(digest[:8], "big")
        for bit in range(_BITS):
            totals[bit] += 1 if value >> bit & 1 else -1
    return sum(1 << bit for bit, total in enumerate(totals) if total > 0)


_PARAGRAPH = object_of({
    "行号": number, "是否重复": boolean, "是否跨文件重复": boolean, "md5": md5_hex,
    "内容": text, PLACE: json_text(object_of({"规则文本": number})),
})  # fmt: skip
_EXTRA = object_of({"split": one_of(*SPLITS), "来源网址": text, "版本": number, "标题": any_text})
_COUNTS = ("文件大小", "simhash", "最长段落长度", "段落数", "去重段落数", "低质量段落数")
_CHECK = object_of({
    "文件名": text, "是否待查文件": boolean, "是否重复文件": boolean,
    **dict.fromkeys(_COUNTS, number), "段落": list_of(_PARAGRAPH), PLACE: json_text(_EXTRA),
    "时间": day,
})  # fmt: skip


def read(folder: Path) -> Iterator[Found]:
    orders: dict[str, Increasing] = {}
    for file, where, split, value in read_lines(folder, _KIND, _CHECK):
        extra = extra_of(value)
        with locating(file, where):
            check_split(extra, split)
            same(value["文件名"], extra["来源网址"], "文件名")
            order = orders.setdefault(split, Increasing("文件名"))
            order.check((extra["来源网址"], extra["版本"]))
            _check_paragraphs(value)
        yield Found(file, where, split, value)


def _check_paragraphs(value: dict[str, Any]) -> None:
    expected = _paragraphs(rule_text_lines(value))
    for index, (found, one) in enumerate(zip(value["段落"], expected, strict=True)):
        for key, part in one.items():
            same(found[key], part, f"段落[{index}].{key}")
    repeated = sum(paragraph["是否重复"] for paragraph in expected)
    measures = {
        **_measures([paragraph["内容"] for paragraph in expected]),
        "段落数": len(expected),
        "去重段落数": len(expected) - repeated,
    }
    for key, one in measures.items():
        same(value[key], one, key)


def rule_text_lines(value: dict[str, Any]) -> list[list[str]]:
    """The non-blank lines of each rule text of a document."""
    rule_texts: dict[int, list[str]] = {}
    for paragraph in value["段落"]:
        rule_texts.setdefault(extra_of(paragraph)["规则文本"], []).append(paragraph["内容"])
    return list(rule_texts.values())
