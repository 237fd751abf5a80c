import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.trees.domain.logic.choices import Choice, UnfinishedTreeError, choices, restricted
from apps.trees.domain.tree import Answer, OpenBranch, Question, Tree, Turn, is_finished
from tests.strategies import answers, chain, full_tree, trees, unfinished_trees
from tests.trees.domain.logic_trees import NO, YES, asked, assignments, outcome, repeating_trees

pytestmark = pytest.mark.once  # no database


def shape(node: Choice | Answer) -> tuple | Answer:
    if isinstance(node, Choice):
        return node.text, shape(node.yes), shape(node.no)
    return node


def test_a_leaf_is_its_answer() -> None:
    assert choices(YES) is Answer.YES


def test_questions_keep_their_spelling() -> None:
    found = choices(Question("Is it  A?", YES, Question("B", NO, YES)))
    assert shape(found) == ("Is it  A?", Answer.YES, ("B", Answer.NO, Answer.YES))
    assert isinstance(found, Choice)
    assert found.question == "is it a"


def test_a_question_asked_twice_on_a_path_is_answered_once() -> None:
    again = Question(" a!", Question("B?", YES, NO), Question("C?", YES, NO))
    assert shape(choices(Question("A?", again, NO))) == (
        "A?",
        ("B?", Answer.YES, Answer.NO),
        Answer.NO,
    )


def test_a_question_with_one_answer_below_it_is_not_asked() -> None:
    below = Question("B?", NO, Question("C?", NO, NO))
    assert shape(choices(Question("A?", YES, below))) == ("A?", Answer.YES, Answer.NO)


@given(repeating_trees(), st.dictionaries(st.sampled_from("abcd"), answers))
def test_what_is_left_agrees_with_the_tree(tree: Tree, known: dict[str, Answer]) -> None:
    turns = {question: Turn(question, answer) for question, answer in known.items()}
    left = restricted(choices(tree), turns)
    for others in assignments(asked(tree)):
        node = left
        while isinstance(node, Choice):
            assert node.question not in known
            node = node.branch(others[node.question])
        assert node is outcome(tree, others | known)


@given(trees())
def test_the_outcome_is_certain_only_where_all_leaves_agree(tree: Tree) -> None:
    ends = {outcome(tree, known) for known in assignments(asked(tree))}
    assert isinstance(choices(tree), Answer) == (len(ends) == 1)


def test_an_open_branch_is_refused_with_the_path_to_it() -> None:
    tree = Question("A?", Question("B?", OpenBranch(), NO), YES)
    with pytest.raises(UnfinishedTreeError) as refusal:
        choices(tree)
    assert refusal.value.path == (Turn("A?", Answer.YES), Turn("B?", Answer.YES))
    assert str(refusal.value) == (
        "The tree has an open branch after “A?” Yes, “B?” Yes: finish it, then ask for its logic."
    )
    with pytest.raises(UnfinishedTreeError, match="an open branch at its root: finish it"):
        choices(OpenBranch())


@given(unfinished_trees())
def test_only_finished_trees_have_logic(tree: Tree) -> None:
    try:
        choices(tree)
    except UnfinishedTreeError:
        is_refused = True
    else:
        is_refused = False
    assert is_refused != is_finished(tree)


@pytest.mark.parametrize("tree", [chain(1000), full_tree(8)])
def test_large_and_deep_trees(tree: Tree) -> None:
    assert isinstance(choices(tree), Choice)
