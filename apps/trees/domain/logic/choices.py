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

    def branch(self, answer: Answer) -> Choices:
        return self.yes if answer is Answer.YES else self.no


Choices: TypeAlias = Choice | Answer

Known: TypeAlias = Mapping[str, Turn]
"""Turns that are given, in order, by their folded question."""


def choices(tree: Tree) -> Choices:
    """The tree without what no answers lead to, and without questions that all end in one answer.

    Raises `UnfinishedTreeError` when a branch is open.
    """
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
    """What is left to ask after the turns `known`: an answer, if the outcome is certain."""
    built: list[Choices] = []
    waiting: list[tuple[Choices, Known, bool]] = [(node, known, False)]
    while waiting:
        above, given, is_built_below = waiting.pop()
        here = _followed(above, given)
        if not isinstance(here, Choice):
            built.append(here)
        elif is_built_below:
            no, yes = built.pop(), built.pop()
            built.append(yes if yes is no else Choice(here.question, here.text, yes, no))
        else:
            waiting.append((here, given, True))
            waiting.extend((here, further, False) for further in _further(here, given))
    return built.pop()


@dataclass(frozen=True)
class Difference:
    """Turns after which one tree's final answer is `one`, and the other tree's is `other`."""

    turns: Path
    one: Answer
    other: Answer


def differences(one: Choices, other: Choices) -> Iterator[Difference]:
    """Each pair of leaves that the same answers lead to and that differ; none if they are equal.

    Goes down both at once. Turns come as the first asks them, then the second.
    """
    waiting: list[tuple[Choices, Choices, Known]] = [(one, other, {})]
    while waiting:
        left, right, known = waiting.pop()
        left, right = _followed(left, known), _followed(right, known)
        if isinstance(left, Choice):
            waiting.extend((left, right, further) for further in _further(left, known))
        elif isinstance(right, Choice):
            waiting.extend((left, right, further) for further in _further(right, known))
        elif left is not right:
            yield Difference(tuple(known.values()), left, right)


def _followed(node: Choices, known: Known) -> Choices:
    """Down as long as `known` answers what is asked."""
    while isinstance(node, Choice) and (turn := known.get(node.question)):
        node = node.branch(turn.follow_up_answer)
    return node


def _further(asked: Choice, known: Known) -> Iterator[Known]:
    """With the answer No, then with Yes: whoever takes from the end goes on with Yes."""
    for answer in (Answer.NO, Answer.YES):
        yield {**known, asked.question: Turn(asked.text, answer)}
