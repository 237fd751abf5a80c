"""The binary tree of follow-up questions, as plain values.

A tree is *finished* when it is a full binary tree: every question has a YES and a NO branch, and
every leaf is a final answer. While it grows, a branch may be open. All functions go through the
tree with a stack, so that its depth is no concern of theirs.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from apps.snippets.domain.folding import fold


class Answer(StrEnum):
    """An answer to a follow-up question, and the final answer at a leaf. Spelled as in ShARC."""

    YES = "Yes"
    NO = "No"


@dataclass(frozen=True)
class Turn:
    """A follow-up question and the user's answer to it."""

    follow_up_question: str
    follow_up_answer: Answer

    @property
    def folded(self) -> tuple[str, Answer]:
        return fold(self.follow_up_question), self.follow_up_answer


Path: TypeAlias = tuple[Turn, ...]
"""Turns from the root to a node, in order; () is the root."""


@dataclass(frozen=True)
class FinalAnswer:
    """A leaf. `key` is the caller's own id for it; trees are compared without their keys."""

    answer: Answer
    key: Hashable | None = field(default=None, compare=False)


@dataclass(frozen=True)
class OpenBranch:
    """A branch that nobody has continued yet."""


@dataclass(frozen=True)
class Question:
    """An inner node: a follow-up question and its two branches. `key` as in `FinalAnswer`."""

    text: str
    yes: Tree
    no: Tree
    key: Hashable | None = field(default=None, compare=False)

    @property
    def folded(self) -> str:
        return fold(self.text)

    def branch(self, answer: Answer) -> Tree:
        return self.yes if answer is Answer.YES else self.no

    def turn(self, answer: Answer) -> Turn:
        return Turn(self.text, answer)


Tree: TypeAlias = Question | FinalAnswer | OpenBranch


def nodes(tree: Tree) -> Iterator[tuple[Path, Tree]]:
    """Every node with the path to it, open branches included: parents first, YES before NO."""
    waiting: list[tuple[Path, Tree]] = [((), tree)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        if isinstance(node, Question):
            waiting.append(((*path, node.turn(Answer.NO)), node.no))
            waiting.append(((*path, node.turn(Answer.YES)), node.yes))


def questions(tree: Tree) -> Iterator[tuple[Path, Question]]:
    """Every inner node with the path to it, parents first, YES before NO."""
    return ((path, node) for path, node in nodes(tree) if isinstance(node, Question))


def paths(tree: Tree) -> Iterator[tuple[Path, FinalAnswer]]:
    """Every leaf once, with the path to it, YES before NO."""
    return ((path, node) for path, node in nodes(tree) if isinstance(node, FinalAnswer))


def open_branches(tree: Tree) -> Iterator[Path]:
    """The paths that somebody still has to continue, YES before NO."""
    return (path for path, node in nodes(tree) if isinstance(node, OpenBranch))


def leaf_answers(tree: Tree) -> Iterator[Answer]:
    """The final answers in the order of `paths`."""
    return (leaf.answer for _, leaf in paths(tree))


def depth(tree: Tree) -> int:
    """The number of turns on the longest path; 0 for a tree that is one leaf."""
    return max(len(path) for path, _ in nodes(tree))


def question_count(tree: Tree) -> int:
    return sum(1 for _ in questions(tree))


def is_finished(tree: Tree) -> bool:
    """Whether every path ends in a final answer."""
    return next(open_branches(tree), None) is None


def next_text(node: Tree) -> str | None:
    """What the user hears at a node: the follow-up question, "Yes" or "No"; None if it is open."""
    if isinstance(node, Question):
        return node.text
    return node.answer.value if isinstance(node, FinalAnswer) else None


def fold_answer(text: str) -> Answer | str:
    """What an utterance answers, for comparison: a final answer, or a folded question.

    Only "Yes" and "No" in this spelling are final answers; any other text is a question.
    """
    try:
        return Answer(text)
    except ValueError:
        return fold(text)


def walk(tree: Tree, path: Iterable[Turn]) -> Tree | None:
    """The node that the turns lead to from the root, in their order, compared after folding.

    None when a turn is not about the question that is next there.
    """
    node = tree
    for turn in path:
        question, answer = turn.folded
        if not isinstance(node, Question) or node.folded != question:
            return None
        node = node.branch(answer)
    return node


def follow(tree: Tree, known: Mapping[str, Answer]) -> tuple[Path, Tree]:
    """Go down while `known` answers what is asked; the turns taken, and the node reached.

    `known` maps folded questions to answers. The turns have the tree's spelling.
    """
    taken: list[Turn] = []
    node = tree
    while isinstance(node, Question) and (answer := known.get(node.folded)):
        taken.append(node.turn(answer))
        node = node.branch(answer)
    return tuple(taken), node


def contradictions(turns: Iterable[Turn]) -> Iterator[Turn]:
    """The turns that answer an earlier turn's question the other way, after folding."""
    answers: dict[str, Answer] = {}
    for turn in turns:
        question, answer = turn.folded
        if answers.setdefault(question, answer) is not answer:
            yield turn
