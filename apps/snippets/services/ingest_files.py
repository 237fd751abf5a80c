"""Files on their way in: single ones, folders and zip archives, one at a time in memory.

A file without a source URL gets `file:///` and its name as one: it has no host, and the same name
again is a new version of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from urllib.parse import quote

from django.conf import settings

from apps.snippets.domain.extraction import Format, format_of
from apps.snippets.errors import DocumentRefusedError
from apps.snippets.services.ingest import Details, refuse_size
from apps.snippets.services.ingest_archives import Entry, Quota, is_archive, open_entries
from apps.snippets.services.ingest_index import Index, read_index

INDEX_NAME = "index.json"
_UNKNOWN = "Its name does not end in .html, .htm, .xhtml, .md, .markdown, .txt or .text."


@dataclass(frozen=True, slots=True)
class Incoming:
    """One file: `name` is how the person who sends it knows it.

    `read` raises DocumentRefusedError.
    """

    name: str
    details: Details
    read: Callable[[], tuple[bytes, Format]]


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that is here: `name` as its sender knows it, `path` where it lies now."""

    name: str
    path: Path
    details: Details | None = None


def uploads_in(path: Path, index: Index, *, index_folder: Path | None) -> Iterator[Upload]:
    """`path` itself, or what a folder has of the kinds that can be read; hidden ones apart."""
    if not path.is_dir():
        yield Upload(path.name, path, index.of(*_names(path, path.name, index_folder)))
        return
    for found in sorted(path.rglob("*")):
        inner = found.relative_to(path)
        is_hidden = any(part.startswith(".") for part in inner.parts)
        if found.is_file() and not is_hidden and (format_of(found.name) or is_archive(found.name)):
            name = inner.as_posix()
            yield Upload(name, found, index.of(*_names(found, name, index_folder)))


def _names(path: Path, name: str, index_folder: Path | None) -> list[str]:
    """What the list of files may call this one."""
    if index_folder is None:
        return []
    try:
        return [path.resolve().relative_to(index_folder.resolve()).as_posix(), name]
    except ValueError:
        return [name]


def incoming(uploads: Iterable[Upload], defaults: Details, stack: ExitStack) -> Iterator[Incoming]:
    """Each file, and each in an archive. Archives stay open as long as `stack`."""
    quota = Quota()
    for upload in uploads:
        if is_archive(upload.name):
            yield from _in_archive(upload, defaults, stack, quota)
        else:
            details = _with_defaults(upload.details, defaults, upload.name)
            yield Incoming(shown(upload.name), details, partial(_read_file, upload))


def _with_defaults(known: Details | None, defaults: Details, name: str) -> Details:
    known = known or Details()
    return Details(
        source_url=known.source_url or defaults.source_url or _local_url(name),
        title=known.title or defaults.title,
        language=known.language or defaults.language,
        licence=known.licence or defaults.licence,
        attribution=known.attribution or defaults.attribution,
        retrieved_on=known.retrieved_on or defaults.retrieved_on,
    )


def _local_url(name: str) -> str:
    return "file:///" + quote(shown(name).replace("\\", "/").lstrip("/"))


def shown(name: str) -> str:
    """A file's name as text: on disk it may be any bytes."""
    return name.encode("utf-8", "replace").decode("utf-8")


def _read_file(upload: Upload) -> tuple[bytes, Format]:
    text_format = _format(upload.name)
    try:
        with upload.path.open("rb") as stream:
            refuse_size(upload.path.stat().st_size)
            data = stream.read(settings.DOCUMENT_MAX_BYTES + 1)
    except OSError as error:
        raise DocumentRefusedError(f"It cannot be read: {error.strerror}.") from error
    refuse_size(len(data))
    return data, text_format


def _format(name: str) -> Format:
    found = format_of(name)
    if found is None:
        raise DocumentRefusedError(_UNKNOWN)
    return found


# Archives -----------------------------------------------------------------------------------


def _in_archive(
    upload: Upload, defaults: Details, stack: ExitStack, quota: Quota
) -> Iterator[Incoming]:
    """What is in it; a list called index.json says where its files come from."""
    try:
        entries = open_entries(upload.path, stack, quota)
        index, folder = _index_in(entries)
    except DocumentRefusedError as error:
        yield _refused(upload.name, str(error))
        return
    for entry in entries:
        if entry.name == f"{folder}{INDEX_NAME}":
            continue
        name = entry.name.removeprefix(folder)
        details = _with_defaults(index.of(name), replace(defaults, source_url="", title=""), name)
        yield Incoming(
            shown(f"{upload.name}/{entry.name}"), details, partial(_read_entry, entry)
        )  # fmt: skip
    for missing in index.unused():
        yield _refused(f"{upload.name}/{folder}{missing}", "It is in the list, but not there.")


def _index_in(entries: Iterable[Entry]) -> tuple[Index, str]:
    """The list, and the folder it stands in; the first one of several."""
    for entry in entries:
        folder, _, name = entry.name.rpartition("/")
        if name == INDEX_NAME:
            folder = f"{folder}/" if folder else ""
            return read_index(entry.read(), name=entry.name), folder
    return Index(), ""


def _read_entry(entry: Entry) -> tuple[bytes, Format]:
    return entry.read(), _format(entry.name)


def _refused(name: str, reason: str) -> Incoming:
    def read() -> tuple[bytes, Format]:
        raise DocumentRefusedError(reason)

    return Incoming(shown(name), Details(source_url=_local_url(name)), read)
