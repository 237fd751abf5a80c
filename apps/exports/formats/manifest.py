"""MANIFEST.json: which exports a folder holds, of what, and the SHA-256 of each file.

No clock and no machine is in it: the same state and parameters give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.exports.formats.checks import (
    Check,
    FieldError,
    boolean,
    list_of,
    matching,
    number,
    object_of,
    one_of,
    text,
)
from apps.exports.formats.files import locating, parse_file
from apps.exports.formats.registry import FORMATS
from apps.exports.formats.rows import CLASSES, SPLITS
from apps.scenarios.domain.consistency import InconsistencyReason

MANIFEST = "MANIFEST.json"


@dataclass(frozen=True)
class Export:
    """One format's files in a folder of several. `folder` is empty, or the format's own folder."""

    format: str
    folder: str
    value: dict[str, Any]

    @property
    def files(self) -> dict[str, dict[str, Any]]:
        """Size and SHA-256 of each file, by its path from the manifest's folder on."""
        return {one["path"]: one for one in self.value["files"]}


def describe(
    name: str, inside: str, *, parameters: dict[str, Any], state: str,
    counts: dict[str, dict[str, int]], files: Iterable[dict[str, Any]],
    licences: Mapping[str, int] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """An export's entry. `state` is a digest of what the project held; `files` as `list_files`;
    `licences` has documents by licence, "" where none is stated.
    """
    return {
        "format": name,
        "folder": inside,
        "parameters": parameters,
        "state": state,
        "counts": counts,
        "licences": dict(licences or {}),
        "files": sorted(files, key=lambda one: Path(one["path"])),
    }


def list_files(folder: Path, inside: str = "") -> list[dict[str, Any]]:
    """Path from `folder` on, size and SHA-256 of all files under `folder/inside`, or of it."""
    found = [folder / inside, *(folder / inside).rglob("*")]
    paths = sorted(path for path in found if path.is_file())
    return [_file(folder, path) for path in paths]


def _file(folder: Path, path: Path) -> dict[str, Any]:
    return {
        "path": path.relative_to(folder).as_posix(),
        "bytes": path.stat().st_size,
        "sha256": sha256_of(path),
    }


def sha256_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def as_text(project: str, version: str, entries: list[dict[str, Any]]) -> str:
    value = {
        "project": project,
        "software": {"name": "sharc_studio", "version": version},
        "exports": sorted(entries, key=lambda entry: list(FORMATS).index(entry["format"])),
    }
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


_COUNTS = object_of({}, {split: object_of({}, dict.fromkeys(CLASSES, number)) for split in SPLITS})
_SHA256 = matching("[0-9a-f]{64}", "64 hex digits")
_FILE = object_of({
    "path": matching(r"(?!/)(?!(.*/)?\.\.(/|$)).+", "a path inside the folder"), "bytes": number,
    "sha256": _SHA256,
})  # fmt: skip


def _length(value: Any, field: str) -> None:
    if value is not None:
        number(value, field)


def _licences(value: Any, field: str) -> None:
    object_of({}, dict.fromkeys(value if isinstance(value, dict) else (), number))(value, field)


PARAMETERS: dict[str, Check] = {
    "splits": list_of(one_of(*SPLITS)), "seed": number, "shards": number, "anonymise": boolean,
    "byte_order_mark": boolean, "min_length": _length, "max_length": _length,
    "only_follow_ups": boolean, "fold_context": boolean, "split_by_hash": boolean,
    "allow_unverified": boolean,
}  # fmt: skip
_REASONS = object_of({}, dict.fromkeys(InconsistencyReason, number))
_RELEASE = object_of({}, {
    "imported_findings": _REASONS, "waived_findings": _REASONS, "waived_figures": list_of(text),
})  # fmt: skip
_ENTRY = object_of({
    "format": one_of(*FORMATS), "folder": one_of("", *FORMATS), "counts": _COUNTS,
    "parameters": object_of(PARAMETERS), "files": list_of(_FILE),
}, {"licences": _licences, "release": _RELEASE, "state": _SHA256})  # fmt: skip
_MODEL = object_of({
    "project": text, "software": object_of({"name": text, "version": text}),
    "exports": list_of(_ENTRY),
})  # fmt: skip


def read_manifest(folder: Path) -> list[Export]:
    """The exports of a folder that has a manifest. Raises FormatError."""
    value = parse_file(folder, MANIFEST)
    with locating(MANIFEST, ""):
        _MODEL(value, "")
        _refuse_twice(value["exports"])
    return [Export(one["format"], one["folder"], one) for one in value["exports"]]


def _refuse_twice(entries: list[dict[str, Any]]) -> None:
    """Raises FieldError: an export stands there once, and a file belongs to one of them."""
    seen: set[tuple[str, ...]] = set()
    for at, entry in enumerate(entries):
        keys = [(entry["format"], entry["folder"]), *((one["path"],) for one in entry["files"])]
        for key in keys:
            if key in seen:
                raise FieldError(f"exports[{at}]", f"{' '.join(key).strip()} stands twice")
            seen.add(key)


def check_files(folder: Path, export: Export) -> None:
    """Raises FormatError where a file is missing, or not as it was when it was exported."""
    for name, said in export.files.items():
        path = folder / name
        with locating(name, ""):
            if not path.is_file():
                raise FieldError("", "missing")
            if path.stat().st_size != said["bytes"] or sha256_of(path) != said["sha256"]:
                raise FieldError("", f"was changed since the export: its SHA-256 in {MANIFEST} "
                                 "is another")  # fmt: skip


def exports_by_files(folder: Path) -> list[Export]:
    """The exports of a folder without a manifest, by files that only one format has."""
    nothing: dict[str, Any] = {"files": []}
    return [
        Export(name, inside, nothing)
        for name, one in FORMATS.items()
        for inside in ("", name)
        if any(next((folder / inside).glob(mark), None) for mark in one.MARKS)
    ]
