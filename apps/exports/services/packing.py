"""What goes around the files of an export: the manifest, and one zip file of them all."""

import tomllib
import zipfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from apps.exports.errors import ExportRefusedError
from apps.exports.formats import or_sharc
from apps.exports.formats.manifest import MANIFEST, as_text, describe
from apps.exports.formats.rows import Options
from apps.exports.formats.written import count_classes, written
from apps.exports.services.snapshot import Snapshot

BLOCK = 1 << 20


Listed = list[dict[str, Any]]
"""Path, size and SHA-256 of files, as `list_files` has them."""


Counts = dict[str, dict[str, int]]
"""Utterances by split and class."""


def write_manifest(
    source: Snapshot, parameters: dict[str, Any], options: Options,
    formats: Mapping[str, tuple[str, Listed]], release: dict[str, Any], folder: Path,
) -> Counts:  # fmt: skip
    """Appears when it is whole. `formats` has the folder of each, if any, and its files; `release`
    what their entries say besides.

    Returns what was exported: what the format wrote, or of several what was there for them. Raises
    ExportRefusedError where a format wrote nothing.
    """
    counts = {name: _counts(source, name, options) for name in formats}
    asked = {**parameters, "splits": list(source.splits)}
    entries = [
        describe(
            name, inside, parameters=asked, state=source.state, counts=counts[name], files=files,
            licences=source.about.licences,
        )
        | release
        for name, (inside, files) in formats.items()
    ]  # fmt: skip
    partial = folder / f"{MANIFEST}.partial"
    text = as_text(source.name, software_version(), entries)
    partial.write_text(text, encoding="utf-8", newline="\n")
    partial.replace(folder / MANIFEST)
    return next(iter(counts.values())) if len(counts) == 1 else _classes(source)


def _counts(source: Snapshot, name: str, options: Options) -> Counts:
    told = written(source, name, options)
    if name == or_sharc.NAME:  # its classes are known without going over all utterances again
        counts = {split: or_sharc.kept(classes) for split, classes in _classes(source).items()}
    else:
        counts = _classes(source) if told is source else count_classes(told)
    if not any(counts.values()):
        raise ExportRefusedError(
            f"{source.name}: {name} would hold nothing: the format and the options leave out all "
            f"{sum(map(source.count, source.splits)):,} utterances; ask for others"
        )
    return counts


def _classes(source: Snapshot) -> Counts:
    return {split: source.classes(split) for split in source.splits}


@cache
def software_version() -> str:
    with (settings.BASE_DIR / "pyproject.toml").open("rb") as stream:
        version: str = tomllib.load(stream)["project"]["version"]
    return version


def zip_folder(folder: Path, archive: Path, packed: Callable[[int], None]) -> None:
    """The folder's files, sorted, with one date for all: the same files give the same bytes.

    `packed` hears how many more bytes are in. The file appears when it is whole.
    """
    partial = archive.with_name(f"{archive.name}.partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                _add(target, path, str(path.relative_to(folder)), packed)
    partial.replace(archive)


def _add(target: zipfile.ZipFile, path: Path, name: str, packed: Callable[[int], None]) -> None:
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    with path.open("rb") as stream, target.open(entry, "w", force_zip64=True) as copy:
        while block := stream.read(BLOCK):
            copy.write(block)
            packed(len(block))
