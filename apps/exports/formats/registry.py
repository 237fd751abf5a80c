"""Every format by its name. A new one is a module like these, and its line here."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from apps.exports.formats import (
    conversational_json,
    conversational_tfrecord,
    csv_table,
    huggingface,
    multiqa,
    or_sharc,
    sharc_folder,
    unitxt,
)
from apps.exports.formats.mnbvc import dialogue, forum, general_text, question_answer
from apps.exports.formats.rows import Cut, Found, Options, Source


class Format(Protocol):
    """What a format's module has.

    `READERS` says in one line for people what it is and who reads it. `MARKS` are patterns of
    files that only this format has, from the folder of the export on. `CUT` says into which pieces
    its export can be cut.
    """

    NAME: str
    READERS: str
    MARKS: tuple[str, ...]
    CUT: Cut

    def write(self, source: Source, folder: Path, options: Options) -> None:
        """Writes the splits of the source into an empty folder: same source, same bytes."""

    def read(self, folder: Path) -> Iterator[Found]:
        """All that is there, in order. Raises FormatError at the first fault."""


_MODULES: tuple[Format, ...] = (
    sharc_folder,
    or_sharc,
    multiqa,
    conversational_json,
    conversational_tfrecord,
    dialogue,
    forum,
    question_answer,
    general_text,
    unitxt,
    huggingface,
    csv_table,
)


class FormatInFiles(Protocol):
    """What the module of a format that is cut by file has besides."""

    NAME: str

    def write_files(
        self, source: Source, folder: Path, options: Options, split: str, numbers: range
    ) -> None:
        """Writes the files of one split with these numbers, of those that `write` would."""


_IN_FILES: tuple[FormatInFiles, ...] = (conversational_json, conversational_tfrecord)

IN_FILES: dict[str, FormatInFiles] = {module.NAME: module for module in _IN_FILES}
FORMATS: dict[str, Format] = {module.NAME: module for module in _MODULES}
