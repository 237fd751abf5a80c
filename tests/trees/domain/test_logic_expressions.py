import pytest

from apps.trees.domain.logic.expressions import (
    And,
    Constant,
    Expression,
    Formula,
    Not,
    Or,
    Piece,
    in_words,
    literals,
    pieces,
)
from apps.trees.domain.tree import Answer
from tests.trees.domain.logic_trees import A, B, C, D

pytestmark = pytest.mark.once  # no database


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (Constant(Answer.YES), "Always Yes"),
        (Constant(Answer.NO), "Always No"),
        (A, "Yes, if “A?”"),
        (Not(A), "Yes, unless “A?”"),
        (And((A, B, C)), "Yes, if “A?” and “B?” and “C?”"),
        (Or((A, B)), "Yes, if “A?” or “B?”"),
        (And((A, Not(B))), "Yes, if “A?” and not “B?”"),
        (And((Not(A), Not(B))), "Yes, unless “A?” or “B?”"),
        (Or((Not(A), Not(B))), "Yes, unless “A?” and “B?”"),
        (And((Not(A), Or((Not(B), Not(C))))), "Yes, unless “A?” or (“B?” and “C?”)"),
        (And((A, Or((B, Not(C))))), "Yes, if “A?” and (“B?” or not “C?”)"),
        (
            Or((And((A, Or((B, C)))), D)),
            "Yes, if (“A?” and (“B?” or “C?”)) or “D?”",
        ),
    ],
)
def test_how_an_expression_reads(expression: Expression, words: str) -> None:
    assert in_words(expression) == words


def test_pieces_for_a_template_keep_questions_apart() -> None:
    assert pieces(And((Or((A, B)), Not(C)))) == [
        Piece("Yes, if ("),
        Piece("A?", is_question=True),
        Piece(" or "),
        Piece("B?", is_question=True),
        Piece(") and not "),
        Piece("C?", is_question=True),
    ]


def test_literals_come_in_order_and_as_often_as_they_stand_there() -> None:
    expression = Or((And((A, Or((B, Not(C))))), And((D, Not(A)))))
    assert list(literals(expression)) == [A, B, Not(C), D, Not(A)]
    assert list(literals(Constant(Answer.YES))) == []


def test_a_very_deep_expression_is_no_concern() -> None:
    expression: Formula = A
    for level in range(2000):
        expression = And((B, expression)) if level % 2 else Or((C, expression))
    assert len(list(literals(expression))) == 2001
    assert in_words(expression).endswith("(“C?” or “A?”" + ")" * 1999)
