"""Expansion of a project's trees into utterances (design 4.6): adds what is missing.

What is here stays as it is, imported utterances and corrections by hand included. Twice in a row
adds nothing the second time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Prefetch

from apps.accounts.models import User
from apps.projects.models import Job, Project
from apps.projects.services.jobs import finish_job, start_job_here
from apps.scenarios.domain.expansion import (
    Expanded,
    ExpansionError,
    content_of,
    expand_negative_scenario,
    expand_plain,
    expand_scenario,
)
from apps.scenarios.domain.identifiers import utterance_id
from apps.scenarios.domain.turns import turns_as_json
from apps.scenarios.models import NegativeQuestion, NegativeScenario, Scenario, Utterance
from apps.trees.domain import tree as domain
from apps.trees.models import Tree, TreeQuerySet, build

BATCH = 1000
TREES_AT_ONCE = 100

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much."""

Kind = Utterance.Kind


class _Wanted(NamedTuple):
    """An utterance that the rule gives, before it is known whether it is here."""

    kind: Kind
    expanded: Expanded
    question: str
    scenario: str
    sources: dict[str, Any]

    @property
    def content(self) -> Hashable:
        return self.kind, self.question, self.scenario, self.expanded.content


@dataclass
class _Tally:
    """What the expansion of a project comes to."""

    added: Counter[str] = field(default_factory=Counter)
    here: int = 0
    same_id: list[str] = field(default_factory=list)
    refused: dict[str, list[int]] = field(default_factory=dict)  # scenario keys by reason


@transaction.atomic
def expand_project(project: Project, *, author: User | None, progress: Progress) -> Job:
    """Adds the utterances that the finished trees of the project lack; the job has the report."""
    # Two expansions at once would both find the same utterances missing.
    Project.objects.select_for_update().get(pk=project.pk)
    job = start_job_here(project, kind="expansion", parameters={}, created_by=author)
    tally = _Tally()
    trees = Tree.objects.filter(project=project, state=Tree.State.FINISHED)
    total = trees.count()
    known = set(Utterance.objects.filter(project=project).values_list("utterance_id", flat=True))
    for number, tree in enumerate(_with_all_parts(trees)):
        if number % TREES_AT_ONCE == 0:
            progress("expanding trees", number, total)
        Utterance.objects.bulk_create(_missing(tree, known, tally, job), batch_size=BATCH)
    unfinished = Tree.objects.filter(project=project).exclude(state=Tree.State.FINISHED).count()
    finish_job(job, report=_report_of(tally, trees=total, unfinished=unfinished))
    job.refresh_from_db()
    return job


def _with_all_parts(trees: TreeQuerySet) -> Iterator[Tree]:
    parts = (
        trees.with_source()
        .with_live_nodes()
        .prefetch_related(
            "scenarios__facts",
            Prefetch("negative_questions", NegativeQuestion.objects.in_force()),
            Prefetch("negative_scenarios", NegativeScenario.objects.in_force()),
            "utterances",
        )
    )
    yield from parts.iterator(chunk_size=TREES_AT_ONCE)


def _missing(tree: Tree, known: set[str], tally: _Tally, job: Job) -> list[Utterance]:
    shape = build(tree.nodes.all())
    here = {_content(utterance) for utterance in tree.utterances.all()}
    new: list[Utterance] = []
    for wanted in _wanted(tree, shape, tally):
        if wanted.content in here:
            tally.here += 1
            continue
        here.add(wanted.content)
        utterance = _utterance(tree, shape, wanted, job)
        if utterance.utterance_id in known:
            # Evidence is no part of the id: both are one utterance, and the one that is here stays.
            tally.same_id.append(utterance.utterance_id)
            continue
        known.add(utterance.utterance_id)
        tally.added[wanted.kind] += 1
        new.append(utterance)
    return new


def _content(utterance: Utterance) -> Hashable:
    history, evidence = utterance.history_turns, utterance.evidence_turns
    content = content_of(history, evidence, utterance.answer)
    return utterance.kind, utterance.question, utterance.scenario, content


def _wanted(tree: Tree, shape: domain.Tree, tally: _Tally) -> Iterator[_Wanted]:
    question = tree.question.text
    for expanded in expand_plain(shape):
        yield _Wanted(Kind.PLAIN, expanded, question, "", {})
    for scenario in tree.scenarios.all():
        for expanded in _scenario(shape, scenario, tally):
            yield _Wanted(Kind.SCENARIO, expanded, question, scenario.text,
                          {"scenario_of": scenario})  # fmt: skip
    for negative in tree.negative_questions.all():
        yield _irrelevant(negative)
    for other in tree.negative_scenarios.all():
        for expanded in expand_negative_scenario(shape):
            yield _Wanted(Kind.NEGATIVE_SCENARIO, expanded, question, other.text,
                          {"negative_scenario": other})  # fmt: skip


def _irrelevant(negative: NegativeQuestion) -> _Wanted:
    expanded = Expanded((), (), Utterance.AnswerClass.IRRELEVANT.label)
    return _Wanted(
        Kind.NEGATIVE_QUESTION, expanded, negative.text, "", {"negative_question": negative}
    )


def _scenario(shape: domain.Tree, scenario: Scenario, tally: _Tally) -> Iterable[Expanded]:
    try:
        return expand_scenario(shape, [fact.turn for fact in scenario.facts.all()])
    except ExpansionError as error:
        tally.refused.setdefault(error.reason, []).append(scenario.pk)
        return ()


def _utterance(tree: Tree, shape: domain.Tree, wanted: _Wanted, job: Job) -> Utterance:
    history, evidence, answer = (
        wanted.expanded.history, wanted.expanded.evidence, wanted.expanded.answer,
    )  # fmt: skip
    rule_text = tree.question.snippet.text
    return Utterance(
        project=job.project,
        utterance_id=utterance_id(rule_text, wanted.question, wanted.scenario, history, answer),
        tree=tree,
        kind=wanted.kind,
        node_id=getattr(domain.walk(shape, history), "key", None),
        question=wanted.question,
        scenario=wanted.scenario,
        history=turns_as_json(history),
        evidence=turns_as_json(evidence),
        answer=answer,
        answer_class=Utterance.class_of(answer),
        job=job,
        created_by=job.created_by,
        **wanted.sources,
    )


def _report_of(tally: _Tally, *, trees: int, unfinished: int) -> dict[str, Any]:
    return {
        "trees": trees,
        "unfinished_trees": unfinished,
        "added": dict(tally.added),
        "here": tally.here,
        "same_id": tally.same_id,
        "refused_scenarios": tally.refused,
    }
