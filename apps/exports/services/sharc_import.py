"""Imports ShARC files: reads all, checks all, then writes all in one transaction or nothing.

Trees that are here already are left as they are. On SQLite nobody else can write meanwhile: some
seconds at 25,000 utterances, which the busy timeout of the others bears.
"""

import contextlib
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import OperationalError, connection, transaction

from apps.accounts.models import User
from apps.exports.domain.sharc_import import TreePlan
from apps.exports.errors import ImportRefusedError
from apps.exports.formats.sharc import Record
from apps.exports.services.sharc_reading import ImportFiles, ImportPlan, Progress, read_files
from apps.exports.services.sharc_writing import write_trees
from apps.exports.services.uploads import KIND, uploaded_files
from apps.projects.models import Job, Project, Split
from apps.projects.services.jobs import finish_job, report_progress, start_job_here
from apps.projects.services.projects import create_project
from apps.scenarios.domain.turns import turns_as_json
from apps.scenarios.models import Utterance
from apps.snippets.models import Document
from apps.trees.models import Tree


def import_here(
    files: ImportFiles, *, slug: str, split: Split | None, author: User | None, progress: Progress
) -> Job:
    """Imports in this process, into the project `slug`, which is made if it is not there.

    Raises ImportRefusedError; then nothing was written, not even the project.
    """
    plan = read_files(files, progress=progress)
    progress("writing", 0, 0)
    with transaction.atomic():
        project = Project.objects.filter(slug=slug).first()
        if project is None:
            project = create_project(Project(slug=slug, name=slug), created_by=author)
        job = start_job_here(
            project, kind=KIND, parameters={"files": list(plan.names)}, created_by=author
        )
        _write(plan, job=job, split=split or files.split_by_name())
    job.refresh_from_db()
    return job


def run_import(job: Job) -> None:
    """Imports the uploaded files of a job that is running. Raises ImportRefusedError."""
    files = uploaded_files(job)
    plan = read_files(files, progress=partial(_report, job))
    split = Split(job.parameters["split"]) if job.parameters["split"] else files.split_by_name()
    _report(job, "writing", 0, 0)
    with transaction.atomic():
        _write(plan, job=job, split=split)


def _report(job: Job, step: str, done: int, total: int) -> None:
    report_progress(job, step=step, done=done, total=total)


def _write(plan: ImportPlan, *, job: Job, split: Split | None) -> None:
    # Two imports of one tree at once would both find it missing.
    Project.objects.select_for_update().get(pk=job.project_id)
    here = _trees_here(job.project)
    _refuse_other_contents(plan, here)
    new = [tree for tree in plan.trees if tree.first.tree_id not in here]
    _refuse_moved_utterances(new, job.project)
    _place_documents(plan, job.project, split)
    skipped = {**_skipped(plan, here=set(here), project=job.project), **_twice(plan)}
    created = write_trees(new, job=job, split=split)
    finish_job(job, report=_report_of(plan, skipped=skipped, created=created))
    transaction.on_commit(_count_anew)


def _count_anew() -> None:
    """SQLite plans its queries by row counts that only this brings up to date."""
    if connection.vendor == "sqlite":
        with contextlib.suppress(OperationalError), connection.cursor() as cursor:
            cursor.execute("PRAGMA optimize=0x10002")  # the next import does it, if one is busy


def _trees_here(project: Project) -> dict[str, tuple[str, str, str]]:
    rows = Tree.objects.filter(project=project).values_list(
        "tree_id",
        "question__snippet__text",
        "question__text",
        "question__snippet__document__source_url",
    )
    return {tree_id: parts for tree_id, *parts in rows}  # type: ignore[misc]


def _refuse_other_contents(plan: ImportPlan, here: Mapping[str, tuple[str, str, str]]) -> None:
    for tree in plan.trees:
        parts = here.get(tree.first.tree_id)
        if parts and list(parts) != [tree.first.snippet, tree.question, tree.first.source_url]:
            raise ImportRefusedError(
                f"{', '.join(plan.names)}: tree {tree.first.tree_id} is here already with another "
                "rule text, question or source URL; import the file into another project"
            )


def _refuse_moved_utterances(new: list[TreePlan], project: Project) -> None:
    known = set(Utterance.objects.filter(project=project).values_list("utterance_id", flat=True))
    for tree in new:
        for utterance in tree.utterances:
            if utterance.record.utterance_id in known:
                raise ImportRefusedError(
                    f"utterance {utterance.record.utterance_id} is here already in another tree; "
                    "import the file into another project"
                )


def _place_documents(plan: ImportPlan, project: Project, split: Split | None) -> None:
    """Documents that are here and in no split go to this one; one in another split is refused."""
    if split is None:
        return
    urls = {tree.first.source_url for tree in plan.trees}
    unplaced = []
    for document in Document.objects.filter(project=project):
        if document.source_url not in urls or document.split == split:
            continue
        if document.split:
            raise ImportRefusedError(
                f"{document.source_url} is here already in the split {document.split}, not "
                f"{split}; all of a document belongs to one split"
            )
        document.split = split
        unplaced.append(document)
    Document.objects.bulk_update(unplaced, ["split"], batch_size=500)


SAME = "is here already, the same"
OTHER = "is here already with other content, which stays"
MISSING = "its tree is here already without it; import the file into another project to have it"


def _skipped(plan: ImportPlan, *, here: set[str], project: Project) -> dict[str, list[str]]:
    """The utterances of trees that are here already, by what is here of them."""
    known = _utterances_here(project) if here else {}
    skipped: dict[str, list[str]] = {SAME: [], OTHER: [], MISSING: []}
    for tree in plan.trees:
        for utterance in tree.utterances if tree.first.tree_id in here else ():
            record = utterance.record
            mine = (*_content(record), utterance.kind.value)
            found = known.get(record.utterance_id)
            reason = MISSING if found is None else SAME if found == mine else OTHER
            skipped[reason].append(record.utterance_id)
    return skipped


def _content(record: Record) -> tuple[Any, ...]:
    turns = turns_as_json(record.history), turns_as_json(record.evidence)
    return record.question, record.scenario, record.answer, *turns, record.as_imported


def _utterances_here(project: Project) -> dict[str, tuple[Any, ...]]:
    rows = Utterance.objects.filter(project=project).values_list(
        "utterance_id", "question", "scenario", "answer", "history", "evidence", "as_imported",
        "kind",
    )  # fmt: skip
    return {utterance_id: tuple(content) for utterance_id, *content in rows.iterator()}


def _twice(plan: ImportPlan) -> dict[str, list[str]]:
    return {"twice in the files": list(plan.repeated)}


def _report_of(
    plan: ImportPlan, *, skipped: dict[str, list[str]], created: Counter[str]
) -> dict[str, Any]:
    """What the page and the command show; see templates/jobs/_sharc-import.html."""
    filled = {reason: ids for reason, ids in skipped.items() if ids}
    return {
        "files": list(plan.names),
        "read": plan.read,
        "created": [[what, count] for what, count in created.items()],
        "skipped": filled,
        "is_all_here": not created and set(filled) == {SAME},
        "findings": [
            {"what": found.what, "of": found.of, "groups": [list(ids) for ids in found.groups]}
            for found in plan.findings
        ],
    }
