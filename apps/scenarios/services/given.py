"""What one tree gives by the rule (design 4.6), beside what is here of it. Writes nothing."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from apps.projects.models import Job
from apps.scenarios.domain.corrections import Parts
from apps.scenarios.domain.expansion import (
    Expanded,
    ExpansionError,
    content_of,
    expand_negative_question,
    expand_negative_scenario,
    expand_plain,
    expand_scenario,
)
from apps.scenarios.domain.identifiers import utterance_id
from apps.scenarios.domain.turns import turns_as_json
from apps.scenarios.models import EXPANSION, NegativeQuestion, Scenario, Utterance
from apps.trees.domain import tree as domain
from apps.trees.models import Tree, build

Kind, State = Utterance.Kind, Utterance.State


class _Wanted(NamedTuple):
    """An utterance that the rule gives, before it is known whether it is here."""

    kind: Utterance.Kind
    expanded: Expanded
    question: str
    scenario: str
    sources: dict[str, Any]

    @property
    def content(self) -> Hashable:
        return self.kind, self.question, self.scenario, self.expanded.content


@dataclass
class Given:
    """A tree's utterances, by what becomes of them; `here` and `same_id` need nothing.

    new             the tree gives them, and they are not here
    back            they were taken out, and the tree gives them again
    not_given       nobody has verified them, and the tree no longer gives them
    gone            they stay although the tree no longer gives them
    found_again     they were gone, and are not any more
    at_other_nodes  their history leads to another node than before
    """

    tree: Tree
    here: int = 0
    same_id: list[str] = field(default_factory=list)
    new: list[Utterance] = field(default_factory=list)
    back: list[Utterance] = field(default_factory=list)
    not_given: list[Utterance] = field(default_factory=list)
    gone: list[Utterance] = field(default_factory=list)
    found_again: list[Utterance] = field(default_factory=list)
    at_other_nodes: list[Utterance] = field(default_factory=list)


def compare(tree: Tree, known: set[str], job: Job) -> Given:
    """`known` has the ids of what is new in other trees, and gets those of this one. Whether an id
    is here already is for the caller to ask.

    A tree that is not finished, or not any more, gives nothing new; what it no longer gives is
    found all the same.
    """
    shape = build(tree.nodes.all())
    wanted = list(_wanted(tree, shape))
    found = Given(tree)
    if tree.state == Tree.State.FINISHED:
        _find_missing(found, wanted, shape, known, job)
    _sort_out_what_is_here(found, {one.content for one in wanted}, shape)
    return found


# What the tree gives -------------------------------------------------------------------------


def _wanted(tree: Tree, shape: domain.Tree) -> Iterator[_Wanted]:
    question = tree.question.text
    for expanded in expand_plain(shape):
        yield _Wanted(Kind.PLAIN, expanded, question, "", {})
    for scenario in tree.scenarios.all():
        for expanded in _scenario(shape, scenario):
            yield _Wanted(Kind.SCENARIO, expanded, question, scenario.text,
                          {"scenario_of": scenario})  # fmt: skip
    for negative in tree.negative_questions.all():
        yield _irrelevant(shape, negative)
    for other in tree.negative_scenarios.all():
        for expanded in expand_negative_scenario(shape):
            yield _Wanted(Kind.NEGATIVE_SCENARIO, expanded, question, other.text,
                          {"negative_scenario": other})  # fmt: skip


def _irrelevant(shape: domain.Tree, negative: NegativeQuestion) -> _Wanted:
    """A scenario that was attached, and is no longer part of the dataset, is left out."""
    expanded = expand_negative_question(shape, negative.attached_place)
    attached = negative.attached_scenario
    text = attached.text if attached and attached.state == Scenario.State.STANDS else ""
    return _Wanted(
        Kind.NEGATIVE_QUESTION, expanded, negative.text, text, {"negative_question": negative}
    )


def _scenario(shape: domain.Tree, scenario: Scenario) -> Iterable[Expanded]:
    try:
        return expand_scenario(shape, [fact.turn for fact in scenario.facts.all()])
    except ExpansionError:
        return ()  # ScenarioFault has it, and why


# What is not here yet ------------------------------------------------------------------------


def _find_missing(
    found: Given, wanted: list[_Wanted], shape: domain.Tree, known: set[str], job: Job
) -> None:
    here = {content for row in found.tree.utterances.all() for content in _contents(row)}
    # Of two with one id, the one with more evidence is the utterance; else parents come first.
    for one in sorted(wanted, key=lambda one: -len(one.expanded.evidence)):
        if one.content in here:
            found.here += 1
            continue
        here.add(one.content)
        new = _utterance(found.tree, shape, one, job)
        if new.utterance_id in known:
            # Evidence is no part of the id: both are one utterance, and the one that is here stays.
            found.same_id.append(new.utterance_id)
            continue
        known.add(new.utterance_id)
        found.new.append(new)


def _contents(utterance: Utterance) -> Iterator[Hashable]:
    """What it says, and what it said before it was first corrected: the rule gave that."""
    yield _content(utterance, utterance.parts)
    for correction in utterance.corrections.all()[:1]:
        yield _content(utterance, Parts.from_json(correction.before))


def _content(utterance: Utterance, parts: Parts) -> Hashable:
    content = content_of(parts.history, parts.evidence, parts.answer)
    return utterance.kind, utterance.question, parts.scenario, content


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
        node_id=_node(shape, history),
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


# What becomes of what is here ----------------------------------------------------------------


def _sort_out_what_is_here(found: Given, contents: set[Hashable], shape: domain.Tree) -> None:
    is_finished = found.tree.state == Tree.State.FINISHED
    for row in found.tree.utterances.all():
        node = _node(shape, row.history_turns)
        stays = _stays(row, contents, node)
        if row.state == State.TAKEN_OUT:
            if stays and is_finished:
                found.back.append(row)
        elif stays and row.gone_at:
            found.found_again.append(row)
        elif not stays and _is_free(row):
            found.not_given.append(row)
        elif not stays and not row.gone_at and row.state != State.DROPPED:
            found.gone.append(row)
        if stays and node is not None and node != row.node_id:
            row.node_id = node
            found.at_other_nodes.append(row)


def _stays(row: Utterance, contents: set[Hashable], node: int | None) -> bool:
    """By the rule: the tree still gives it. By hand: its node is not gone, or it never had one."""
    if row.origin == Utterance.Origin.HAND:
        return row.node_id is None or node is not None
    return _content(row, row.parts) in contents


def _is_free(row: Utterance) -> bool:
    """Nobody stands for it: neither an expert nor who published the file that it came in."""
    is_made_here = row.job is None or row.job.kind == EXPANSION
    is_by_rule = row.origin == Utterance.Origin.RULE
    return is_made_here and is_by_rule and row.state == State.TO_VERIFY


def _node(shape: domain.Tree, history: domain.Path) -> int | None:
    key = getattr(domain.walk(shape, history), "key", None)
    return key if isinstance(key, int) else None
