"""Zip archives from outside: nothing is unpacked to disk, and nothing is read past its limits."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from django.conf import settings

from apps.snippets.errors import DocumentRefusedError
from apps.snippets.services.ingest import refuse_size

_SUFFIXES = {".zip"}
_ARCHIVES = {".zip", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".tar", ".jar", ".docx", ".odt"}
_LEFT_BY_SYSTEMS = {"__MACOSX", "Thumbs.db", "desktop.ini"}
_END = b"PK\x05\x06"
_END_SIZE = 22
_LARGE_FORM = b"PK\x06\x07"
_LARGE_FORM_SIZE = 20
_LONGEST_COMMENT = 65_535
_DIRECTORY_BYTES_PER_FILE = 1000
"""More of them than this per file that is allowed, and the list of files itself is the attack."""
_BROKEN = "It is no zip archive, or it is broken."


@dataclass
class Quota:
    """How much all archives of one upload may hold together; counts what was really read."""

    files: int = field(default_factory=lambda: settings.ARCHIVE_MAX_FILES)
    bytes: int = field(default_factory=lambda: settings.ARCHIVE_MAX_BYTES)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in an archive. `read` raises DocumentRefusedError."""

    name: str
    read: Callable[[], bytes]


def is_archive(name: str) -> bool:
    return PurePosixPath(name.lower()).suffix in _SUFFIXES


def open_entries(path: Path, stack: ExitStack, quota: Quota) -> list[Entry]:
    """The files in an archive, which stays open as long as `stack`.

    Raises DocumentRefusedError when it is none, or has more files than the quota.
    """
    try:
        stream = stack.enter_context(path.open("rb"))
        _refuse_long_directory(stream)
        archive = stack.enter_context(zipfile.ZipFile(stream))
    except OSError as error:
        raise DocumentRefusedError(f"It cannot be read: {error.strerror}.") from error
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
        raise DocumentRefusedError(_BROKEN) from error
    infos = [info for info in archive.infolist() if not info.is_dir() and _is_meant(info)]
    quota.files -= len(infos)
    if quota.files < 0:
        raise DocumentRefusedError(_too_many())
    return [Entry(info.filename, partial(_read, archive, info, quota)) for info in infos]


def _refuse_long_directory(stream: IO[bytes]) -> None:
    """Before the library reads all of it into memory."""
    size = stream.seek(0, 2)
    start = stream.seek(max(size - _END_SIZE - _LONGEST_COMMENT, 0))
    tail = stream.read(size - start)
    end = tail.rfind(_END)
    if end < 0 or len(tail) - end < _END_SIZE:
        raise DocumentRefusedError(_BROKEN)
    (directory,) = struct.unpack_from("<L", tail, end + 12)
    is_large_form = tail[max(end - _LARGE_FORM_SIZE, 0) :].startswith(_LARGE_FORM)
    if is_large_form or directory > settings.ARCHIVE_MAX_FILES * _DIRECTORY_BYTES_PER_FILE:
        raise DocumentRefusedError(_too_many())
    stream.seek(0)


def _too_many() -> str:
    return (
        f"There are more than {settings.ARCHIVE_MAX_FILES:,} files in it. Split it, or ask who "
        "runs the studio to raise ARCHIVE_MAX_FILES."
    )


def _parts(info: zipfile.ZipInfo) -> list[str]:
    return info.filename.replace("\\", "/").split("/")


def _is_meant(info: zipfile.ZipInfo) -> bool:
    parts = _parts(info)
    return not any(part in _LEFT_BY_SYSTEMS or part.startswith("._") for part in parts) and (
        ".." in parts or not parts[-1].startswith(".")
    )


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, quota: Quota) -> bytes:
    _refuse_entry(info)
    refuse_size(info.file_size)
    if info.file_size > quota.bytes:
        raise DocumentRefusedError(
            f"All files together have more than {settings.ARCHIVE_MAX_BYTES:,} bytes. Split the "
            "archive, or ask who runs the studio to raise ARCHIVE_MAX_MEGABYTES."
        )
    try:
        with archive.open(info) as stream:
            data = stream.read(settings.DOCUMENT_MAX_BYTES + 1)
    except Exception as error:  # zlib, lzma and struct have an error each for broken data
        raise DocumentRefusedError("This part of the archive is broken.") from error
    quota.bytes -= len(data)
    refuse_size(len(data))
    return data


def _refuse_entry(info: zipfile.ZipInfo) -> None:
    parts = _parts(info)
    if ".." in parts or info.filename.startswith(("/", "\\")) or ":" in parts[0]:
        raise DocumentRefusedError("Its name leads out of the archive.")
    if info.flag_bits & 0x1:
        raise DocumentRefusedError("It is encrypted.")
    if PurePosixPath(info.filename.lower()).suffix in _ARCHIVES:
        raise DocumentRefusedError("Archives inside archives are not opened.")
