"""Trees for the tests of logic, and what they answer, by walking."""

from collections.abc import Callable, Mapping, Sequence

from hypothesis import strategies as st

from apps.snippets.domain.folding import fold
from apps.trees.domain.logic.expressions import (
    And,
    Constant,
    Expression,
    Not,
    Or,
    Var,
)
from apps.trees.domain.tree import Answer, FinalAnswer, Question, Tree, follow, questions
from tests.strategies import final_answers, respelled

YES, NO = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
A, B, C, D = (Var(f"{letter}?") for letter in "ABCD")


@st.composite
def repeating_trees(draw: st.DrawFn, levels: int = 4) -> Tree:
    """Trees of few questions, which ask the same one again anywhere, in other spellings."""
    if not levels or draw(st.integers(0, 5)) == 0:
        return draw(final_answers)
    text = draw(respelled(draw(st.sampled_from("ABCD"))))
    return Question(text, draw(repeating_trees(levels - 1)), draw(repeating_trees(levels - 1)))


def asked(*trees: Tree) -> list[str]:
    """The folded questions of the trees, sorted."""
    return sorted({question.folded for tree in trees for _, question in questions(tree)})


def outcome(tree: Tree, known: Mapping[str, Answer]) -> Answer:
    leaf = follow(tree, known)[1]
    assert isinstance(leaf, FinalAnswer)
    return leaf.answer


def assignments(questions: list[str]) -> list[dict[str, Answer]]:
    found: list[dict[str, Answer]] = [{}]
    for question in questions:
        found = [{**known, question: answer} for known in found for answer in Answer]
    return found


def tree_where(is_yes: Callable[[Mapping[str, Answer]], bool], order: Sequence[str]) -> Tree:
    """A tree that asks the folded questions in this order on every path."""

    def expand(known: dict[str, Answer]) -> Tree:
        if len(known) == len(order):
            return YES if is_yes(known) else NO
        question = order[len(known)]
        branches = [expand({**known, question: answer}) for answer in Answer]
        return Question(f"{question}?", *branches)

    return expand({})


def asked_in_another_order(tree: Tree, order: Sequence[str]) -> Tree:
    return tree_where(lambda known: outcome(tree, known) is Answer.YES, order)


def is_true(expression: Expression, known: Mapping[str, Answer]) -> bool:
    """`known` maps folded questions to answers."""
    match expression:
        case Constant(answer):
            return answer is Answer.YES
        case Var(question):
            return known[fold(question)] is Answer.YES
        case Not(part):
            return not is_true(part, known)
        case And(parts):
            return all(is_true(part, known) for part in parts)
        case Or(parts):
            return any(is_true(part, known) for part in parts)
