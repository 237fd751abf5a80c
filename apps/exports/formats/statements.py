"""What a manifest says of an export, held against what is there. All raise FormatError."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from apps.exports.formats.card import CARD, PLOTS, SOURCES
from apps.exports.formats.checks import FormatError
from apps.exports.formats.files import name_in
from apps.exports.formats.huggingface import SPLIT_NAMES
from apps.exports.formats.manifest import MANIFEST, Export
from apps.exports.formats.mnbvc import forum, general_text
from apps.exports.formats.registry import IN_FILES
from apps.exports.formats.rows import SPLITS, Found

WITHOUT_UTTERANCES = (forum.NAME, general_text.NAME)
"""Formats that hold the trees or texts of the utterances that their manifest counts."""

_SPLIT = re.compile(rf"(?<![A-Za-z])({'|'.join({*SPLITS, *SPLIT_NAMES.values()})})(?![A-Za-z])")
_DATA = {".json", ".jsonl", ".tfrecord", ".csv", ".gz", ".parquet"}

Classes = Mapping[str, Mapping[str, int]]
"""Utterances by split and class."""


def check_list(folder: Path, export: Export, exports: list[Export]) -> None:
    """That the listed files are there, and that no file of the export is there without."""
    inside = f"{export.folder}/" if export.folder else ""
    for path in export.files:
        if not path.startswith(inside):
            raise FormatError(MANIFEST, "", f"{path}: is of {export.format}, and not in {inside}")
        if not (folder / path).is_file():
            raise FormatError(path, "", "missing")
    listed = {path for one in exports for path in one.files}
    for path in sorted(_likely(folder, export) - listed):
        if (folder / path).exists():
            raise FormatError(path, "", f"is there, and {MANIFEST} does not list it")


def _likely(folder: Path, export: Export) -> set[str]:
    """Paths of the card, and of files as the listed ones for other splits."""
    home = folder / export.folder
    plots = {name_in(folder, path) for path in home.glob(f"{PLOTS}/*.svg")}
    card = {name_in(folder, home / name) for name in (CARD, SOURCES)}
    names = {*SPLITS, *SPLIT_NAMES.values()}
    others = {
        path[: found.start()] + split + path[found.end() :]
        for path in export.files
        for found in _SPLIT.finditer(path)
        for split in names
        if "/" not in path[found.end() :]
    }
    return plots | card | others


@contextmanager
def only_listed(folder: Path, export: Export) -> Iterator[Path]:
    """A folder with the files that are listed, and no others: what is read has a hash there."""
    with TemporaryDirectory() as made:
        aside = Path(made)
        (aside / export.folder).mkdir(exist_ok=True)
        for path in export.files:
            (aside / path).parent.mkdir(parents=True, exist_ok=True)
            (aside / path).symlink_to((folder / path).resolve())
        yield aside


def check_counts(export: Export, found: Classes) -> None:
    """`found` has the splits of all that was read, also where no utterances are in it."""
    said = {
        split: {name: count for name, count in classes.items() if count}
        for split, classes in export.value["counts"].items()
    }
    where = f"the counts of {export.format}"
    with_some = {split: classes for split, classes in said.items() if classes}
    for split in (split for split in SPLITS if split in {*with_some, *found}):
        there = dict(found.get(split, {}))
        is_same = split in found and split in with_some
        if export.format not in WITHOUT_UTTERANCES:
            is_same = there == with_some.get(split, {})
        if not is_same:
            raise FormatError(
                MANIFEST, where, f"{split} has {_in_words(with_some.get(split, {}))}; in the "
                f"files are {_in_words(there)}",
            )  # fmt: skip
    _check_splits(export)


def _in_words(classes: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(classes.items())) or "none"


def _check_splits(export: Export) -> None:
    parameters = export.value["parameters"]
    by_hash = parameters["split_by_hash"] and export.format in IN_FILES
    asked = SPLITS if by_hash else parameters["splits"]
    if sorted(asked) != sorted(export.value["counts"]):
        raise FormatError(
            MANIFEST, f"the parameters of {export.format}",
            f"the splits are {', '.join(asked) or 'none'}, and the counts are of "
            f"{', '.join(export.value['counts']) or 'none'}",
        )  # fmt: skip


def check_without_manifest(folder: Path, export: Export) -> None:
    """An empty file may be right, when something says that it should be."""
    for path in sorted((folder / export.folder).rglob("*")):
        is_data = path.suffix in _DATA and _SPLIT.search(path.name)
        if is_data and path.is_file() and not path.stat().st_size:
            raise FormatError(
                name_in(folder, path), "", f"empty, and no {MANIFEST} says that it should be"
            )


class Places:
    """Refuses a tree that is in two splits."""

    def __init__(self) -> None:
        self._splits: dict[str, str] = {}

    def check(self, found: Found) -> None:
        ids = [row.tree_id for row in found.utterances] + [tree.tree_id for tree in found.trees]
        for tree_id in ids:
            before = self._splits.setdefault(tree_id, found.split)
            if before != found.split:
                raise FormatError(
                    found.file, found.where,
                    f"tree_id: {tree_id} is in {before} and in {found.split}",
                )  # fmt: skip
