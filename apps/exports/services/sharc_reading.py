"""Reads ShARC files into a plan, before anything is written."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from apps.exports.domain.sharc_findings import Finding, find_oddities
from apps.exports.domain.sharc_import import Negatives, TreePlan, plan_trees
from apps.exports.errors import ImportRefusedError
from apps.exports.formats.sharc import Record, SharcError, read_ids, read_records
from apps.projects.models import Split

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much."""

REPORT_EVERY = 1000


@dataclass(frozen=True)
class ImportFiles:
    """What to read. Names are those that the person gave, for messages."""

    utterances: tuple[tuple[str, Path], ...]
    negative_questions: tuple[str, Path] | None = None
    negative_scenarios: tuple[str, Path] | None = None

    def split_by_name(self) -> Split | None:
        """The split that the official names give, `sharc_dev.json`, when all files agree on it."""
        found = {
            next((split for split in Split if split in Path(name).stem.split("_")), None)
            for name, _ in self.utterances
        }
        return found.pop() if len(found) == 1 else None


@dataclass(frozen=True)
class ImportPlan:
    """All that the files say. `read` counts utterances; `repeated` came twice, word for word."""

    names: tuple[str, ...]
    read: int
    repeated: tuple[str, ...]
    trees: tuple[TreePlan, ...]
    findings: tuple[Finding, ...]


def read_files(files: ImportFiles, *, progress: Progress) -> ImportPlan:
    """Reads and checks everything. Raises ImportRefusedError with one line."""
    try:
        return _plan(files, progress)
    except SharcError as error:
        raise ImportRefusedError(str(error)) from error


def _plan(files: ImportFiles, progress: Progress) -> ImportPlan:
    negatives = Negatives(_ids(files.negative_questions), _ids(files.negative_scenarios))
    records: dict[str, Record] = {}
    repeated: list[str] = []
    names = tuple(name for name, _ in files.utterances)
    for name, path in files.utterances:
        with _open(name, path) as stream:
            for record in _watched(read_records(stream, file=name), stream, name, path, progress):
                if records.setdefault(record.utterance_id, record) != record:
                    what = f"utterance {record.utterance_id}: stands here twice with two contents"
                    raise SharcError(name, "", what)
                if records[record.utterance_id] is not record:
                    repeated.append(record.utterance_id)
    progress("rebuilding trees", 0, 0)
    trees = tuple(plan_trees(records.values(), negatives=negatives, file=", ".join(names)))
    progress("looking for oddities", 0, 0)
    return ImportPlan(
        names, len(records) + len(repeated), tuple(repeated), trees, tuple(find_oddities(trees))
    )


def _open(name: str, path: Path) -> BinaryIO:
    try:
        if path.exists() and not path.is_file():
            raise ImportRefusedError(f"{name}: not a file; a pipe or folder cannot be imported")
        size = path.stat().st_size
        if size > settings.IMPORT_MAX_BYTES:
            raise ImportRefusedError(
                f"{name}: {size:,} bytes are more than IMPORT_MAX_MEGABYTES allows "
                f"({settings.IMPORT_MAX_BYTES:,}); split the file, or raise the limit"
            )
        return path.open("rb")
    except OSError as error:
        raise ImportRefusedError(f"{name}: cannot be read: {error.strerror}") from error


def _ids(source: tuple[str, Path] | None) -> frozenset[str]:
    if source is None:
        return frozenset()
    with _open(*source) as stream:
        return read_ids(stream, file=source[0])


def _watched(
    records: Iterable[Record], stream: BinaryIO, name: str, path: Path, progress: Progress
) -> Iterator[Record]:
    size = path.stat().st_size
    for number, record in enumerate(records):
        if number % REPORT_EVERY == 0:
            progress(f"reading {name}", stream.tell(), size)
        yield record
