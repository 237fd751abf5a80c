"""A finished tree as a truth function of its questions.

A question is its folded text: asked on several paths, it is one variable; asked twice on one path,
its first answer decides. Everything that is said about a tree's logic goes through its paths, and
so stays within the tree's size, or the product of two sizes. Decision diagrams would need one
order of the questions for all paths, and outgrow a tree whose paths ask in different orders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from apps.trees.domain.tree import Answer, OpenBranch, Path, Question, Tree, Turn, nodes


class UnfinishedTreeError(ValueError):
    """A tree with an open branch is no truth function yet. `path` leads to an open branch."""

    def __init__(self, path: Path) -> None:
        self.path = path
        turns = ", ".join(f"“{turn.follow_up_question}” {turn.follow_up_answer}" for turn in path)
        where = f"after {turns}" if path else "at its root"
        super().__init__(f"The tree has an open branch {where}: finish it, then ask for its logic.")


@dataclass(frozen=True, eq=False)
class Choice:
    """What comes after each answer to a question. `question` is its folded text."""

    question: str
    text: str
    yes: Choices
    no: Choices

    def turn(self, answer: Answer) -> Turn:
        return Turn(self.text, answer)


Choices: TypeAlias = Choice | Answer

Known: TypeAlias = Mapping[str, Answer]
"""Answers to folded questions."""


def choices(tree: Tree) -> Choices:
    """The tree without what no answers lead to, and without questions on which nothing hangs."""
    built: dict[int, Choices] = {}
    for path, node in reversed(list(nodes(tree))):  # children first
        if isinstance(node, Question):
            below = built[id(node.yes)], built[id(node.no)]
            built[id(node)] = Choice(node.folded, node.text, *below)
        elif isinstance(node, OpenBranch):
            raise UnfinishedTreeError(path)
        else:
            built[id(node)] = node.answer
    return restricted(built[id(tree)], {})


def restricted(node: Choices, known: Known) -> Choices:
    """What is left to ask when the answers `known` are given.

    An answer, if the outcome is certain: nothing is left that all answers take to the same end.
    """
    built: list[Choices] = []
    waiting: list[tuple[Choices, Known, bool]] = [(node, known, False)]
    while waiting:
        above, given, is_built_below = waiting.pop()
        here = follow(above, given)
        if not isinstance(here, Choice):
            built.append(here)
        elif is_built_below:
            no, yes = built.pop(), built.pop()
            built.append(yes if yes is no else Choice(here.question, here.text, yes, no))
        else:
            waiting.append((here, given, True))
            waiting.append((here.no, {**given, here.question: Answer.NO}, False))
            waiting.append((here.yes, {**given, here.question: Answer.YES}, False))
    return built.pop()


def follow(node: Choices, known: Known) -> Choices:
    """Go down while `known` answers what is asked."""
    while isinstance(node, Choice) and (answer := known.get(node.question)):
        node = node.yes if answer is Answer.YES else node.no
    return node


@dataclass(frozen=True)
class Difference:
    """Turns after which one tree's final answer is `one`, and another's is `other`."""

    turns: Path
    one: Answer
    other: Answer


def differences(one: Choices, other: Choices) -> Iterator[Difference]:
    """All pairs of leaves that the same answers lead to, and that are not the same."""
    turns: list[Turn] = []
    known: dict[str, Answer] = {}
    waiting: list[tuple[Choices, Choices, int]] = [(one, other, 0)]
    ...
