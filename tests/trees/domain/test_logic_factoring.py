from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.snippets.domain.folding import fold
from apps.trees.domain.logic.choices import choices
from apps.trees.domain.logic.expressions import (
    And,
    Constant,
    Expression,
    Formula,
    Not,
    Or,
    Var,
    literals,
)
from apps.trees.domain.logic.factoring import factored
from apps.trees.domain.redundancy import highest_redundant
from apps.trees.domain.tree import Answer, Question, Tree
from tests.strategies import chain, full_tree, trees
from tests.trees.domain.logic_trees import (
    NO,
    YES,
    A,
    B,
    C,
    D,
    asked,
    asked_in_another_order,
    assignments,
    is_true,
    outcome,
    repeating_trees,
    tree_where,
)

pytestmark = pytest.mark.once  # no database

any_tree = trees() | repeating_trees()


def of(tree: Tree) -> Expression:
    return factored(choices(tree))


def literal(question: str, is_negated: bool) -> Formula:
    return Not(Var(f"{question}?")) if is_negated else Var(f"{question}?")


@st.composite
def read_once(draw: st.DrawFn, named: str = "abcdef", is_and: bool = True) -> Formula:
    """Any shape of AND, OR and NOT that names each of some questions once."""
    if len(named) == 1:
        return literal(named, draw(st.booleans()))
    cuts = draw(st.sets(st.integers(1, len(named) - 1), min_size=1))
    bounds = [0, *sorted(cuts), len(named)]
    parts = [draw(read_once(named[start:end], not is_and)) for start, end in pairwise(bounds)]
    return (And if is_and else Or)(tuple(parts))


def unordered(expression: Expression) -> object:
    if isinstance(expression, And | Or):
        return type(expression), frozenset(unordered(part) for part in expression.parts)
    return expression


@pytest.mark.parametrize(
    ("tree", "expression"),
    [
        (YES, Constant(Answer.YES)),
        (Question("A?", NO, NO), Constant(Answer.NO)),
        (Question("A?", YES, NO), A),
        (Question("A?", NO, YES), Not(A)),
        (Question("A?", Question("B?", YES, NO), NO), And((A, B))),
        (Question("A?", YES, Question("B?", YES, NO)), Or((A, B))),
        (Question("A?", NO, Question("B?", YES, NO)), And((B, Not(A)))),
        (Question("A?", Question("B?", YES, NO), YES), Or((B, Not(A)))),
        (
            Question("A?", Question("B?", Question("C?", YES, Question("D?", YES, NO)), NO), NO),
            And((A, B, Or((C, D)))),
        ),
    ],
)
def test_one_chain_of_questions(tree: Tree, expression: Expression) -> None:
    assert of(tree) == expression


def test_a_question_asked_on_two_paths_is_named_once() -> None:
    tree = Question("A?", Question("C?", YES, NO), Question("B?", Question(" c", YES, NO), NO))
    assert of(tree) == And((Or((A, B)), C))


def test_parts_stand_in_the_order_and_spelling_of_their_first_asking() -> None:
    tree = Question("a ?", Question("B", YES, NO), Question("C!", YES, NO))
    assert of(Question("C?", YES, tree)) == Or(
        (Var("C?"), And((Var("a ?"), Var("B")))),
    )


def test_a_function_that_is_not_read_once_is_written_out() -> None:
    either = Question("A?", Question("B?", NO, YES), Question("B?", YES, NO))
    assert of(either) == Or((And((A, Not(B))), And((B, Not(A)))))
    branches = Question("A?", Question("B?", YES, NO), Question("C?", YES, NO))
    assert of(branches) == Or((And((A, B)), And((C, Not(A)))))


def test_what_is_written_out_names_no_answer_that_makes_no_difference() -> None:
    """Two of three: after Yes to A, one is enough. And the same with its answers turned round."""
    both = Question("B?", Question("C?", YES, NO), NO)
    any_of_them = Question("B?", YES, Question("C?", YES, NO))
    assert of(Question("A?", any_of_them, both)) == Or((And((A, Or((B, C)))), And((B, C))))
    assert of(Question("A?", both, any_of_them)) == Or((And((Or((B, C)), Not(A))), And((B, C))))


def test_what_is_common_to_both_branches_is_taken_out_before_the_rest_is_written_out() -> None:
    branches = Question("A?", Question("B?", YES, NO), Question("C?", YES, NO))
    assert of(Question("D?", branches, NO)) == And((D, Or((And((A, B)), And((C, Not(A)))))))


@given(any_tree)
def test_the_expression_agrees_with_the_tree(tree: Tree) -> None:
    expression = of(tree)
    for known in assignments(asked(tree)):
        assert is_true(expression, known) == (outcome(tree, known) is Answer.YES)


@given(any_tree)
def test_every_question_that_is_named_changes_the_outcome(tree: Tree) -> None:
    for question in {fold(spelling(named)) for named in literals(of(tree))}:
        others = [name for name in asked(tree) if name != question]
        assert any(
            len({outcome(tree, {**known, question: answer}) for answer in Answer}) == 2
            for known in assignments(others)
        )


@given(read_once(), st.permutations("abcdef"))
def test_every_read_once_function_is_recognised(expression: Expression, order: list[str]) -> None:
    tree = tree_where(lambda known: is_true(expression, known), order)
    assert unordered(of(tree)) == unordered(expression)


@given(any_tree)
def test_a_redundant_question_is_not_named(tree: Tree) -> None:
    redundant = Question("Does it matter?", tree, tree)
    assert [found.question for found in highest_redundant(redundant)] == [redundant]
    assert of(redundant) == of(tree)


def test_branches_that_answer_the_same_in_another_order_are_one() -> None:
    """Neither branch is read-once, and both come out differently: the shorter one is taken."""
    one = Question("A?", Question("B?", YES, NO), Question("C?", YES, NO))
    other = asked_in_another_order(one, "bca")
    assert of(other) != of(one)
    for tree in (Question("D?", one, other), Question("D?", other, one)):
        assert len(list(literals(of(tree)))) == 4
        assert D not in list(literals(of(tree)))


def test_large_and_deep_trees() -> None:
    assert len(list(literals(of(full_tree(8))))) > 255
    assert len(of(chain(1000)).parts) == 1000  # type: ignore[union-attr]


def spelling(named: Var | Not) -> str:
    return named.question if isinstance(named, Var) else named.part.question
