"""Exports a project into a folder, or as a job's zip file: all of it appears, or nothing."""

import hashlib
import shutil
import tempfile
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage

from apps.accounts.models import User
from apps.exports.errors import ExportRefusedError
from apps.exports.formats.manifest import MANIFEST, as_text, describe
from apps.exports.formats.registry import FORMATS
from apps.exports.formats.rows import Options
from apps.exports.services.cards import add_card
from apps.exports.services.exportable import classes_by_split, count_of_growing_trees
from apps.exports.services.licences import refuse_without_licence
from apps.exports.services.placing import place
from apps.exports.services.project_source import Progress, ProjectSource
from apps.exports.services.release import Carried, carried, refuse_unfit, refuse_unfit_at_once
from apps.projects.models import Job, Project, Split
from apps.projects.services.jobs import finish_job, queue_job, report_progress
from apps.scenarios.models import Utterance

KIND = "export"
TASK = "exports.export"

CLASSES = Utterance.AnswerClass
MOST_SHARDS = 400
DEFAULTS = Options()


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
    def from_parameters(cls, formats: Sequence[str], parameters: dict[str, Any]) -> "Wanted":
        rest = dict(parameters)
        splits = [Split(split) for split in rest.pop("splits")]
        allow_unverified = rest.pop("allow_unverified")
        return cls(formats, splits, Options(**rest), allow_unverified)


def export_here(
    project: Project, *, splits: Sequence[Split], out: Path, progress: Progress,
    formats: Sequence[str] = ("sharc",), options: Options = DEFAULTS,
    allow_unverified: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Writes one format's files, or a folder for each of several, and a manifest into `out`.

    Returns the report: utterances by split and class, and warnings. Raises ExportRefusedError.
    """
    wanted = Wanted(formats, splits, options, allow_unverified)
    counts = _counts(project, wanted)
    refuse_unfit(project, counts, allow_unverified=allow_unverified)
    with _refusing_what_cannot_be_written(out), _folder_beside(out) as aside:
        _write(project, wanted, counts, aside, progress, in_folders=len(formats) > 1)
        place(aside, out)
    return _report_of(project, wanted, counts)


@contextmanager
def _refusing_what_cannot_be_written(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = error.filename or out
        raise ExportRefusedError(f"{where}: cannot be written: {error.strerror}") from error


@contextmanager
def _folder_beside(out: Path) -> Iterator[Path]:
    """On the same disk, so that the files only change their names in the end."""
    place = out if out.exists() else out.parent
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=place) as aside:
        yield Path(aside) / "export"


def _write(
    project: Project, wanted: Wanted, counts: dict[Split, Counter[str]], folder: Path,
    progress: Progress, *, in_folders: bool,
) -> None:  # fmt: skip
    source = ProjectSource(
        project, list(counts), progress, allow_unverified=wanted.allow_unverified
    )
    parameters = {**wanted.parameters, "splits": list(source.splits)}
    counted = {split.value: dict(sorted(classes.items())) for split, classes in counts.items()}
    release = _carried(project, wanted, counts).in_manifest
    entries = []
    for name in wanted.formats:
        inside = name if in_folders else ""
        (folder / inside).mkdir(parents=True, exist_ok=True)
        source.doing = f"writing {name}"
        FORMATS[name].write(source, folder / inside, wanted.options)
        add_card(name, source, folder / inside)
        licences = source.about.licences
        entry = describe(folder, name, inside, parameters, counted, licences)
        entries.append({**entry, **release})
    text = as_text(project.slug, software_version(), entries)
    (folder / MANIFEST).write_text(text, encoding="utf-8", newline="\n")


@cache
def software_version() -> str:
    with (settings.BASE_DIR / "pyproject.toml").open("rb") as stream:
        version: str = tomllib.load(stream)["project"]["version"]
    return version


def queue_export(project: Project, wanted: Wanted, *, author: User) -> Job:
    """Queues an export. Raises ExportRefusedError when there is nothing to export."""
    counts = _counts(project, wanted)
    refuse_unfit_at_once(project, counts, allow_unverified=wanted.allow_unverified)
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


def split_table(project: Project) -> list[SplitRow]:
    """What there is to export, for a preview."""
    found, unverified = classes_by_split(project, allow_unverified=True)
    names = [(split.value, split.label) for split in Split] + [("", "In no split yet")]
    return [
        SplitRow(
            split,
            name,
            **{one.value: found[split][one] for one in CLASSES},
            unverified=unverified[split],
        )
        for split, name in names
    ]


def run_export(job: Job) -> None:
    """Exports as the running job asks; its result is a zip file in the storage."""
    parameters = dict(job.parameters)
    wanted = Wanted.from_parameters(parameters.pop("formats"), parameters)
    counts = _counts(job.project, wanted)
    refuse_unfit(job.project, counts, allow_unverified=wanted.allow_unverified)
    with tempfile.TemporaryDirectory(prefix="export-") as aside:
        folder, archive = Path(aside) / "files", Path(aside) / "export.zip"
        _write(job.project, wanted, counts, folder, partial(_tell, job), in_folders=True)
        _zip(folder, archive)
        report_progress(job, step="keeping the result")
        with archive.open("rb") as stream:
            sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
            stream.seek(0)
            name = default_storage.save(f"exports/{job.pk}/{job.project.slug}.zip", File(stream))
        size = archive.stat().st_size
    report = {**_report_of(job.project, wanted, counts), "size": size, "sha256": sha256}
    finish_job(job, report=report, result=name)


def _tell(job: Job, step: str, done: int, total: int) -> None:
    report_progress(job, step=step, done=done, total=total)


def _counts(project: Project, wanted: Wanted) -> dict[Split, Counter[str]]:
    """Utterances by split and class, of the splits that are to be exported."""
    found, unverified = classes_by_split(project, allow_unverified=wanted.allow_unverified)
    splits = wanted.splits or [split for split in Split if found[split]]
    for split in splits:
        if not found[split]:
            raise ExportRefusedError(f"{project.slug}: {_nothing_in(split, unverified[split])}")
    if not splits:
        why = _nothing_in("", sum(unverified.values()))
        raise ExportRefusedError(f"{project.slug}: {why}")
    refuse_without_licence(project, splits, allow_unverified=wanted.allow_unverified)
    return {split: found[split] for split in Split if split in splits}


def _nothing_in(split: str, unverified: int) -> str:
    if unverified:
        where = f"the split {split} has" if split else "there are"
        return (
            f"{where} only utterances that no expert has verified ({unverified:,}); verify them, "
            "or allow unverified ones"
        )
    if split:
        return f"the split {split} has no utterances"
    return "no utterance is in a split; place the documents in splits first"


def _report_of(
    project: Project, wanted: Wanted, counts: dict[Split, Counter[str]]
) -> dict[str, Any]:
    found, unverified = classes_by_split(project, allow_unverified=wanted.allow_unverified)
    others = sum(sum(found[split].values()) for split in found if split not in counts)
    warnings = [
        f"{split} has no {answer_class.label} utterance: the field's evaluators need all four"
        for split, classes in counts.items()
        for answer_class in CLASSES
        if not classes[answer_class]
    ]
    if others:
        warnings.append(f"{others:,} utterances of other splits, or of none, were left out")
    if waiting := count_of_growing_trees(project, counts):
        warnings.append(
            f"{waiting:,} utterances were left out: their trees grow again, and wait for branches"
        )
    warnings += _carried(project, wanted, counts).warnings
    if not wanted.allow_unverified:
        warnings += [
            f"{unverified[split]:,} utterances of {split} were left out: no expert has verified "
            "them"
            for split in counts
            if unverified[split]
        ]
    return {
        "exported": {split: dict(classes) for split, classes in counts.items()},
        "warnings": warnings,
    }


def _carried(project: Project, wanted: Wanted, counts: dict[Split, Counter[str]]) -> Carried:
    return carried(project, counts, allow_unverified=wanted.allow_unverified)


def _zip(folder: Path, archive: Path) -> None:
    """The folder's files, sorted, with one date for all: the same files give the same bytes."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(str(path.relative_to(folder)), (1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                with path.open("rb") as stream, target.open(entry, "w", force_zip64=True) as copy:
                    shutil.copyfileobj(stream, copy)
