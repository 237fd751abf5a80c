"""Rows for the trees of an import, table by table, each in bulk."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha1
from itertools import islice
from typing import Any, TypeVar

from django.db.models import Max, Model
from django.utils import timezone

from apps.exports.domain.sharc_import import Kind, TreePlan, UtterancePlan
from apps.projects.models import Job, Split
from apps.scenarios.domain.negatives.hardness import hardness, words
from apps.scenarios.domain.turns import turns_as_json
from apps.scenarios.models import Fact, NegativeQuestion, NegativeScenario, Scenario, Utterance
from apps.snippets.domain.reshaping import count_items
from apps.snippets.domain.source import host
from apps.snippets.domain.words import count_words
from apps.snippets.models import POSITION_GAP, Document, Question, Snippet
from apps.trees.domain import tree as domain
from apps.trees.models import Flag, Node, Tree, build
from apps.trees.services.derived import flags_of, logic_class_of, new_flags

BATCH = 1000

Row = TypeVar("Row", bound=Model)


class _Tables:
    """Creates rows in bulk, each with its provenance, and counts them."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.origin: dict[str, Any] = {
            "job": job, "created_by": job.created_by, "created_at": timezone.now(),
        }  # fmt: skip
        self.created: Counter[str] = Counter()

    def create(self, rows: Iterable[Row]) -> list[Row]:
        made: list[Row] = []
        rows = iter(rows)
        while batch := list(islice(rows, BATCH)):
            made += type(batch[0])._default_manager.bulk_create(batch)
        if made:
            self.created[str(made[0]._meta.verbose_name_plural)] += len(made)
        return made


@dataclass
class _Grown:
    """A tree's plan, its row, and the rows that its utterances point to."""

    plan: TreePlan
    tree: Tree
    nodes: dict[str, Node] = field(default_factory=dict)  # by the id of the plain utterance
    scenarios: dict[str, Scenario] = field(default_factory=dict)  # by text, as the next two
    negative_questions: dict[str, NegativeQuestion] = field(default_factory=dict)
    negative_scenarios: dict[str, NegativeScenario] = field(default_factory=dict)


def write_trees(plans: Sequence[TreePlan], *, job: Job, split: Split | None) -> Counter[str]:
    """Writes the plans, none of whose trees is here yet; returns how many rows of what."""
    tables = _Tables(job)
    grown = _trees(plans, _documents(plans, split, tables), tables)
    Flag.objects.bulk_create(_flags(grown, _nodes(grown, tables), tables), batch_size=BATCH)
    _scenarios(grown, tables)
    _negatives(grown, tables)
    tables.create(_utterances(grown, tables))
    return tables.created


def _documents(
    plans: Sequence[TreePlan], split: Split | None, tables: _Tables
) -> dict[str, Document]:
    """The document of each source URL: its newest version here, or a new one."""
    project = tables.job.project
    here = Document.objects.filter(project=project).order_by("version")
    documents = {document.source_url: document for document in here}
    urls = dict.fromkeys(plan.first.source_url for plan in plans)
    new = tables.create(
        Document(project=project, source_url=url, domain=host(url), split=split or "",
                 language=project.language, **tables.origin)
        for url in urls if url not in documents
    )  # fmt: skip
    return documents | {document.source_url: document for document in new}


def _trees(
    plans: Sequence[TreePlan], documents: dict[str, Document], tables: _Tables
) -> list[_Grown]:
    project, origin = tables.job.project, tables.origin
    snippets = tables.create(_snippets(plans, documents, tables))
    questions = tables.create(
        Question(snippet=snippet, text=plan.question, **origin)
        for plan, snippet in zip(plans, snippets, strict=True)
    )
    trees = tables.create(
        Tree(project=project, tree_id=plan.first.tree_id, question=question, state=_state(plan),
             logic_class=logic_class_of(plan.rebuilt.tree),
             max_depth=max(project.max_depth, domain.depth(plan.rebuilt.tree)), **origin)
        for plan, question in zip(plans, questions, strict=True)
    )  # fmt: skip
    return [_Grown(plan, tree) for plan, tree in zip(plans, trees, strict=True)]


def _snippets(
    plans: Sequence[TreePlan], documents: dict[str, Document], tables: _Tables
) -> Iterator[Snippet]:
    """One a tree, also where two trees share a rule text: a snippet has one accepted question."""
    last = Snippet.objects.filter(document__project=tables.job.project).values_list("document")
    tops = dict(last.annotate(Max("position")))
    for plan in plans:
        document, text = documents[plan.first.source_url], plan.first.snippet
        tops[document.pk] = tops.get(document.pk, -POSITION_GAP) + POSITION_GAP
        yield Snippet(document=document, position=tops[document.pk], text=text, cut_text=text,
                      words=count_words(text), items=count_items(text),
                      state=Snippet.State.ACCEPTED, **tables.origin)  # fmt: skip


def _state(plan: TreePlan) -> Tree.State:
    finished = domain.is_finished(plan.rebuilt.tree)
    return Tree.State.FINISHED if finished else Tree.State.GROWING


def _nodes(grown: Sequence[_Grown], tables: _Tables) -> dict[int, list[Node]]:
    """Level by level: a node's row needs its parent's. The rows by tree."""
    levels: dict[int, list[tuple[_Grown, domain.Path, domain.Tree]]] = defaultdict(list)
    for one in grown:
        for path, node in domain.nodes(one.plan.rebuilt.tree):
            if not isinstance(node, domain.OpenBranch):
                levels[len(path)].append((one, path, node))
    above: dict[tuple[int, domain.Path], Node] = {}
    for depth in sorted(levels):
        rows = tables.create(
            _node(one, path, node, above, tables) for one, path, node in levels[depth]
        )
        for (one, path, node), row in zip(levels[depth], rows, strict=True):
            one.nodes[str(getattr(node, "key", ""))] = row
            above[one.tree.pk, path] = row
    by_tree: dict[int, list[Node]] = defaultdict(list)
    for row in above.values():
        by_tree[row.tree_id].append(row)
    return by_tree


def _node(
    one: _Grown,
    path: domain.Path,
    node: domain.Tree,
    above: dict[tuple[int, domain.Path], Node],
    tables: _Tables,
) -> Node:
    parent = above[one.tree.pk, path[:-1]] if path else None
    branch = path[-1].follow_up_answer.lower() if path else Node.Branch.ROOT
    if isinstance(node, domain.FinalAnswer):
        fields: dict[str, Any] = {"kind": Node.Kind.ANSWER, "answer": node.answer}
    else:
        fields = {"kind": Node.Kind.QUESTION, "text": domain.next_text(node) or ""}
    return Node.at(one.tree, parent, branch, **fields, **tables.origin)


def _flags(
    grown: Sequence[_Grown], nodes: dict[int, list[Node]], tables: _Tables
) -> Iterator[Flag]:
    """What an expert has to look at in the finished trees."""
    for one in grown:
        if one.tree.state == Tree.State.FINISHED:
            found = set(flags_of(build(nodes[one.tree.pk])))
            yield from new_flags(one.tree, found, now=tables.origin["created_at"])


def _scenarios(grown: Sequence[_Grown], tables: _Tables) -> None:
    planned = [(one, scenario) for one in grown for scenario in one.plan.scenarios]
    rows = tables.create(
        Scenario(tree=one.tree, text=scenario.text, text_sha1=_sha1(scenario.text), **tables.origin)
        for one, scenario in planned
    )
    for (one, scenario), row in zip(planned, rows, strict=True):
        one.scenarios[scenario.text] = row
    tables.create(
        Fact(scenario=row, position=position, follow_up_question=turn.follow_up_question,
             follow_up_answer=turn.follow_up_answer)
        for (_, scenario), row in zip(planned, rows, strict=True)
        for position, turn in enumerate(scenario.facts)
    )  # fmt: skip


def _sha1(text: str) -> str:
    return sha1(text.encode(), usedforsecurity=False).hexdigest()


def _negatives(grown: Sequence[_Grown], tables: _Tables) -> None:
    questions = tables.create(_negative_questions(grown, tables))
    scenarios = tables.create(_negative_scenarios(grown, tables))
    by_tree = {one.tree.pk: one for one in grown}
    for question in questions:
        by_tree[question.tree_id].negative_questions[question.text] = question
    for scenario in scenarios:
        by_tree[scenario.tree_id].negative_scenarios[scenario.text] = scenario


def _negative_questions(grown: Sequence[_Grown], tables: _Tables) -> Iterator[NegativeQuestion]:
    for one in grown:
        rule = words(one.plan.first.snippet)
        for text in one.plan.negative_questions:
            yield NegativeQuestion(
                tree=one.tree, text=text, hardness=hardness(text, rule), **_attached(one, text),
                **tables.origin,
            )  # fmt: skip


def _negative_scenarios(grown: Sequence[_Grown], tables: _Tables) -> Iterator[NegativeScenario]:
    for one in grown:
        rule = words(one.plan.first.snippet)
        for text in one.plan.negative_scenarios:
            yield NegativeScenario(
                tree=one.tree, text=text, hardness=hardness(text, rule), **tables.origin
            )


def _attached(one: _Grown, question: str) -> dict[str, Any]:
    """What always stands before an irrelevant question, so that expanding the tree gives it again.

    Where that is no scenario and no history of this tree, the utterance is by hand.
    """
    asked = (planned for planned in one.plan.utterances if planned.kind is Kind.NEGATIVE_QUESTION)
    records = [planned.record for planned in asked if planned.record.question == question]
    scenario = one.scenarios.get(records[0].scenario)
    is_way = domain.walk(one.plan.rebuilt.tree, records[0].history) is not None
    if len(records) > 1 or not is_way or (records[0].scenario and scenario is None):
        return {}
    answers = (turn.follow_up_answer for turn in records[0].history)
    place = "".join("y" if answer == domain.Answer.YES else "n" for answer in answers)
    return {"attached_scenario": scenario, "attached_place": place}


def _utterances(grown: Sequence[_Grown], tables: _Tables) -> Iterator[Utterance]:
    for one in grown:
        for utterance in one.plan.utterances:
            yield _utterance(one, utterance, tables)


def _utterance(one: _Grown, planned: UtterancePlan, tables: _Tables) -> Utterance:
    record = planned.record
    return Utterance(
        project=tables.job.project,
        utterance_id=record.utterance_id,
        tree=one.tree,
        kind=planned.kind.value,
        origin=Utterance.Origin.RULE if planned.is_by_rule else Utterance.Origin.HAND,
        node=one.nodes.get(planned.node or ""),
        **_sources(one, planned),
        question=record.question,
        scenario=record.scenario,
        history=turns_as_json(record.history),
        evidence=turns_as_json(record.evidence),
        answer=record.answer,
        answer_class=Utterance.class_of(record.answer),
        as_imported=record.as_imported,
        **tables.origin,
    )


def _sources(one: _Grown, planned: UtterancePlan) -> dict[str, Any]:
    record = planned.record
    if planned.kind is Kind.SCENARIO:
        return {"scenario_of": one.scenarios.get(record.scenario)}
    if planned.kind is Kind.NEGATIVE_QUESTION:
        return {"negative_question": one.negative_questions[record.question]}
    if planned.kind is Kind.NEGATIVE_SCENARIO:
        return {"negative_scenario": one.negative_scenarios[record.scenario]}
    return {}
