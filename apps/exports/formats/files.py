"""Writing and reading files the same way on every machine: UTF-8, `\\n`, no clock."""

import gzip
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeVar, cast

from apps.exports.formats.checks import FieldError, FormatError, parse_json
from apps.exports.formats.rows import SPLITS

Item = TypeVar("Item")


def as_json(value: Any) -> str:
    """One line of JSON in which characters are characters."""
    return json.dumps(value, ensure_ascii=False)


def open_to_write(path: Path) -> TextIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("w", encoding="utf-8", newline="\n")


def write_json_lines(path: Path, values: Iterable[Any]) -> int:
    """One value a line; returns how many."""
    count = 0
    with open_to_write(path) as stream:
        for value in values:
            stream.write(as_json(value) + "\n")
            count += 1
    return count


@contextmanager
def gzip_to_write(path: Path) -> Iterator[BinaryIO]:
    """A gzip file without name and date: the same content gives the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as stream,
    ):
        yield cast(BinaryIO, stream)


@contextmanager
def locating(file: str, where: str) -> Iterator[None]:
    """Says where it was that a field was wrong."""
    try:
        yield
    except FieldError as error:
        raise FormatError(file, where, str(error)) from None


def json_lines(stream: Iterable[bytes], file: str) -> Iterator[tuple[str, Any]]:
    """The value of each line, with its place: `line 3`. Raises FormatError."""
    for number, line in enumerate(stream, 1):
        where = f"line {number}"
        with locating(file, where):
            value = parse_json(decoded(line))
            if not line.endswith(b"\n"):
                raise FieldError("", "has no line end: the file is cut off")
        yield where, value


def decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FieldError("", f"not UTF-8 from byte {error.start + 1} on") from None


def split_files(folder: Path, pattern: str) -> Iterator[tuple[str, Path]]:
    """The files whose name is `pattern` with a split in place of {split}, in the splits' order.

    `pattern` may have stars. Raises FormatError when there is none.
    """
    found = False
    for split in SPLITS:
        for path in sorted(folder.glob(pattern.format(split=split))):
            found = True
            yield split, path
    if not found:
        raise FormatError(pattern.format(split="SPLIT"), "", "missing: there is no such file")


class Counted(Iterator[Item]):
    """Items, and how many there were so far."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = iter(items)
        self.count = 0

    def __next__(self) -> Item:
        item = next(self._items)
        self.count += 1
        return item


def name_in(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def parse_file(folder: Path, name: str) -> Any:
    """The one JSON value of a file. Raises FormatError."""
    try:
        data = (folder / name).read_bytes()
    except OSError as error:
        raise FormatError(name, "", error.strerror or "cannot be read") from None
    with locating(name, ""):
        return parse_json(decoded(data))
