"""Exports a project into a folder, or as a job's zip file: all of it appears, or nothing."""

import hashlib
import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.files.storage import default_storage
from django.db.models import Count

from apps.accounts.models import User
from apps.exports.errors import ExportRefusedError
from apps.exports.formats import sharc
from apps.projects.models import Job, Project, Split
from apps.projects.services.jobs import finish_job, queue_job, report_progress
from apps.scenarios.domain.turns import turns_from_json
from apps.scenarios.models import Utterance

KIND = "export"
TASK = "exports.export"
FORMATS = ("sharc",)

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much."""

REPORT_EVERY = 1000
CLASSES = Utterance.AnswerClass


def export_here(
    project: Project, *, splits: Sequence[Split], out: Path, progress: Progress
) -> dict[str, Any]:
    """Writes ShARC's folder for these splits (none named: all that have utterances) into `out`.

    Returns the report: utterances by split and class, and warnings. Raises ExportRefusedError.
    """
    counts = _counts(project, splits)
    try:
        out.mkdir(parents=True, exist_ok=True)
        # In `out` itself, so that the files only change their names in the end.
        with tempfile.TemporaryDirectory(prefix=".partial-", dir=out) as partial_folder:
            _write_sharc(project, list(counts), Path(partial_folder), progress)
            _move_files(Path(partial_folder), out)
    except OSError as error:
        where = error.filename or out
        raise ExportRefusedError(f"{where}: cannot be written: {error.strerror}") from error
    return _report_of(project, counts)


def queue_export(
    project: Project, *, format_name: str, splits: Sequence[Split], author: User
) -> Job:
    """Queues an export. Raises ExportRefusedError when there is nothing to export."""
    _counts(project, splits)
    parameters = {"format": format_name, "splits": list(splits)}
    return queue_job(project, kind=KIND, task=TASK, parameters=parameters, created_by=author)


@dataclass(frozen=True)
class SplitRow:
    """The utterances of one split, by class; `split` is empty for documents in none."""

    split: str
    name: str
    yes: int
    no: int
    irrelevant: int
    more: int

    @property
    def all(self) -> int:
        return self.yes + self.no + self.irrelevant + self.more


def split_table(project: Project) -> list[SplitRow]:
    """What there is to export, for a preview."""
    found = _classes_by_split(project)
    names = [(split.value, split.label) for split in Split] + [("", "In no split yet")]
    return [
        SplitRow(split, name, **{one.value: found[split][one] for one in CLASSES})
        for split, name in names
    ]


def run_export(job: Job) -> None:
    """Exports as the running job asks; its result is a zip file in the storage."""
    splits = [Split(split) for split in job.parameters["splits"]]
    with tempfile.TemporaryDirectory(prefix="export-") as folder:
        report = export_here(
            job.project, splits=splits, out=Path(folder) / "files", progress=partial(_tell, job)
        )
        archive = _zip(Path(folder) / "files", Path(folder) / "export.zip")
        report_progress(job, step="keeping the result")
        with archive.open("rb") as stream:
            report |= {
                "size": archive.stat().st_size,
                "sha256": hashlib.file_digest(stream, "sha256").hexdigest(),
            }
            stream.seek(0)
            name = default_storage.save(f"exports/{job.pk}/{job.project.slug}.zip", File(stream))
    finish_job(job, report=report, result=name)


def _tell(job: Job, step: str, done: int, total: int) -> None:
    report_progress(job, step=step, done=done, total=total)


def _counts(project: Project, splits: Sequence[Split]) -> dict[Split, Counter[str]]:
    """Utterances by split and class, of the splits that are to be exported."""
    found = _classes_by_split(project)
    wanted = splits or [split for split in Split if found[split]]
    if not wanted:
        raise ExportRefusedError(
            f"{project.slug}: no utterance is in a split; place the documents in splits first"
        )
    if empty := [split for split in wanted if not found[split]]:
        raise ExportRefusedError(f"{project.slug}: the split {', '.join(empty)} has no utterances")
    return {split: found[split] for split in Split if split in wanted}


def _classes_by_split(project: Project) -> dict[str, Counter[str]]:
    rows = (
        Utterance.objects.filter(project=project)
        .values_list("tree__question__snippet__document__split", "answer_class")
        .annotate(Count("pk"))
        .order_by()
    )
    found: dict[str, Counter[str]] = {split: Counter() for split in (*Split, "")}
    for split, answer_class, count in rows:
        found[split][answer_class] = count
    return found


def _report_of(project: Project, counts: dict[Split, Counter[str]]) -> dict[str, Any]:
    exported = sum(sum(classes.values()) for classes in counts.values())
    left_out = Utterance.objects.filter(project=project).count() - exported
    warnings = [
        f"{split} has no {answer_class.label} utterance: the field's evaluators need all four"
        for split, classes in counts.items()
        for answer_class in CLASSES
        if not classes[answer_class]
    ]
    if left_out:
        warnings.append(f"{left_out:,} utterances of other splits, or of none, were left out")
    return {
        "exported": {split: dict(classes) for split, classes in counts.items()},
        "warnings": warnings,
    }


def _write_sharc(
    project: Project, splits: Sequence[Split], folder: Path, progress: Progress
) -> None:
    """NAME/json/sharc_SPLIT.json and the two lists of negatives (formats.md, section 1)."""
    root = folder / project.slug
    negatives: dict[str, list[str]] = {"question": [], "scenario": []}
    (root / "json").mkdir(parents=True)
    for split in splits:
        with (root / "json" / f"sharc_{split}.json").open("w", encoding="ascii") as stream:
            records = _records(project, split, negatives, progress)
            sharc.write_records(records, stream.write)
    (root / "negative_sample_utterance_ids").mkdir()
    for kind, ids in negatives.items():
        name = f"sharc_negative_{kind}_utterance_ids.txt"
        text = "".join(f"{utterance_id}\n" for utterance_id in sorted(ids))
        (root / "negative_sample_utterance_ids" / name).write_text(text, encoding="ascii")


def _records(
    project: Project, split: Split, negatives: dict[str, list[str]], progress: Progress
) -> Iterator[sharc.Record]:
    """The utterances of a split, sorted by id; the ids of negatives are put aside on the way."""
    rows = Utterance.objects.filter(project=project).in_split(split).order_by("utterance_id")
    total = rows.count()
    values = rows.values_list(
        "kind", "utterance_id", "tree__tree_id", "tree__question__snippet__document__source_url",
        "tree__question__snippet__text", "question", "scenario", "answer", "history", "evidence",
        "as_imported",
    )  # fmt: skip
    for number, (kind, *parts) in enumerate(values.iterator(chunk_size=REPORT_EVERY)):
        if number % REPORT_EVERY == 0:
            progress(f"writing {split}", number, total)
        if kind == Utterance.Kind.NEGATIVE_QUESTION:
            negatives["question"].append(parts[0])
        elif kind == Utterance.Kind.NEGATIVE_SCENARIO:
            negatives["scenario"].append(parts[0])
        yield _record(*parts)


def _record(
    utterance_id: str, tree_id: str, source_url: str, snippet: str, question: str, scenario: str,
    answer: str, history: list[dict[str, str]], evidence: list[dict[str, str]], as_imported: str,
) -> sharc.Record:  # fmt: skip
    return sharc.Record(
        utterance_id, tree_id, source_url, snippet, question, scenario, answer,
        turns_from_json(history), turns_from_json(evidence), as_imported,
    )  # fmt: skip


def _move_files(source: Path, target: Path) -> None:
    for path in sorted(source.rglob("*")):
        if path.is_file():
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            path.replace(place)


def _zip(folder: Path, archive: Path) -> Path:
    """The folder's files, sorted, with one date for all: the same files give the same bytes."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(str(path.relative_to(folder)), (1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                with path.open("rb") as stream, target.open(entry, "w") as copy:
                    shutil.copyfileobj(stream, copy)
    return archive
