"""What is odd in imported ShARC utterances: named, with ids, and kept as it came."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from apps.exports.domain.sharc_import import Kind, ScenarioPlan, TreePlan, UtterancePlan
from apps.exports.formats.sharc import FINAL_ANSWERS, Record, Repair
from apps.scenarios.domain.consistency import Inconsistency, InconsistencyReason, check
from apps.scenarios.domain.expansion import (
    ContradictoryFactsError,
    ExpansionError,
    FactsNotOnOnePathError,
    NoFactsError,
)
from apps.snippets.domain.folding import fold
from apps.trees.domain.redundancy import highest_redundant
from apps.trees.domain.tree import is_finished, questions


@dataclass(frozen=True)
class Finding:
    """One kind of oddity. Each group of ids is one case: one id, or those that belong together.

    The ids are of utterances, or of trees where `of` says so.
    """

    what: str
    groups: tuple[tuple[str, ...], ...]
    of: str = "utterance"


def find_oddities(plans: Sequence[TreePlan]) -> list[Finding]:
    """All findings that have a case, the gravest first."""
    utterances = [one for plan in plans for one in plan.utterances]
    findings = chain(
        _misspelt(utterances),
        _answer_words(utterances),
        _equal(utterances),
        _not_following(plans),
        _scenarios(plans),
        _trees(plans),
        _wording(plans),
    )
    return [finding for finding in findings if finding.groups]


def _singles(records: Iterable[Record]) -> tuple[tuple[str, ...], ...]:
    return tuple((one.utterance_id,) for one in sorted(records, key=lambda one: one.utterance_id))


def _misspelt(utterances: Iterable[UtterancePlan]) -> Iterator[Finding]:
    found: dict[tuple[Repair, str], dict[str, Record]] = defaultdict(dict)
    for utterance in utterances:
        for repair in utterance.record.repairs:
            found[repair][utterance.record.utterance_id] = utterance.record
    for (kind, spelling), records in sorted(found.items()):
        yield Finding(f"{kind} “{spelling}”", _singles(records.values()))


def _answer_words(utterances: Iterable[UtterancePlan]) -> Iterator[Finding]:
    found: dict[str, list[Record]] = defaultdict(list)
    for utterance in utterances:
        answer = utterance.record.answer
        if fold(answer) in {"yes", "no"} and answer not in FINAL_ANSWERS:
            found[answer].append(utterance.record)
    for answer, records in sorted(found.items()):
        yield Finding(f"follow-up question “{answer}”", _singles(records))


def _equal(utterances: Iterable[UtterancePlan]) -> Iterator[Finding]:
    records = [utterance.record for utterance in utterances]
    yield Finding("equal but for the id", _cases(records, same=_all_but_id))
    yield Finding(
        "same input, other answer", _cases(records, same=_input, other=lambda one: one.answer)
    )
    yield Finding(
        "same input and answer, other evidence",
        _cases(records, same=lambda one: (_input(one), one.answer), other=lambda one: one.evidence),
    )


def _input(record: Record) -> Hashable:
    """What a model reads: evidence is never a part of it."""
    return record.snippet, record.question, record.scenario, record.history


def _all_but_id(record: Record) -> Hashable:
    return record.tree_id, _input(record), record.answer, record.evidence


def _cases(
    records: Iterable[Record],
    *,
    same: Callable[[Record], Hashable],
    other: Callable[[Record], Hashable] = lambda one: one.utterance_id,
) -> tuple[tuple[str, ...], ...]:
    """The ids of records that share `same` and differ in `other`, as groups."""
    groups: dict[Hashable, list[Record]] = defaultdict(list)
    for record in records:
        groups[same(record)].append(record)
    return tuple(
        sorted(
            tuple(sorted(one.utterance_id for one in group))
            for group in groups.values()
            if len({other(one) for one in group}) > 1
        )
    )


def _not_following(plans: Iterable[TreePlan]) -> Iterator[Finding]:
    found: dict[InconsistencyReason, list[Record]] = defaultdict(list)
    for plan in plans:
        for utterance in plan.utterances:
            if reason := _why_not(plan, utterance):
                found[reason].append(utterance.record)
    for reason in InconsistencyReason:
        words = reason.value.replace("_", " ")
        yield Finding(f"answer does not follow from the tree: {words}", _singles(found[reason]))


def _why_not(plan: TreePlan, utterance: UtterancePlan) -> InconsistencyReason | None:
    if utterance.kind is Kind.NEGATIVE_QUESTION:
        return None
    record = utterance.record
    result = check(plan.rebuilt.tree, record.history, record.evidence, record.answer)
    return result.reason if isinstance(result, Inconsistency) else None


_REFUSED = (ContradictoryFactsError, FactsNotOnOnePathError, NoFactsError)


def _scenarios(plans: Iterable[TreePlan]) -> Iterator[Finding]:
    found: dict[type[ExpansionError], list[tuple[str, ...]]] = defaultdict(list)
    for plan in plans:
        for scenario in plan.scenarios:
            if scenario.refusal is not None:
                found[type(scenario.refusal)].append(_ids_with(plan, scenario))
    for refusal in _REFUSED:
        yield Finding(f"scenario with {refusal.reason}", tuple(sorted(found[refusal])))


def _ids_with(plan: TreePlan, scenario: ScenarioPlan) -> tuple[str, ...]:
    return tuple(
        sorted(
            one.record.utterance_id
            for one in plan.utterances
            if one.kind is Kind.SCENARIO and one.record.scenario == scenario.text
        )
    )


def _trees(plans: Sequence[TreePlan]) -> Iterator[Finding]:
    by_text: dict[str, list[str]] = defaultdict(list)
    for plan in plans:
        by_text[plan.first.snippet].append(plan.first.tree_id)
    shared = tuple(tuple(ids) for ids in by_text.values() if len(ids) > 1)
    yield Finding("several trees on one rule text", shared, of="tree")
    unfinished = [plan for plan in plans if not is_finished(plan.rebuilt.tree)]
    yield Finding("tree with an open branch", _tree_ids(unfinished), of="tree")
    redundant = [plan for plan in plans if any(highest_redundant(plan.rebuilt.tree))]
    yield Finding("tree with a redundant question", _tree_ids(redundant), of="tree")


def _tree_ids(plans: Iterable[TreePlan]) -> tuple[tuple[str, ...], ...]:
    return tuple((plan.first.tree_id,) for plan in plans)


def _wording(plans: Iterable[TreePlan]) -> Iterator[Finding]:
    plans = list(plans)
    spelt = [plan for plan in plans if any(len(texts) > 1 for texts in _spellings(plan))]
    yield Finding("tree that spells one question in several ways", _tree_ids(spelt), of="tree")
    yield from (
        Finding(what, _tree_ids(plan for plan in plans if _has_question(plan, is_odd)), of="tree")
        for what, is_odd in _ODD_WORDING
    )


def _spellings(plan: TreePlan) -> Iterable[set[str]]:
    """The spellings of each question, wherever an utterance of the tree tells or asks it."""
    spellings: dict[str, set[str]] = defaultdict(set)
    for utterance in plan.utterances:
        record = utterance.record
        told = [turn.follow_up_question for turn in (*record.history, *record.evidence)]
        if record.answer not in FINAL_ANSWERS:
            told.append(record.answer)
        for text in told:
            spellings[fold(text)].add(text)
    return spellings.values()


def _has_question(plan: TreePlan, is_odd: Callable[[str], bool]) -> bool:
    return any(is_odd(question.text) for _, question in questions(plan.rebuilt.tree))


_ODD_WORDING: list[tuple[str, Callable[[str], bool]]] = [
    # Question marks of Latin, Arabic, Greek, and of Japanese and Chinese.
    ("follow-up question without a question mark", lambda text: text.rstrip()[-1] not in "?؟;？"),
    ("follow-up question that begins with a small letter", lambda text: text[0].islower()),
]
