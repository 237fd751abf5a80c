"""Puts a finished export where it was asked for.

A new folder appears at once, by one change of a name. Into a folder that is there, files go one by
one and the manifest last: until then the files do not fit it, and `check_export` says so. All
places are looked at before the first file moves.

Several formats in one folder share one card: the last one's, but for that of Hugging Face, which
its readers need.
"""

import filecmp
import json
import os
from pathlib import Path
from typing import Any

from apps.exports.errors import ExportRefusedError
from apps.exports.formats import huggingface
from apps.exports.formats.card import CARD, PLOTS, SOURCES
from apps.exports.formats.checks import FormatError
from apps.exports.formats.manifest import MANIFEST, Export, as_text, read_manifest


def place(source: Path, target: Path) -> None:
    """Moves the export. Raises ExportRefusedError when anything else is in its way.

    What an earlier export of the same format left in `target` goes; any other file stays.
    """
    if not os.path.lexists(target):
        source.rename(target)
        return
    if not target.is_dir():
        raise ExportRefusedError(f"{target}: is no folder; choose another place")
    here = _exports_of(target)
    ours = {MANIFEST, *(path for one in here for path in one.files)}
    new = read_manifest(source)
    kept = [one for one in here if (one.format, one.folder) not in _names(new)]
    _share_card(source, new, kept)
    _refuse_clash(new, kept, target)
    _refuse_what_is_not_ours(source, ours, target)
    _join_manifests(source, new, kept)
    for path in sorted(source.rglob("*"), key=lambda path: (path.name == MANIFEST, path)):
        if path.is_file():
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            path.replace(place)
    _forget(here, [*new, *kept], target)


def _exports_of(target: Path) -> list[Export]:
    if not (target / MANIFEST).exists():
        return []
    try:
        return read_manifest(target)
    except FormatError as error:
        raise ExportRefusedError(f"{target}: {error}; choose another folder") from error


def _names(exports: list[Export]) -> set[tuple[str, str]]:
    return {(one.format, one.folder) for one in exports}


def _share_card(source: Path, new: list[Export], kept: list[Export]) -> None:
    """Takes the files of the card out of the exports that do not have the say on it."""
    pairs = [(one, other) for one in new for other in kept if one.folder == other.folder]
    for one, other in pairs:
        loser, winner = (one, other) if other.format == huggingface.NAME else (other, one)
        for path in [path for path in loser.files if path in winner.files and _is_card(path)]:
            loser.value["files"].remove(loser.files[path])
            if loser is one:
                (source / path).unlink()


def _is_card(path: str) -> bool:
    return path in {CARD, SOURCES} or path.startswith(f"{PLOTS}/")


def _refuse_clash(new: list[Export], kept: list[Export], target: Path) -> None:
    files = {path for one in new for path in one.files}
    for one in kept:
        for path in sorted(files & one.files.keys()):
            raise ExportRefusedError(
                f"{target / path}: belongs to the {one.format} export there; choose another folder"
            )


def _refuse_what_is_not_ours(source: Path, ours: set[str], target: Path) -> None:
    """A file stands in the way unless an export there has it; one that says the same may be what a
    killed export has moved, and nothing is lost with it.
    """
    for path in sorted(source.rglob("*")):
        place = target / path.relative_to(source)
        if path.is_dir():
            _refuse_unless_folder(place, target)
        elif os.path.lexists(place):
            is_ours = path.relative_to(source).as_posix() in ours
            if not place.is_file() or not (is_ours or filecmp.cmp(path, place, shallow=False)):
                raise ExportRefusedError(
                    f"{place}: is there already, and of no export; choose another folder"
                )
    if not os.access(target, os.W_OK | os.X_OK):
        raise ExportRefusedError(f"{target}: cannot be written; choose another folder")


def _refuse_unless_folder(place: Path, target: Path) -> None:
    """What it leads to must be in `target`, and must let files in."""
    if not os.path.lexists(place):
        return
    if not place.is_dir() or not place.resolve().is_relative_to(target.resolve()):
        raise ExportRefusedError(
            f"{place}: is no folder in {target}, and the export needs one; choose another folder"
        )
    if not os.access(place, os.W_OK | os.X_OK):
        raise ExportRefusedError(f"{place}: cannot be written; choose another folder")


def _join_manifests(source: Path, new: list[Export], kept: list[Export]) -> None:
    if kept:
        path = source / MANIFEST
        value: dict[str, Any] = json.loads(path.read_text("utf-8"))
        entries = [one.value for one in (*new, *kept)]
        text = as_text(value["project"], value["software"]["version"], entries)
        path.write_text(text, encoding="utf-8", newline="\n")


def _forget(before: list[Export], now: list[Export], target: Path) -> None:
    current = {path for one in now for path in one.files}
    for path in {path for one in before for path in one.files} - current:
        (target / path).unlink(missing_ok=True)
        _remove_if_empty((target / path).parent, target)


def _remove_if_empty(folder: Path, target: Path) -> None:
    if folder != target and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
