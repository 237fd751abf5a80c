"""What is wrong with a scenario's facts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.scenarios.domain.expansion import expand_scenario
from apps.scenarios.domain.facts import REFUSALS, FactFault, FaultyFacts, fault_of
from apps.trees.domain.tree import Answer, FinalAnswer, Question, Turn, questions
from tests.strategies import trees

YES, NO = Answer.YES, Answer.NO
OLD, POOR, RICH = "Are you old?", "Are you poor?", "Are you rich?"
TREE = Question(
    OLD,
    Question(POOR, FinalAnswer(YES), FinalAnswer(NO)),
    Question(RICH, FinalAnswer(NO), FinalAnswer(YES)),
)


@pytest.mark.parametrize(
    ("facts", "fault"),
    [
        ([], FaultyFacts(FactFault.NO_FACTS, ())),
        (
            [Turn(OLD, YES), Turn(POOR, YES), Turn("are you OLD", NO)],
            FaultyFacts(FactFault.CONTRADICTORY, (Turn(OLD, YES), Turn("are you OLD", NO))),
        ),
        (
            [Turn(OLD, YES), Turn("Are you tall?", NO)],
            FaultyFacts(FactFault.NOT_ASKED, (Turn("Are you tall?", NO),)),
        ),
        (
            [Turn(POOR, YES), Turn(RICH, YES)],
            FaultyFacts(FactFault.NOT_ON_ONE_PATH, (Turn(POOR, YES), Turn(RICH, YES))),
        ),
        ([Turn(POOR, YES)], None),
    ],
)
def test_each_fault_names_the_facts_to_look_at(facts, fault):
    assert fault_of(TREE, facts) == fault


@given(trees(), st.data())
def test_there_is_a_fault_exactly_when_the_expansion_refuses(tree, data):
    texts = [question.text for _, question in questions(tree)] + ["Is it another question?"]
    turns = st.builds(Turn, st.sampled_from(texts), st.sampled_from(Answer))
    facts = data.draw(st.lists(turns, max_size=4))
    found = fault_of(tree, facts)
    if found is None:
        list(expand_scenario(tree, facts))
    else:
        with pytest.raises(REFUSALS[found.fault]):
            expand_scenario(tree, facts)
