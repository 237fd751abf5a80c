"""Questions that a tree could do without, and questions that it asks twice.

An inner node is *redundant* when its question cannot change the outcome. Either the question is
needless or one of the answers below it is wrong: a person decides which. A branch that is open may
still turn out to matter, so nothing above it is called redundant.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from apps.trees.domain.tree import (
    Answer,
    FinalAnswer,
    OpenBranch,
    Path,
    Question,
    Tree,
    Turn,
    nodes,
    questions,
)


class RedundancyReason(StrEnum):
    """Why a question cannot change the outcome."""

    SAME_BRANCHES = "same_branches"
    ONE_ANSWER = "one_answer"


@dataclass(frozen=True)
class Redundancy:
    """A redundant question. ONE_ANSWER is given where both reasons hold: it says more."""

    path: Path
    question: Question
    reason: RedundancyReason


@dataclass(frozen=True)
class RepeatedQuestion:
    """A question at the end of a path that has asked it before, first in the turn `earlier`.

    Nobody who keeps to that answer takes the other branch.
    """

    path: Path
    question: Question
    earlier: Turn


def redundant_questions(tree: Tree) -> Iterator[Redundancy]:
    """Every redundant question, parents first, YES before NO."""
    reasons = _reasons(tree)
    for path, question in questions(tree):
        if reason := reasons.get(id(question)):
            yield Redundancy(path, question, reason)


def highest_redundant(tree: Tree) -> Iterator[Redundancy]:
    """The redundant questions that have no redundant question above them."""
    above: Path | None = None
    for found in redundant_questions(tree):
        # All that is below a node comes right after it: the last one kept is enough to look at.
        if above is None or found.path[: len(above)] != above:
            above = found.path
            yield found


def repeated_questions(tree: Tree) -> Iterator[RepeatedQuestion]:
    """Every question that is asked, after folding, by one of the turns before it."""
    for path, question in questions(tree):
        asked = question.folded
        if earlier := next((turn for turn in path if turn.folded[0] == asked), None):
            yield RepeatedQuestion(path, question, earlier)


_Shape: TypeAlias = Answer | int | None
"""Equal for two subtrees that are the same after folding; None where a branch is open."""


@dataclass(frozen=True)
class _Below:
    """What a subtree comes to: its shape, and the answer that all of its leaves give, if any."""

    shape: _Shape
    answer: Answer | None


def _reasons(tree: Tree) -> dict[int, RedundancyReason]:
    """The reason for each redundant question, by the identity of its node."""
    below: dict[int, _Below] = {}
    shapes: dict[tuple[str, _Shape, _Shape], int] = {}
    reasons: dict[int, RedundancyReason] = {}
    for _, node in reversed(list(nodes(tree))):  # children first
        if isinstance(node, Question):
            yes, no = below[id(node.yes)], below[id(node.no)]
            below[id(node)] = _join(node, yes, no, shapes)
            if reason := _reason(yes, no):
                reasons[id(node)] = reason
        else:
            below[id(node)] = _end(node)
    return reasons


def _end(node: FinalAnswer | OpenBranch) -> _Below:
    answer = node.answer if isinstance(node, FinalAnswer) else None
    return _Below(answer, answer)


def _join(
    question: Question, yes: _Below, no: _Below, shapes: dict[tuple[str, _Shape, _Shape], int]
) -> _Below:
    answer = yes.answer if yes.answer is no.answer else None
    if yes.shape is None or no.shape is None:
        return _Below(None, answer)
    # A number per distinct subtree keeps the comparison of two large branches cheap.
    shape = shapes.setdefault((question.folded, yes.shape, no.shape), len(shapes))
    return _Below(shape, answer)


def _reason(yes: _Below, no: _Below) -> RedundancyReason | None:
    if yes.answer is not None and yes.answer is no.answer:
        return RedundancyReason.ONE_ANSWER
    if yes.shape is not None and yes.shape == no.shape:
        return RedundancyReason.SAME_BRANCHES
    return None
