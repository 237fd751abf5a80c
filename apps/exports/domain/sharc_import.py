"""What an import of ShARC files will make: trees, scenarios, negatives and utterances.

The official files have utterances only. Plain ones are the nodes of a tree; the evidence of all
utterances with one scenario text are that scenario's facts.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from apps.exports.formats.sharc import IRRELEVANT, Record, SharcError
from apps.scenarios.domain.expansion import (
    Expanded,
    ExpansionError,
    content_of,
    expand_negative_scenario,
    expand_plain,
    expand_scenario,
)
from apps.trees.domain.rebuild import PlainUtterance, RebuiltTree, TreeError, rebuild_tree
from apps.trees.domain.tree import Path, Turn, nodes


class Kind(StrEnum):
    """How an utterance is made; the values of scenarios.Utterance.Kind."""

    PLAIN = "plain"
    SCENARIO = "scenario"
    NEGATIVE_QUESTION = "negative_question"
    NEGATIVE_SCENARIO = "negative_scenario"


@dataclass(frozen=True, slots=True)
class UtterancePlan:
    """`node` is the plain utterance id of the node that the history leads to, if there is one.

    `is_by_rule` is false for what the expansion of the tree would not give, and for the second of
    two equal utterances: a correction by hand.
    """

    record: Record
    kind: Kind
    node: str | None
    is_by_rule: bool


@dataclass(frozen=True)
class ScenarioPlan:
    """A scenario of the tree and its facts; `refusal` is why they cannot be expanded, if so."""

    text: str
    facts: Path
    refusal: ExpansionError | None


@dataclass(frozen=True)
class TreePlan:
    """One tree with all that belongs to it; `first` is the record that names its source."""

    first: Record
    question: str
    rebuilt: RebuiltTree
    scenarios: tuple[ScenarioPlan, ...]
    negative_questions: tuple[str, ...]
    negative_scenarios: tuple[str, ...]
    utterances: tuple[UtterancePlan, ...]


@dataclass(frozen=True)
class Negatives:
    """The ids in the official lists of negatives."""

    questions: frozenset[str] = frozenset()
    scenarios: frozenset[str] = frozenset()


def plan_trees(records: Iterable[Record], *, negatives: Negatives, file: str) -> Iterator[TreePlan]:
    """A plan for each tree, in the order of their ids. Raises SharcError, naming `file`."""
    by_tree: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_tree[record.tree_id].append(record)
    for tree_id in sorted(by_tree):
        try:
            yield _plan_tree(by_tree[tree_id], negatives)
        except TreeError as error:
            raise SharcError(file, f"tree {tree_id}", str(error)) from error
        except _MixedTreeError as error:
            raise SharcError(file, f"tree {tree_id}", str(error)) from error


class _MixedTreeError(Exception):
    """Utterances of one tree id that cannot belong to one tree."""


def _plan_tree(records: Sequence[Record], negatives: Negatives) -> TreePlan:
    kinds = {record.utterance_id: _kind(record, negatives) for record in records}
    question = _common_parts(records, kinds)
    plain = [record for record in records if kinds[record.utterance_id] is Kind.PLAIN]
    rebuilt = rebuild_tree(
        PlainUtterance(record.utterance_id, record.history, record.answer) for record in plain
    )
    scenarios = tuple(_scenarios(_of_kind(records, kinds, Kind.SCENARIO), rebuilt))
    return TreePlan(
        first=records[0],
        question=question,
        rebuilt=rebuilt,
        scenarios=scenarios,
        negative_questions=_texts(
            record.question for record in _of_kind(records, kinds, Kind.NEGATIVE_QUESTION)
        ),
        negative_scenarios=_texts(
            record.scenario for record in _of_kind(records, kinds, Kind.NEGATIVE_SCENARIO)
        ),
        utterances=tuple(_utterances(records, kinds, rebuilt, scenarios)),
    )


def _kind(record: Record, negatives: Negatives) -> Kind:
    if record.answer == IRRELEVANT:
        return Kind.NEGATIVE_QUESTION
    if record.scenario and record.utterance_id in negatives.scenarios:
        return Kind.NEGATIVE_SCENARIO
    return Kind.SCENARIO if record.scenario or record.evidence else Kind.PLAIN


def _of_kind(records: Iterable[Record], kinds: dict[str, Kind], kind: Kind) -> Iterator[Record]:
    return (record for record in records if kinds[record.utterance_id] is kind)


def _common_parts(records: Sequence[Record], kinds: dict[str, Kind]) -> str:
    """The question of the tree; its utterances must agree on it, the rule text and the source."""
    for field in ("snippet", "source_url"):
        _refuse_several(field, {getattr(record, field) for record in records})
    own = [one for one in records if kinds[one.utterance_id] is not Kind.NEGATIVE_QUESTION]
    _refuse_several("question", {record.question for record in own})
    return (own or records)[0].question


def _refuse_several(field: str, texts: set[str]) -> None:
    if len(texts) > 1:
        shown = " and ".join(f"“{text[:60]}”" for text in sorted(texts)[:2])
        raise _MixedTreeError(f"{field}: its utterances do not agree: {shown}")


def _texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Each text once, in the order in which they first come."""
    return tuple(dict.fromkeys(texts))


def _scenarios(records: Iterable[Record], rebuilt: RebuiltTree) -> Iterator[ScenarioPlan]:
    evidence: dict[str, dict[tuple[str, str], Turn]] = defaultdict(dict)
    for record in records:
        if record.scenario:
            facts = evidence[record.scenario]
            for turn in record.evidence:
                facts.setdefault(turn.folded, turn)
    for text, facts in evidence.items():
        told = tuple(facts.values())
        yield ScenarioPlan(text, told, _refusal(rebuilt, told))


def _refusal(rebuilt: RebuiltTree, facts: Path) -> ExpansionError | None:
    try:
        expand_scenario(rebuilt.tree, facts)
    except ExpansionError as error:
        return error
    return None


def _utterances(
    records: Sequence[Record],
    kinds: dict[str, Kind],
    rebuilt: RebuiltTree,
    scenarios: tuple[ScenarioPlan, ...],
) -> Iterator[UtterancePlan]:
    reached = {_folded(path): node for path, node in nodes(rebuilt.tree)}
    given = _given(rebuilt, scenarios)
    seen: set[Hashable] = set()
    for record in records:
        kind = kinds[record.utterance_id]
        content = _content(record, kind)
        is_by_rule = content not in seen and _is_given(record, kind, given)
        seen.add(content)
        node = getattr(reached.get(_folded(record.history)), "key", None)
        yield UtterancePlan(record, kind, node, is_by_rule)


def _content(record: Record, kind: Kind) -> Hashable:
    return kind, record.question, record.scenario, _told(record)


def _told(record: Record) -> Hashable:
    return content_of(record.history, record.evidence, record.answer)


def _folded(turns: Path) -> tuple[tuple[str, str], ...]:
    return tuple(turn.folded for turn in turns)


_Given = dict[tuple[Kind, str], frozenset[Hashable]]


def _given(rebuilt: RebuiltTree, scenarios: tuple[ScenarioPlan, ...]) -> _Given:
    """What the expansion gives, by kind and scenario text."""
    given: _Given = {
        (Kind.PLAIN, ""): _contents(expand_plain(rebuilt.tree)),
        (Kind.NEGATIVE_SCENARIO, ""): _contents(expand_negative_scenario(rebuilt.tree)),
    }
    for scenario in scenarios:
        if scenario.refusal is None:
            expanded = expand_scenario(rebuilt.tree, scenario.facts)
            given[Kind.SCENARIO, scenario.text] = _contents(expanded)
    return given


def _contents(expanded: Iterable[Expanded]) -> frozenset[Hashable]:
    return frozenset(one.content for one in expanded)


def _is_given(record: Record, kind: Kind, given: _Given) -> bool:
    if kind is Kind.NEGATIVE_QUESTION:
        return not (record.scenario or record.history or record.evidence)
    text = record.scenario if kind is Kind.SCENARIO else ""
    return _told(record) in given.get((kind, text), frozenset())
