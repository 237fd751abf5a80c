"""MultiQA 0.1.0 (Talmor and Berant 2019), by its JSON schema where its pages say otherwise.

NAME_SPLIT.jsonl.gz: a header line, then a context a line. A context is a tree; its one document is
the rule text, its questions are the tree's utterances. headers/NAME_SPLIT.json is the header alone.
"""

import gzip
import json
import re
import shutil
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, cast

from apps.exports.formats.card import licence_of
from apps.exports.formats.checks import FormatError
from apps.exports.formats.files import (
    Counted,
    as_json,
    gzip_to_write,
    json_lines,
    locating,
    name_in,
    open_to_write,
    parse_file,
    split_files,
)
from apps.exports.formats.multiqa_contexts import context_of
from apps.exports.formats.multiqa_model import Counts, check_context, check_header, rows_of
from apps.exports.formats.rows import Cut, Found, Options, Source
from apps.exports.formats.tokens import DESCRIPTION

NAME = "multiqa"
READERS = (
    "MultiQA: gzipped JSON Lines with tokens and spans. Read by question answering models that "
    "train on many datasets at once."
)
MARKS: tuple[str, ...] = ("*_*.jsonl.gz",)
CUT = Cut.BY_SPLIT
VERSION = "0.1.0"


def write(source: Source, folder: Path, options: Options) -> None:
    name = dataset_name(source.name)
    for split in source.splits:
        with TemporaryFile(dir=folder) as body:
            counts = Counts()
            for tree in source.trees(split):
                counts.add(len(tree.utterances))
                body.write(f"{as_json(context_of(tree, name))}\n".encode())
            body.seek(0)
            _write_split(folder, f"{name}_{split}", _header(source, name, split, counts), body)


def dataset_name(name: str) -> str:
    """Ids are taken apart at `_q_`, so a name must not have it."""
    return re.sub(r"_(?=q_)", "-", name)


def _write_split(folder: Path, stem: str, header: dict[str, Any], body: IO[bytes]) -> None:
    with gzip_to_write(folder / f"{stem}.jsonl.gz") as stream:
        stream.write(f"{as_json({'header': header})}\n".encode())
        shutil.copyfileobj(body, stream)
    with open_to_write(folder / "headers" / f"{stem}.json") as readable:
        readable.write(json.dumps(header, ensure_ascii=False, indent=4))


def _header(source: Source, name: str, split: str, counts: Counts) -> dict[str, Any]:
    return {
        "dataset_name": name,
        "version": source.about.version,
        "flavor": "",
        "split": split,
        "dataset_url": source.about.url,
        "license": licence_of(source.about),
        "data_source": source.title,
        "context_answer_detection_source": "spans that annotators marked",
        "tokenization_source": DESCRIPTION,
        "full_schema": {},
        "text_type": "rule texts",
        "number_of_qas": counts.qas,
        "number_of_qas_with_gold_answers": counts.qas,
        "number_of_contexts": counts.contexts,
        "file_num": 1,
        "next_file_exists": False,
        "readme": "A context is a rule text with its tree of follow-up questions; a question is "
        "what a user asks, tells and has answered so far. It is answered by Yes, No or a "
        "follow-up question, or cannot be answered because it is irrelevant.",
        "multiqa_version": VERSION,
    }


def read(folder: Path) -> Iterator[Found]:
    for split, path in split_files(folder, "*_{split}.jsonl.gz"):
        file = name_in(folder, path)
        name = path.name.removesuffix(f"_{split}.jsonl.gz")
        with gzip.open(path) as stream:
            lines = json_lines(_whole(cast(Iterable[bytes], stream), file), file)
            header = _read_header(folder, next(lines, ("line 1", None)), file, name, split)
            yield from _read_contexts(lines, file, name, split, header)


def _whole(lines: Iterable[bytes], file: str) -> Iterator[bytes]:
    counted = Counted(lines)
    try:
        yield from counted
    except (EOFError, OSError, zlib.error) as error:
        raise FormatError(
            file, f"line {counted.count + 1}", f"not gzip, or cut off: {error}"
        ) from None


def _read_header(
    folder: Path, first: tuple[str, Any], file: str, name: str, split: str
) -> dict[str, Any]:
    where, value = first
    with locating(file, where):
        header = check_header(value, name, split)
    alone = f"headers/{name}_{split}.json"
    if parse_file(folder, alone) != header:
        raise FormatError(alone, "", f"is not the header of {file}")
    return header


def _read_contexts(
    lines: Iterator[tuple[str, Any]], file: str, name: str, split: str, header: dict[str, Any]
) -> Iterator[Found]:
    counts = Counts()
    for where, value in lines:
        with locating(file, where):
            check_context(value, name, counts)
        yield Found(file, where, split, value, rows_of(value))
    with locating(file, "line 1"):
        counts.compare(header)
