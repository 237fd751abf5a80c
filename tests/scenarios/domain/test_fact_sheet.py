"""What a scenario tells about each question: facts, sheets and votes."""

import pytest
from hypothesis import given

from apps.scenarios.domain.expansion import (
    ContradictoryFactsError,
    FactsNotOnOnePathError,
    NoFactsError,
    expand_scenario,
)
from apps.scenarios.domain.fact_sheet import (
    Stated,
    checked,
    disputed,
    facts_of,
    questions_of,
    sheet_of,
)
from apps.trees.domain.tree import Answer, FinalAnswer, Question, Turn
from tests.strategies import trees_with_facts

YES, NO, NOT = Stated.YES, Stated.NO, Stated.NOT
LEAF = FinalAnswer(Answer.YES)
POOR = Question("Poor?", LEAF, LEAF)
TREE = Question("Old?", POOR, Question("Rich?", LEAF, Question("poor", LEAF, LEAF)))


def test_each_question_stands_on_the_sheet_once_as_the_tree_spells_it_first():
    assert questions_of(TREE) == {"old": "Old?", "poor": "Poor?", "rich": "Rich?"}


def test_what_the_facts_leave_open_is_not_stated():
    facts = [Turn("OLD", Answer.NO), Turn("Tall?", Answer.YES)]
    assert sheet_of(TREE, facts) == {"old": NO, "poor": NOT, "rich": NOT, "tall": YES}


def test_the_sheet_gives_its_facts_in_the_order_of_the_tree():
    sheet = {"poor": YES, "old": YES, "rich": NOT, "tall": YES}
    assert facts_of(TREE, sheet) == (Turn("Old?", Answer.YES), Turn("Poor?", Answer.YES))


@pytest.mark.parametrize("sheet", [{}, {"old": NOT}, {"tall": NO}])
def test_a_sheet_that_states_nothing_is_refused(sheet):
    with pytest.raises(NoFactsError):
        facts_of(TREE, sheet)


def test_a_sheet_that_nobody_can_be_in_is_refused():
    with pytest.raises(FactsNotOnOnePathError):
        facts_of(TREE, {"old": YES, "rich": NO})


def test_facts_that_contradict_each_other_are_refused():
    with pytest.raises(ContradictoryFactsError):
        checked(TREE, [Turn("Old?", Answer.YES), Turn("old", Answer.NO)])


@given(trees_with_facts())
def test_facts_come_back_from_their_sheet(drawn):
    tree, facts = drawn
    again = facts_of(tree, sheet_of(tree, facts))
    assert {fact.folded for fact in again} == {fact.folded for fact in facts}
    assert list(expand_scenario(tree, again)) == list(expand_scenario(tree, facts))


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([], []),
        ([{"old": YES, "rich": NOT}], []),
        ([{"old": NOT}], ["old"]),
        ([{"rich": NO}], ["rich"]),
        ([{"old": YES}, {"old": NO}], ["old"]),
        ([{"old": YES}, {"old": NO}, {"old": YES}], []),
        ([{"old": YES}, {"old": NO}, {"rich": NOT}], ["old"]),
    ],
)
def test_half_of_the_votes_dispute_what_is_stated(votes, expected):
    assert disputed({"old": YES, "rich": NOT}, votes) == expected
