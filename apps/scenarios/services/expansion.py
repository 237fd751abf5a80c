"""Expansion of a project's trees into utterances (design 4.6), and what becomes of earlier ones.

Only trees that have changed since their last expansion are expanded anew. What their tree gives
and the project lacks is added; what their tree no longer gives is taken out, and comes back, with
its id, when the tree gives it again. What an expert has verified, what was corrected and what was
imported is never taken out: it is marked and reported. Twice in a row changes nothing the second
time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Prefetch, Q
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Job, Project
from apps.projects.services import states
from apps.projects.services.jobs import finish_job, queue_job, report_progress, start_job_here
from apps.scenarios.domain.facts import REFUSALS, FactFault
from apps.scenarios.models import (
    EXPANSION,
    Correction,
    Derived,
    NegativeQuestion,
    NegativeScenario,
    Scenario,
    ScenarioFault,
    Utterance,
)
from apps.scenarios.services.given import Given, compare
from apps.scenarios.services.prints import prints_of_expansion
from apps.scenarios.services.proof import prove
from apps.trees.models import Tree

TASK = "scenarios.expand"
BATCH = 500
TREES_AT_ONCE = 100

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much."""

State = Utterance.State


@dataclass
class _Tally:
    """What the expansion of a project comes to. Lists hold utterance ids."""

    expanded: int = 0
    added: Counter[str] = field(default_factory=Counter)
    here: int = 0
    same_id: list[str] = field(default_factory=list)
    back: list[str] = field(default_factory=list)
    taken_out: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)


@transaction.atomic
def expand_project(project: Project, *, author: User | None, progress: Progress) -> Job:
    """Brings the utterances of the project in line with its trees; the job has the report."""
    job = start_job_here(project, kind=EXPANSION, parameters={}, created_by=author)
    _expand(job, progress)
    job.refresh_from_db()
    return job


@transaction.atomic
def preview_expansion(project: Project, *, progress: Progress) -> dict[str, Any]:
    """The report of an expansion that is not made: nothing is written."""
    report: dict[str, Any] = expand_project(project, author=None, progress=progress).report
    transaction.set_rollback(True)
    return report


def queue_expansion(project: Project, *, author: User) -> Job:
    """The same in the background."""
    return queue_job(project, kind=EXPANSION, task=TASK, parameters={}, created_by=author)


@transaction.atomic
def run_expansion(job: Job) -> None:
    """The work of a queued job."""
    _expand(job, lambda step, done, total: report_progress(job, step=step, done=done, total=total))


def _expand(job: Job, progress: Progress) -> None:
    project = job.project
    # Two expansions at once would both find the same utterances missing.
    Project.objects.select_for_update().get(pk=project.pk)
    finished = Tree.objects.finished().filter(project=project).count()
    tally = _Tally()
    number = 0
    for trees in _in_parts(project):
        progress("expanding trees", number, max(finished, number))
        _expand_some(trees, tally, job)
        number += len(trees)
    progress("proving answers", 0, 0)
    prove(project)
    unfinished = Tree.objects.filter(project=project).exclude(state=Tree.State.FINISHED).count()
    finish_job(job, report=_report_of(tally, project, trees=finished, unfinished=unfinished))


def _in_parts(project: Project) -> Iterator[list[int]]:
    """The finished trees, and those that were finished once, in the order of their ids; keys.

    By id and not by key: the same data in any order gives the same utterances.
    """
    has_utterances = Exists(Utterance.objects.filter(tree=OuterRef("pk")))
    trees = Tree.objects.filter(Q(state=Tree.State.FINISHED) | has_utterances, project=project)
    keys = list(trees.order_by("tree_id").values_list("pk", flat=True))
    for start in range(0, len(keys), TREES_AT_ONCE):
        yield keys[start : start + TREES_AT_ONCE]


def _expand_some(keys: Sequence[int], tally: _Tally, job: Job) -> None:
    prints = prints_of_expansion(keys)
    derived = {row.tree_id: row for row in Derived.objects.filter(tree__in=keys)}
    same = {key for key, row in derived.items() if row.expanded == prints[key]}
    for key in same:
        tally.here += derived[key].given - len(derived[key].same_id)
        tally.same_id += derived[key].same_id
    seen: set[str] = set()
    found = [compare(tree, seen, job) for tree in _load(set(keys) - same)]
    _leave_out_known_ids(found, job.project)
    _write(found, tally, actor=job.created_by, now=timezone.now())
    _remember(found, prints)


def _leave_out_known_ids(found: Sequence[Given], project: Project) -> None:
    """Asks for the ids of these trees only: those of a million trees would fill the memory."""
    new = [row.utterance_id for one in found for row in one.new]
    here: set[str] = set()
    for start in range(0, len(new), BATCH):
        rows = Utterance.objects.filter(
            project=project, utterance_id__in=new[start : start + BATCH]
        )
        here.update(rows.values_list("utterance_id", flat=True))
    for one in found:
        one.same_id += [row.utterance_id for row in one.new if row.utterance_id in here]
        one.new = [row for row in one.new if row.utterance_id not in here]


def _load(keys: set[int]) -> Iterable[Tree]:
    """The trees in the order of their ids, with all that `compare` looks at."""
    corrections = Prefetch("corrections", Correction.objects.order_by("pk"))
    utterances = Utterance.objects.select_related("job").prefetch_related(corrections)
    if not keys:
        return ()
    trees = Tree.objects.filter(pk__in=keys).with_source().with_live_nodes()
    return trees.order_by("tree_id").prefetch_related(
        Prefetch("scenarios", Scenario.objects.in_force().order_by("pk")),
        "scenarios__facts",
        Prefetch(
            "negative_questions",
            NegativeQuestion.objects.in_force().select_related("attached_scenario").order_by("pk"),
        ),
        Prefetch("negative_scenarios", NegativeScenario.objects.in_force().order_by("pk")),
        Prefetch("utterances", utterances.order_by("pk")),
    )


def _write(found: Sequence[Given], tally: _Tally, *, actor: User | None, now: datetime) -> None:
    for one in found:
        tally.expanded += 1
        tally.here += one.here
        tally.same_id += one.same_id
        tally.added.update(new.kind for new in one.new)
        tally.back += [row.utterance_id for row in one.back]
        tally.taken_out += [row.utterance_id for row in one.not_given]
        tally.gone += [row.utterance_id for row in one.gone]
    Utterance.objects.bulk_create((new for one in found for new in one.new), batch_size=BATCH)
    _move((row for one in found for row in one.back), State.TO_VERIFY, actor, now)
    _move((row for one in found for row in one.not_given), State.TAKEN_OUT, actor, now)
    _mark((row for one in found for row in one.gone), now)
    _mark((row for one in found for row in one.found_again), None)
    moved = [row for one in found for row in one.at_other_nodes]
    Utterance.objects.bulk_update(moved, ["node"], batch_size=BATCH)


def _move(rows: Iterable[Utterance], to: str, actor: User | None, now: datetime) -> None:
    for some in _keys(rows):
        states.move(
            Utterance.objects.filter(pk__in=some), to, actor=actor, now=now,
            version=F("version") + 1,
        )  # fmt: skip


def _mark(rows: Iterable[Utterance], since: datetime | None) -> None:
    for some in _keys(rows):
        Utterance.objects.filter(pk__in=some).update(gone_at=since)


def _keys(rows: Iterable[Utterance]) -> Iterator[list[int]]:
    keys = (row.pk for row in rows)
    while some := list(islice(keys, BATCH)):
        yield some


def _remember(found: Sequence[Given], prints: dict[int, str]) -> None:
    rows = [
        Derived(
            tree=one.tree, expanded=prints[one.tree.pk], same_id=one.same_id,
            given=one.here + len(one.new) + len(one.same_id),
        )
        for one in found
    ]  # fmt: skip
    Derived.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["tree"], batch_size=BATCH,
        update_fields=["expanded", "same_id", "given"],
    )  # fmt: skip


def _report_of(tally: _Tally, project: Project, *, trees: int, unfinished: int) -> dict[str, Any]:
    return {
        "trees": trees,
        "unfinished_trees": unfinished,
        "expanded_trees": tally.expanded,
        "added": dict(tally.added),
        "here": tally.here,
        "same_id": tally.same_id,
        "back": tally.back,
        "taken_out": tally.taken_out,
        "gone": tally.gone,
        "refused_scenarios": _refused(project),
    }


def _refused(project: Project) -> dict[str, list[int]]:
    """The scenarios of finished trees that give nothing, by the reason; their keys."""
    faults = ScenarioFault.objects.filter(
        scenario__tree__project=project, scenario__tree__state=Tree.State.FINISHED
    )
    refused: dict[str, list[int]] = {}
    for fault, scenario in faults.order_by("scenario").values_list("reason", "scenario"):
        refused.setdefault(REFUSALS[FactFault(fault)].reason, []).append(scenario)
    return refused
