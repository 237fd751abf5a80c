"""A tree as the rows of a page: what nested lists and the drawing both show, in one order.

A *slot* is a place in the tree: a follow-up question, a final answer, or an open branch that
somebody still has to continue. Its name is the node's key, or for an open branch the key of the
question above it and the branch ("12-yes"); an open root is "root".
"""

from collections.abc import Iterator
from dataclasses import dataclass

from apps.trees.domain.places import slot_name
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Path, Question, Tree


@dataclass(frozen=True)
class Slot:
    """One place in the tree. `number` counts the questions, parents first, YES before NO.

    `closes` says how many nested lists end after this slot when it is written as one.
    """

    name: str
    parent: str
    branch: Answer | None
    path: Path
    node: Tree
    number: int
    closes: int

    @property
    def level(self) -> int:
        return len(self.path) + 1

    @property
    def question(self) -> str:
        """The follow-up question; "" at the ends."""
        return self.node.text if isinstance(self.node, Question) else ""

    @property
    def answer(self) -> str:
        """The final answer; "" elsewhere."""
        return self.node.answer.value if isinstance(self.node, FinalAnswer) else ""

    @property
    def is_open(self) -> bool:
        return isinstance(self.node, OpenBranch)


def slots(tree: Tree) -> Iterator[Slot]:
    """Every place of the tree, parents first, YES before NO: the order of a nested list."""
    number = 0
    # With each place: how many lists end after it when it is an end of the tree.
    waiting: list[tuple[str, Answer | None, Path, Tree, int]] = [("", None, (), tree, 0)]
    while waiting:
        parent, branch, path, node, ending = waiting.pop()
        name = _name(node, parent, branch)
        if isinstance(node, Question):
            number += 1
            yield Slot(name, parent, branch, path, node, number, 0)
            no = (*path, node.turn(Answer.NO))
            yes = (*path, node.turn(Answer.YES))
            waiting.append((name, Answer.NO, no, node.no, ending + 1))
            waiting.append((name, Answer.YES, yes, node.yes, 0))
        else:
            yield Slot(name, parent, branch, path, node, 0, ending)


def _name(node: Tree, parent: str, branch: Answer | None) -> str:
    if not isinstance(node, OpenBranch):
        return str(node.key)
    return slot_name(parent or None, branch.value.lower() if branch else "")
