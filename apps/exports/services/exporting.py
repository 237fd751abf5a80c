"""Exports a project into a folder: all of it appears, or nothing. As a job: export_jobs.py."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from apps.accounts.models import User
from apps.exports.errors import ExportRefusedError
from apps.exports.formats.manifest import list_files
from apps.exports.formats.pieces import pieces
from apps.exports.formats.rows import Options
from apps.exports.services.cards import add_card
from apps.exports.services.exportable import classes_by_split
from apps.exports.services.left_out import crossing, left_out, missing_classes
from apps.exports.services.licences import without_licence
from apps.exports.services.packing import write_manifest
from apps.exports.services.placing import place
from apps.exports.services.release import carried, unfit, unfit_at_once
from apps.exports.services.snapshot import open_snapshot, take_snapshot
from apps.projects.models import Job, Project, Split
from apps.projects.services.jobs import queue_job
from apps.scenarios.models import Utterance

KIND = "export"
TASK = "exports.export"

CLASSES = Utterance.AnswerClass
MOST_SHARDS = 400
DEFAULTS = Options()

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much."""


@dataclass(frozen=True)
class Wanted:
    """What is to be exported. No splits: all that have utterances."""

    formats: Sequence[str] = ("sharc",)
    splits: Sequence[Split] = ()
    options: Options = DEFAULTS
    allow_unverified: bool = False

    @property
    def parameters(self) -> dict[str, Any]:
        """As JSON: of a job, and in the manifest."""
        return {
            "splits": [split.value for split in self.splits],
            **asdict(self.options),
            "allow_unverified": self.allow_unverified,
        }

    @classmethod
    def of_job(cls, job: Job) -> Wanted:
        rest = dict(job.parameters)
        formats = rest.pop("formats")
        splits = [Split(split) for split in rest.pop("splits")]
        allow_unverified = rest.pop("allow_unverified")
        return cls(formats, splits, Options(**rest), allow_unverified)


@dataclass(frozen=True)
class Plan:
    """Which splits an export will hold, how many utterances about, and what it leaves out."""

    splits: tuple[Split, ...]
    rows: list[SplitRow]
    warnings: list[str]
    release: dict[str, Any]
    """What the manifest says of it as a release."""

    @property
    def total(self) -> int:
        return sum(row.all for row in self.rows)


def plan_export(project: Project, wanted: Wanted) -> Plan:
    """What there is to export now. Raises ExportRefusedError when nothing is, or may go out."""
    return _plan(project, wanted, unfit)


def plan_at_once(project: Project, wanted: Wanted) -> Plan:
    """The same while somebody waits: large projects are looked at again by the job."""
    return _plan(project, wanted, unfit_at_once)


class Gate(Protocol):
    def __call__(
        self, project: Project, splits: Iterable[str], *, allow_unverified: bool
    ) -> Iterable[str]: ...


def _plan(project: Project, wanted: Wanted, gate: Gate) -> Plan:
    _refuse_lengths(wanted.options)
    found, unverified = classes_by_split(project, allow_unverified=wanted.allow_unverified)
    splits = tuple(split for split in Split if split in (wanted.splits or _filled(found)))
    empty = list(_empty(splits, found, unverified))
    # What stands in the way is said all at once, and of what is yet to be verified, too.
    licences = without_licence(
        project, splits, allow_unverified=wanted.allow_unverified or bool(empty)
    )
    waits_for = gate(project, splits, allow_unverified=wanted.allow_unverified)
    if reasons := [*empty, *licences, *waits_for]:
        raise ExportRefusedError(f"{project.slug}: {'; also: '.join(reasons)}", reasons)
    release = carried(project, splits, allow_unverified=wanted.allow_unverified)
    held_back = {} if wanted.allow_unverified else unverified
    warnings = [
        *missing_classes(found, splits), *release.warnings,
        *left_out(project, found, held_back, splits, is_chosen=bool(wanted.splits)),
        *crossing(project, splits),
    ]  # fmt: skip
    rows = [_row(split, found, unverified) for split in splits]
    return Plan(splits, rows, warnings, release.in_manifest)


def _refuse_lengths(options: Options) -> None:
    shortest, longest = options.min_length, options.max_length
    if shortest and longest and shortest > longest:
        raise ExportRefusedError(
            f"--min-length {shortest} is over --max-length {longest}: no text is so long; swap them"
        )


def export_here(
    project: Project, *, splits: Sequence[Split], out: Path, progress: Progress,
    formats: Sequence[str] = ("sharc",), options: Options = DEFAULTS,
    allow_unverified: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Writes one format's files, or a folder for each of several, and a manifest into `out`.

    Returns the report: utterances by split and class, and warnings. Raises ExportRefusedError.
    """
    wanted = Wanted(formats, splits, options, allow_unverified)
    plan = plan_export(project, wanted)
    with _refusing_what_cannot_be_written(out), _folder_beside(out) as aside:
        told = _Told(progress, plan.total)
        snapshot = aside / "snapshot.sqlite3"
        take_snapshot(
            project, plan.splits, snapshot, told.add, allow_unverified=allow_unverified
        )  # fmt: skip
        exported = _write(wanted, plan, snapshot, aside / "export", told)
        place(aside / "export", out)
    return {"exported": exported, "warnings": plan.warnings}


class _Told:
    """Tells how many utterances of a step went by."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._step = progress, "reading the project"
        self._done, self._total = 0, total

    def begin(self, step: str, total: int) -> None:
        self._step, self._done, self._total = step, 0, total
        self.add(0)

    def add(self, number: int) -> None:
        self._done += number
        # A format may go over its utterances twice: for their trees, and one by one.
        self._progress(self._step, min(self._done, self._total), self._total)


def _write(wanted: Wanted, plan: Plan, snapshot: Path, folder: Path, told: _Told) -> dict[str, Any]:
    inside = {name: name if len(wanted.formats) > 1 else "" for name in wanted.formats}
    with open_snapshot(snapshot, told.add) as source:
        for piece in pieces(wanted.formats, source, wanted.options):
            told.begin(f"writing {piece.name}", piece.size(source, wanted.options))
            target = folder / inside[piece.format]
            target.mkdir(parents=True, exist_ok=True)
            piece.write(source, target, wanted.options)
        for name, one in inside.items():
            add_card(name, source, folder / one, wanted.options)
        files = {name: (one, list_files(folder, one)) for name, one in inside.items()}
        return write_manifest(
            source, wanted.parameters, wanted.options, files, plan.release, folder
        )


@contextmanager
def _refusing_what_cannot_be_written(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        told = str(error.filename or out)
        where = out if _ASIDE in told else told  # nobody asked for the folder beside it
        raise ExportRefusedError(f"{where}: cannot be written: {error.strerror}") from error


@contextmanager
def _folder_beside(out: Path) -> Iterator[Path]:
    """On the same disk, so that the files only change their names in the end."""
    if os.path.lexists(out) and not out.is_dir():
        raise ExportRefusedError(f"{out}: cannot be written: it is no folder")
    place = out if out.exists() else out.parent
    place.mkdir(parents=True, exist_ok=True)
    for one in {place, out.parent}:  # a killed export may have stood beside what it made
        _forget_killed(one)
    with tempfile.TemporaryDirectory(prefix=f"{_ASIDE}{os.getpid()}-", dir=place) as aside:
        yield Path(aside)


_ASIDE = ".partial-"


def _forget_killed(place: Path) -> None:
    """Removes what exports left whose process was killed."""
    for path in place.glob(f"{_ASIDE}*"):
        found = re.match(rf"{re.escape(_ASIDE)}(\d+)-", path.name)
        if found and not _is_alive(int(found[1])):
            shutil.rmtree(path, ignore_errors=True)


def _is_alive(process: int) -> bool:
    with suppress(PermissionError):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
    return True


def queue_export(project: Project, wanted: Wanted, *, author: User) -> Job:
    """Queues an export. Raises ExportRefusedError when there is nothing to export."""
    plan_at_once(project, wanted)
    parameters = {"formats": list(wanted.formats), **wanted.parameters}
    return queue_job(project, kind=KIND, task=TASK, parameters=parameters, created_by=author)


@dataclass(frozen=True)
class SplitRow:
    """The utterances of one split, by class; `split` is empty for documents in none.

    `unverified` are those among them that an export leaves out unless it is told otherwise.
    """

    split: str
    name: str
    yes: int
    no: int
    irrelevant: int
    more: int
    unverified: int

    @property
    def all(self) -> int:
        return self.yes + self.no + self.irrelevant + self.more

    @property
    def is_waiting(self) -> bool:
        """There is something, and an expert has seen none of it."""
        return bool(self.all) and self.all == self.unverified

    @property
    def is_ready(self) -> bool:
        return bool(self.split) and self.all > self.unverified


def split_table(project: Project) -> list[SplitRow]:
    """What there is to export, for a preview."""
    found, unverified = classes_by_split(project, allow_unverified=True)
    return [_row(split, found, unverified) for split in (*Split, "")]


def _row(split: str, found: dict[str, Counter[str]], unverified: Counter[str]) -> SplitRow:
    name = Split(split).label if split else "In no split yet"
    counts = {one.value: found[split][one] for one in CLASSES}
    return SplitRow(split, name, **counts, unverified=unverified[split])


def _filled(found: dict[str, Counter[str]]) -> list[Split]:
    return [split for split in Split if found[split]]


def _empty(
    splits: Sequence[Split], found: dict[str, Counter[str]], unverified: Counter[str]
) -> Iterator[str]:
    """Why nothing of these splits can go out: in one sentence, what is to be done about it."""
    empty = [split for split in splits if not found[split]]
    yield from (f"the split {split} has no utterances" for split in empty if not unverified[split])
    waiting = {str(split): unverified[split] for split in empty if unverified[split]}
    if not splits:
        waiting = {"": unverified.total()} if unverified else {}
        if not waiting:
            yield "no utterance is in a split; place the documents in splits first"
    if waiting:
        numbers = " and ".join(f"{number:,}" for number in waiting.values())
        yield (
            f"{_there(list(waiting))} only utterances that no expert has verified ({numbers}); "
            "verify them, or allow unverified ones (--allow-unverified)"
        )


def _there(splits: Sequence[str]) -> str:
    if splits == [""]:
        return "there are"
    return f"the split {splits[0]} has" if len(splits) == 1 else f"{' and '.join(splits)} have"
