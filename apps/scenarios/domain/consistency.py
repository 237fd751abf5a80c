"""Does an utterance's answer follow from its tree?

The tree is walked from its root with all that the utterance tells, its history before its
evidence, for as long as that answers what is asked; the answer must be what comes next. The order
of the turns is not looked at: one official utterance tells its history in another order than its
tree asks, and its answer follows all the same.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from apps.trees.domain.tree import (
    Answer,
    OpenBranch,
    Path,
    Question,
    Tree,
    Turn,
    contradictions,
    fold_answer,
    follow,
    next_text,
    questions,
)


class InconsistencyReason(StrEnum):
    """Why an answer does not follow.

    UNKNOWN_QUESTION  history, evidence or answer has a question that is not in the tree
    CONTRADICTS       the turns contradict each other, or the tree ends in another final answer
    ASKS_KNOWN_FACT   the answer asks what history or evidence has answered
    DECIDES_EARLY     the answer, or a turn of the history, passes over a question still to be asked
    OPEN_BRANCH       the tree itself goes no further yet
    NO_SCENARIO       there is evidence, and no scenario that it could be read from
    """

    UNKNOWN_QUESTION = "unknown_question"
    CONTRADICTS = "contradicts"
    ASKS_KNOWN_FACT = "asks_known_fact"
    DECIDES_EARLY = "decides_early"
    OPEN_BRANCH = "open_branch"
    NO_SCENARIO = "no_scenario"


@dataclass(frozen=True)
class Consistent:
    """The answer follows; `path` is the walk to the node that gives it."""

    path: Path


@dataclass(frozen=True)
class Inconsistency:
    """The answer does not follow. `expected` is what the tree says instead, if it says anything."""

    reason: InconsistencyReason
    expected: str | None


class Prover:
    """One tree, to check many utterances against."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._asked = {question.folded for _, question in questions(tree)}

    def check(
        self, history: Iterable[Turn], evidence: Iterable[Turn], answer: str, *,
        has_scenario: bool = True,
    ) -> Consistent | Inconsistency:  # fmt: skip
        """Whether `answer` is what the tree says to the user who tells `history` and `evidence`.

        Questions are compared after folding, "Yes" and "No" exactly. Not for Irrelevant
        utterances: their question belongs to another tree.
        """
        past, read = tuple(history), tuple(evidence)
        if read and not has_scenario:
            _, node = follow(self._tree, dict(turn.folded for turn in past))
            return Inconsistency(InconsistencyReason.NO_SCENARIO, next_text(node))
        told = (*past, *read)
        known = dict(turn.folded for turn in told)
        path, node = follow(self._tree, known)
        expected = next_text(node)
        if not self._has_questions(known, answer):
            return Inconsistency(InconsistencyReason.UNKNOWN_QUESTION, expected)
        if any(contradictions(told)):
            return Inconsistency(InconsistencyReason.CONTRADICTS, None)
        if _is_next(node, answer) and _is_along(past, path):
            return Consistent(path)
        return Inconsistency(_reason(node, known, answer), expected)

    def _has_questions(self, known: Mapping[str, Answer], answer: str) -> bool:
        """Whether the tree asks all that the turns and the answer ask."""
        asked = {*known, fold_answer(answer)} - set(Answer)
        return asked <= self._asked


def check(
    tree: Tree, history: Iterable[Turn], evidence: Iterable[Turn], answer: str, *,
    has_scenario: bool = True,
) -> Consistent | Inconsistency:  # fmt: skip
    """`Prover.check` for one utterance."""
    return Prover(tree).check(history, evidence, answer, has_scenario=has_scenario)


def _is_next(node: Tree, answer: str) -> bool:
    said = next_text(node)
    return said is not None and fold_answer(said) == fold_answer(answer)


def _is_along(history: Path, path: Path) -> bool:
    return {turn.folded for turn in history} <= {turn.folded for turn in path}


def _reason(node: Tree, known: Mapping[str, Answer], answer: str) -> InconsistencyReason:
    if fold_answer(answer) in known:
        return InconsistencyReason.ASKS_KNOWN_FACT
    if isinstance(node, Question):
        return InconsistencyReason.DECIDES_EARLY
    if isinstance(node, OpenBranch):
        return InconsistencyReason.OPEN_BRANCH
    return InconsistencyReason.CONTRADICTS
