"""Questions of one path that are nearly the same."""

import pytest
from hypothesis import given

from apps.trees.domain.near import NearQuestion, near_questions
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question, questions
from tests.strategies import trees

YES, NO = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
YEARS = Question("Are you over 18 years?", YES, NO)


def found(tree, threshold=0.8) -> list[tuple[str, str]]:
    return [(near.question.text, near.earlier.text) for near in near_questions(tree, threshold)]


def test_a_question_near_to_one_above_it_is_found_with_that_one():
    tree = Question("Are you over 18?", YES, Question("Do you live here?", YEARS, OpenBranch()))
    assert found(tree) == [("Are you over 18 years?", "Are you over 18?")]


def test_a_higher_threshold_finds_less():
    tree = Question("Are you over 18?", YES, YEARS)
    (near,) = near_questions(tree, 0.1)
    assert found(tree, near.cosine) == [("Are you over 18 years?", "Are you over 18?")]
    assert found(tree, near.cosine + 0.01) == []


def test_questions_on_different_paths_are_not_compared():
    assert found(Question("Cargo bike?", YEARS, Question("Are you over 18?", YES, NO))) == []


def test_the_same_question_again_is_not_near_but_the_same():
    tree = Question("Are you over 18?", YES, Question("are you over 18", YES, NO))
    assert found(tree, 0.1) == []


def test_the_nearest_one_counts():
    below = Question("Are you over 18 years old?", YES, NO)
    tree = Question("Are you 18?", Question("Are you over 18 years?", below, NO), NO)
    assert ("Are you over 18 years old?", "Are you over 18 years?") in found(tree, 0.3)
    assert len(found(tree, 0.3)) == 2


@pytest.mark.parametrize(
    "tree", [YES, OpenBranch(), YEARS, Question("?", Question("!", YES, NO), NO)]
)
def test_where_there_is_nothing_to_compare(tree):
    assert found(tree, 0.1) == []


@given(trees())
def test_each_question_is_found_once_and_is_another_than_the_earlier_one(tree):
    near = list(near_questions(tree, 0.3))
    assert len({id(one.question) for one in near}) == len(near)
    assert all(one.question.folded != one.earlier.folded for one in near)
    assert {id(one.question) for one in near} <= {id(question) for _, question in questions(tree)}
    assert all(isinstance(one, NearQuestion) and 0.3 - 1e-6 <= one.cosine <= 1 for one in near)
