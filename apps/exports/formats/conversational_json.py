"""Conversational examples as JSON, one a line."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from apps.exports.formats.checks import FieldError, type_name
from apps.exports.formats.conversational import (
    Example,
    Record,
    read_shards,
    write_shards,
    write_some,
)
from apps.exports.formats.files import as_json, json_lines, locating
from apps.exports.formats.rows import Cut, Found, Options, Source

NAME = "conversational-json"
READERS = (
    "Conversational examples, JSON Lines in shards: context and response. Read by models that "
    "choose or write a response."
)
MARKS: tuple[str, ...] = ("*-of-*.json",)
CUT = Cut.BY_FILE


def write(source: Source, folder: Path, options: Options) -> None:
    write_shards(source, folder, options, "json", _write_example)


def write_files(source: Source, folder: Path, options: Options, split: str, numbers: range) -> None:
    write_some(source, folder, options, split, numbers, ("json", _write_example))


def _write_example(stream: BinaryIO, example: Example) -> None:
    stream.write(f"{as_json(example)}\n".encode())


def read(folder: Path) -> Iterator[Found]:
    return read_shards(folder, "json", _read_file)


def _read_file(stream: BinaryIO, file: str) -> Iterator[Record]:
    for where, value in json_lines(stream, file):
        with locating(file, where):
            if not isinstance(value, dict):
                raise FieldError("", f"an example must be an object, not {type_name(value)}")
        yield where, value
