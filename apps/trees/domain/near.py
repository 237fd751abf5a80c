"""Follow-up questions of one path that are nearly the same, though not after folding.

Nobody merges them by themselves: "born before 1951" and "born before 1953" are near, and differ.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from apps.snippets.domain.similarity import near_duplicates
from apps.trees.domain.tree import Question, Tree, questions


@dataclass(frozen=True)
class NearQuestion:
    """A question, and the one before it on its path that it is nearest to."""

    question: Question
    earlier: Question
    cosine: float


def near_questions(tree: Tree, threshold: float) -> Iterator[NearQuestion]:
    """Questions with a TF-IDF cosine of `threshold` (over 0) or more to one above them.

    The vectors are made of the tree's own questions, so that what is found depends on nothing
    else. Parents first, YES before NO; branches may be open.
    """
    texts = list(dict.fromkeys(question.folded for _, question in questions(tree)))
    if len(texts) < 2:
        return
    cosines = {
        frozenset((texts[one], texts[other])): cosine
        for one, other, cosine in near_duplicates(texts, threshold)
    }
    if not cosines:
        return
    for above, question in _with_above(tree):
        found = [
            NearQuestion(question, earlier, cosine)
            for earlier in above
            if (cosine := cosines.get(frozenset((earlier.folded, question.folded))))
        ]
        if found:
            yield max(found, key=lambda near: near.cosine)


def _with_above(tree: Tree) -> Iterator[tuple[tuple[Question, ...], Question]]:
    waiting: list[tuple[tuple[Question, ...], Tree]] = [((), tree)]
    while waiting:
        above, node = waiting.pop()
        if isinstance(node, Question):
            yield above, node
            waiting += [((*above, node), node.no), ((*above, node), node.yes)]
