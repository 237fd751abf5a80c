"""The rules of the domain, measured on the official ShARC dev set where this machine has it.

`pytest --log-cli-level=INFO` shows the figures.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from pathlib import Path as FilePath

import pytest

from apps.scenarios.domain.consistency import Inconsistency, InconsistencyReason, check
from apps.scenarios.domain.expansion import (
    ContradictoryFactsError,
    ExpansionError,
    FactsNotOnOnePathError,
    NoFactsError,
    content_of,
    expand_negative_scenario,
    expand_plain,
    expand_scenario,
)
from apps.scenarios.domain.identifiers import utterance_id
from apps.snippets.domain.folding import fold
from apps.trees.domain.redundancy import (
    RedundancyReason,
    highest_redundant,
    redundant_questions,
    repeated_questions,
)
from apps.trees.domain.tree import (
    Answer,
    Turn,
    is_finished,
    leaf_answers,
    question_count,
)
from tests.scenarios.domain.sharc_dev import DevSet, Utterance, read_dev_set

log = logging.getLogger(__name__)

ONE_ANSWER_TREES = {"12c6078e", "f4a2ed22", "2161030a", "566837f8", "e9282acc", "b7f3ad3a"}
DO_NOT_FOLLOW = {
    InconsistencyReason.CONTRADICTS: (
        "0417df75 0e6c22fa 16ee3771 81f78bf6 e49d5737 f2ee6927"  # against their tree
    ),
    InconsistencyReason.DECIDES_EARLY: "1d4f7cf0 cfbfb1c8 e18d354c e7d4e089",
    InconsistencyReason.ASKS_KNOWN_FACT: "5ec10aee bdafe4ed",
    InconsistencyReason.UNKNOWN_QUESTION: (
        "4f6af729 5b8cca40 689f45ff e255919d fadcd402"  # two words glued together
        " de38c1b9 c8b8e8b5"  # a question of no tree, and the answer "Yes?"
    ),
}


@pytest.fixture
def dev(sharc_dev: FilePath) -> DevSet:
    return read_dev_set(sharc_dev)


def test_kinds(dev: DevSet) -> None:
    assert len(dev.all) == 2270
    assert len(dev.plain) == 293
    assert Counter(bool(one.evidence) for one in dev.with_scenario) == {True: 696, False: 853}
    assert len(dev.with_negative_scenario) == 290
    assert len(dev.irrelevant) == 138


def test_follow_up_questions(dev: DevSet) -> None:
    asked = {turn.follow_up_question for one in dev.all for turn in one.history + one.evidence}
    asked |= {one.answer for one in dev.all} - {"Yes", "No", "Irrelevant"}
    assert (len(asked), len({fold(question) for question in asked})) == (120, 117)


def test_trees(dev: DevSet) -> None:
    trees = [rebuilt.tree for rebuilt in dev.trees().values()]
    answers = Counter(answer for tree in trees for answer in leaf_answers(tree))
    questions = sum(question_count(tree) for tree in trees)
    log.info("%d trees, %d questions, leaves %s", len(trees), questions, dict(answers))
    assert len(trees) == 69
    assert all(is_finished(tree) for tree in trees)
    assert questions == 112
    assert answers == {Answer.YES: 94, Answer.NO: 87}


def test_redundant_questions(dev: DevSet) -> None:
    trees = {tree_id[:8]: rebuilt.tree for tree_id, rebuilt in dev.trees().items()}
    all_found = [
        (tree_id, found) for tree_id, tree in trees.items() for found in redundant_questions(tree)
    ]
    highest = [
        (tree_id, found) for tree_id, tree in trees.items() for found in highest_redundant(tree)
    ]
    log.info("%d highest redundant questions, %d in all", len(highest), len(all_found))
    assert len({tree_id for tree_id, _ in all_found}) == 7
    assert len(highest) == 7
    assert len(all_found) == 10
    assert {
        tree_id
        for tree_id, found in highest
        if not found.path and found.reason is RedundancyReason.ONE_ANSWER
    } == ONE_ANSWER_TREES
    assert not any(list(repeated_questions(tree)) for tree in trees.values())


def test_plain_utterances_are_the_nodes_of_the_trees(dev: DevSet) -> None:
    expanded = {
        tree_id: {one.content for one in expand_plain(rebuilt.tree)}
        for tree_id, rebuilt in dev.trees().items()
    }
    official: dict[str, set[Hashable]] = defaultdict(set)
    for one in dev.plain:
        official[one.tree_id].add(_content(one))
    assert expanded == official
    assert sum(len(nodes) for nodes in expanded.values()) == 293


def test_negative_scenarios_go_with_every_node(dev: DevSet) -> None:
    trees = dev.trees()
    texts = _texts(dev.with_negative_scenario)
    assert len(texts) == 68
    for (tree_id, _), text in texts.items():
        expanded = {one.content for one in expand_negative_scenario(trees[tree_id].tree)}
        assert expanded == text.official


def test_scenarios(dev: DevSet) -> None:
    trees = dev.trees()
    texts = _texts(dev.with_scenario)
    outcomes: Counter[type[ExpansionError] | None] = Counter()
    utterances: Counter[type[ExpansionError] | None] = Counter()
    given = exactly = generated = 0
    for (tree_id, _), text in texts.items():
        try:
            expanded = {one.content for one in expand_scenario(trees[tree_id].tree, text.facts)}
            refusal = None
            given += len(expanded & text.official)
            exactly += expanded == text.official
            generated += len(expanded)
        except ExpansionError as error:
            refusal = type(error)
        outcomes[refusal] += 1
        utterances[refusal] += len(text.official)
    log.info("scenario texts %s with utterances %s", outcomes, utterances)
    log.info("%d given by the rule, %d texts exactly, %d in all", given, exactly, generated)
    assert (outcomes.total(), utterances.total()) == (620, 1537)
    assert outcomes == {
        NoFactsError: 110,
        ContradictoryFactsError: 4,
        FactsNotOnOnePathError: 7,
        None: 499,
    }
    assert utterances == {
        NoFactsError: 135,
        ContradictoryFactsError: 15,
        FactsNotOnOnePathError: 19,
        None: 1368,
    }
    assert (given, exactly, generated) == (1328, 371, 1582)


@pytest.mark.parametrize(
    ("kind", "total", "follow"),
    [
        ("plain", 293, 293),
        ("with_negative_scenario", 290, 290),
        ("without_evidence", 853, 848),
        ("with_evidence", 696, 682),
    ],
)
def test_answers_that_follow_from_the_tree(dev: DevSet, kind: str, total: int, follow: int) -> None:
    utterances = {
        "plain": dev.plain,
        "with_negative_scenario": dev.with_negative_scenario,
        "without_evidence": [one for one in dev.with_scenario if not one.evidence],
        "with_evidence": [one for one in dev.with_scenario if one.evidence],
    }[kind]
    reasons = _reasons(dev, utterances)
    log.info("%s: %d of %d follow", kind, len(utterances) - len(reasons), len(utterances))
    assert (len(utterances), len(utterances) - len(reasons)) == (total, follow)


def test_answers_that_do_not_follow_and_why(dev: DevSet) -> None:
    expected = {one: reason for reason, ids in DO_NOT_FOLLOW.items() for one in ids.split()}
    assert len(expected) == 19
    assert _reasons(dev, dev.with_scenario) == expected


def test_most_utterance_ids_recompute(dev: DevSet) -> None:
    """The others were corrected after they got their id."""
    recomputed = [
        one.utterance_id
        == utterance_id(one.rule_text, one.question, one.scenario, one.history, one.answer)
        for one in dev.all
    ]
    assert Counter(recomputed) == {True: 2020, False: 250}


@dataclass(frozen=True)
class _Text:
    """A scenario text within its tree: its utterances, equal ones once, and what it tells."""

    official: set[Hashable] = field(default_factory=set)
    facts: set[Turn] = field(default_factory=set)


def _texts(utterances: Iterable[Utterance]) -> dict[tuple[str, str], _Text]:
    texts: dict[tuple[str, str], _Text] = defaultdict(_Text)
    for one in utterances:
        text = texts[one.tree_id, one.scenario]
        text.official.add(_content(one))
        text.facts.update(one.evidence)
    return texts


def _content(one: Utterance) -> Hashable:
    return content_of(one.history, one.evidence, one.answer)


def _reasons(dev: DevSet, utterances: Iterable[Utterance]) -> dict[str, InconsistencyReason]:
    """Of the utterances whose answer does not follow, by the first eight digits of their id."""
    trees = dev.trees()
    reasons = {}
    for one in utterances:
        found = check(trees[one.tree_id].tree, one.history, one.evidence, one.answer)
        if isinstance(found, Inconsistency):
            reasons[one.utterance_id[:8]] = found.reason
    return reasons
