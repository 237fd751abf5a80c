"""Which scenarios lead through a node: the same ones that the expansion gives utterances there."""

from hypothesis import given

from apps.scenarios.domain.expansion import expand_scenario
from apps.trees.domain.reach import leads_through, paths_through
from apps.trees.domain.tree import Answer, FinalAnswer, Question, Turn, nodes
from tests.strategies import trees_with_facts

TREE = Question(
    "Over 18?",
    yes=Question("Here?", FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)),
    no=FinalAnswer(Answer.NO),
)
ADULT, CHILD = Turn("Over 18?", Answer.YES), Turn("over 18", Answer.NO)
LOCAL = Turn("here", Answer.YES)


def test_facts_below_above_and_beside_a_node():
    at_here = paths_through((ADULT,), TREE.yes)
    assert leads_through([ADULT], at_here)
    assert leads_through([LOCAL], at_here)
    assert not leads_through([CHILD], at_here)
    assert not leads_through([], at_here)


@given(trees_with_facts())
def test_it_is_what_the_expansion_says(tree_and_facts):
    tree, facts = tree_and_facts
    expanded = {
        tuple(turn.folded for turn in utterance.history)
        for utterance in expand_scenario(tree, facts)
    }
    for path, node in nodes(tree):
        if tuple(turn.folded for turn in path) in expanded:
            assert leads_through(facts, paths_through(path, node))
