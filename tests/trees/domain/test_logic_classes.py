import pytest

from apps.trees.domain.logic.choices import UnfinishedTreeError
from apps.trees.domain.logic.classes import NO_SHORT_FORM, Logic, LogicClass, logic
from apps.trees.domain.logic.expressions import And, Constant, Not, Or, Piece
from apps.trees.domain.tree import Answer, OpenBranch, Question, Tree
from tests.strategies import full_tree
from tests.trees.domain.logic_trees import NO, YES, A, B, C

pytestmark = pytest.mark.once  # no database

A_AND_B = Question("A?", Question("B?", YES, NO), NO)
A_OR_B = Question("A?", YES, Question("B?", YES, NO))
A_THEN_B_ELSE_C = Question("A?", Question("B?", YES, NO), Question("C?", YES, NO))


@pytest.mark.parametrize(
    ("tree", "kind"),
    [
        (YES, LogicClass.CONSTANT),
        (Question("A?", NO, Question("B?", NO, NO)), LogicClass.CONSTANT),
        (Question("A?", Question("a", YES, NO), Question("a", YES, NO)), LogicClass.ONE_QUESTION),
        (Question("A?", NO, YES), LogicClass.NEGATED_QUESTION),
        (A_AND_B, LogicClass.AND),
        (A_OR_B, LogicClass.OR),
        (Question("C?", A_OR_B, NO), LogicClass.MIXED),
        (Question("C?", YES, A_AND_B), LogicClass.MIXED),
        (Question("A?", NO, Question("B?", NO, YES)), LogicClass.WITH_NOT),
        (Question("C?", NO, A_OR_B), LogicClass.WITH_NOT),
        (
            Question("A?", Question("B?", YES, NO), Question("B?", NO, YES)),
            LogicClass.NOT_READ_ONCE,
        ),
        (A_THEN_B_ELSE_C, LogicClass.NOT_READ_ONCE),
    ],
)
def test_classes(tree: Tree, kind: LogicClass) -> None:
    assert logic(tree).kind is kind


def test_the_expression_and_how_it_reads() -> None:
    found = logic(A_AND_B)
    assert found == Logic(LogicClass.AND, And((A, B)))
    assert found.words == "Yes, if “A?” and “B?”"
    assert found.pieces == [
        Piece("Yes, if "),
        Piece("A?", is_question=True),
        Piece(" and "),
        Piece("B?", is_question=True),
    ]
    assert logic(NO) == Logic(LogicClass.CONSTANT, Constant(Answer.NO))


def test_a_short_expression_may_name_a_question_twice() -> None:
    written_out = Or((And((A, B)), And((C, Not(A)))))
    assert logic(A_THEN_B_ELSE_C, longest=4) == Logic(LogicClass.NOT_READ_ONCE, written_out)


def test_a_long_one_may_not() -> None:
    found = logic(A_THEN_B_ELSE_C, longest=3)
    assert found == Logic(LogicClass.NOT_READ_ONCE, None)
    assert (found.words, found.pieces) == (NO_SHORT_FORM, [Piece(NO_SHORT_FORM)])
    assert logic(full_tree(8)).expression is None


def test_a_read_once_expression_is_never_too_long() -> None:
    assert logic(A_AND_B, longest=0).expression == And((A, B))


def test_an_open_branch_is_refused() -> None:
    with pytest.raises(UnfinishedTreeError):
        logic(Question("A?", YES, OpenBranch()))
