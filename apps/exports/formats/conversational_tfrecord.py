"""Conversational examples as TFRecord files of `tf.train.Example`."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from apps.exports.formats.checks import FieldError, FormatError
from apps.exports.formats.conversational import (
    Example,
    Record,
    read_shards,
    write_shards,
    write_some,
)
from apps.exports.formats.example_proto import from_example, read_records, to_example, write_record
from apps.exports.formats.rows import Cut, Found, Options, Source

NAME = "conversational-tfrecord"
READERS = (
    "Conversational examples, TFRecord in shards: as the JSON, for TensorFlow's input pipelines."
)
MARKS: tuple[str, ...] = ("*-of-*.tfrecord",)
CUT = Cut.BY_FILE


def write(source: Source, folder: Path, options: Options) -> None:
    write_shards(source, folder, options, "tfrecord", _write_example)


def write_files(source: Source, folder: Path, options: Options, split: str, numbers: range) -> None:
    write_some(source, folder, options, split, numbers, ("tfrecord", _write_example))


def _write_example(stream: BinaryIO, example: Example) -> None:
    write_record(stream, to_example(example))


def read(folder: Path) -> Iterator[Found]:
    return read_shards(folder, "tfrecord", _read_file)


def _read_file(stream: BinaryIO, file: str) -> Iterator[Record]:
    number = 1
    try:
        for number, data in enumerate(read_records(stream), 1):
            yield f"record {number}", from_example(data)
        number += 1
    except FieldError as error:
        raise FormatError(file, f"record {number}", str(error)) from None
