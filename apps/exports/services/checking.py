"""Reads an export back: is all of it valid, and what does it say?"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from apps.exports.errors import ExportFaultError
from apps.exports.formats.checks import FormatError
from apps.exports.formats.manifest import (
    MANIFEST,
    Export,
    check_files,
    exports_by_files,
    read_manifest,
)
from apps.exports.formats.registry import FORMATS
from apps.exports.formats.rows import Found
from apps.exports.formats.statements import (
    Places,
    check_counts,
    check_list,
    check_without_manifest,
    only_listed,
)


@dataclass
class Summary:
    """What one export holds: things by file, utterances by split and class."""

    name: str
    files: Counter[str] = field(default_factory=Counter)
    classes: dict[str, Counter[str]] = field(default_factory=dict)
    example: Found | None = None
    number: int = 0

    def add(self, found: Found) -> None:
        self.files[found.file] += 1
        classes = self.classes.setdefault(found.split, Counter())
        classes.update(row.answer_class for row in found.utterances)


def check(folder: Path) -> Iterator[Summary]:
    """What each export of the folder holds. Raises ExportFaultError at the first fault."""
    try:
        exports = _exports(folder)
        for export in exports:
            summary = Summary(export.format)
            if (folder / MANIFEST).exists():
                check_list(folder, export, exports)
                with only_listed(folder, export) as listed:
                    _add_all(listed, export, summary)
                check_counts(export, summary.classes)
                check_files(folder, export)
            else:
                _add_all(folder, export, summary)
                check_without_manifest(folder, export)
            yield summary
    except FormatError as error:
        raise ExportFaultError(str(error)) from error


def _add_all(folder: Path, export: Export, summary: Summary) -> None:
    places = Places()
    for found in _read(folder, export):
        places.check(found)
        summary.add(found)
    if not summary.files:
        raise FormatError(export.folder, "", f"the {export.format} export holds nothing")


def inspect(folder: Path, *, number: int | None, seed: int) -> Iterator[Summary]:
    """As `check`, each with one example: the one with the number (from 1), or one at random."""
    try:
        for export in _exports(folder):
            summary = Summary(export.format)
            # Drawn as it goes by: each has the same chance, and one is kept in memory.
            drawing = random.Random(seed)  # noqa: S311
            for count, found in enumerate(_read(folder, export), 1):
                summary.add(found)
                if count == number or (number is None and drawing.randrange(count) == 0):
                    summary.example, summary.number = found, count
            yield summary
    except FormatError as error:
        raise ExportFaultError(str(error)) from error


def _exports(folder: Path) -> list[Export]:
    if not folder.is_dir():
        raise ExportFaultError(f"{folder}: there is no such folder")
    exports = read_manifest(folder) if (folder / MANIFEST).exists() else exports_by_files(folder)
    if not exports:
        raise ExportFaultError(f"{folder}: holds no export of ours")
    return exports


def _read(folder: Path, export: Export) -> Iterator[Found]:
    """Names of files begin at `folder`, also where the export lies in a folder of its own."""
    inside = f"{export.folder}/" if export.folder else ""
    try:
        for found in FORMATS[export.format].read(folder / export.folder):
            yield replace(found, file=f"{inside}{found.file}")
    except FormatError as error:
        raise ExportFaultError(f"{inside}{error}") from error
