import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.trees.domain.logic.choices import Difference, UnfinishedTreeError
from apps.trees.domain.logic.comparison import difference
from apps.trees.domain.tree import (
    Answer,
    FinalAnswer,
    OpenBranch,
    Question,
    Tree,
    Turn,
    paths,
)
from tests.strategies import full_tree, trees
from tests.trees.domain.logic_trees import (
    NO,
    YES,
    asked,
    asked_in_another_order,
    assignments,
    outcome,
    repeating_trees,
)

pytestmark = pytest.mark.once  # no database

A_AND_B = Question("A?", Question("B?", YES, NO), NO)
any_tree = trees() | repeating_trees()


def test_another_order_is_agreement() -> None:
    assert difference(A_AND_B, Question("b", Question("a", YES, NO), NO)) is None


def test_a_question_more_is_agreement_as_long_as_nothing_hangs_on_it() -> None:
    assert difference(A_AND_B, Question("C?", A_AND_B, A_AND_B)) is None
    assert difference(YES, Question("C?", YES, Question("D?", YES, YES))) is None


def test_trees_differ_on_the_fewest_turns() -> None:
    more = Question("A?", Question("B?", Question("C?", YES, NO), NO), YES)
    assert difference(A_AND_B, more) == Difference((Turn("A?", Answer.NO),), Answer.NO, Answer.YES)
    assert difference(more, A_AND_B) == Difference((Turn("A?", Answer.NO),), Answer.YES, Answer.NO)


def test_turns_that_say_nothing_are_left_out() -> None:
    """B and C are asked before A, and only A counts."""
    only_a = Question("A?", YES, NO)
    roundabout = Question("B?", Question("C?", only_a, only_a), Question("A", YES, NO))
    assert difference(roundabout, NO) == Difference((Turn("A", Answer.YES),), Answer.YES, Answer.NO)


def test_turns_come_in_the_order_and_spelling_of_the_first_then_of_the_second() -> None:
    one = Question("A?", Question("B?", YES, NO), NO)
    other = Question("C?", YES, Question("b", YES, NO))
    found = difference(one, other)
    assert found == Difference(
        (Turn("A?", Answer.NO), Turn("C?", Answer.YES)), Answer.NO, Answer.YES
    )


def test_two_answers_differ_without_a_turn() -> None:
    assert difference(YES, NO) == Difference((), Answer.YES, Answer.NO)
    assert difference(NO, NO) is None


def test_an_open_branch_is_refused() -> None:
    unfinished = Question("A?", YES, OpenBranch())
    with pytest.raises(UnfinishedTreeError):
        difference(unfinished, YES)
    with pytest.raises(UnfinishedTreeError):
        difference(YES, unfinished)


@given(any_tree, st.randoms())
def test_a_tree_is_equal_to_itself_in_any_order(tree: Tree, random) -> None:
    order = asked(tree)
    random.shuffle(order)
    assert difference(tree, asked_in_another_order(tree, order)) is None


@given(any_tree, st.data())
def test_one_leaf_flipped_makes_a_difference(tree: Tree, data: st.DataObject) -> None:
    reachable = [(path, leaf) for path, leaf in paths(tree) if _is_consistent(path)]
    path, leaf = data.draw(st.sampled_from(reachable))
    other = _with_leaf_flipped(tree, path)
    assert outcome(other, dict(turn.folded for turn in path)) is not leaf.answer
    found = difference(tree, other)
    assert found is not None
    _assert_it_differs(tree, other, found)


@given(repeating_trees(), repeating_trees())
def test_two_trees_differ_if_and_only_if_some_answers_tell_them_apart(
    one: Tree, other: Tree
) -> None:
    found = difference(one, other)
    differ = any(
        outcome(one, known) is not outcome(other, known) for known in assignments(asked(one, other))
    )
    assert (found is not None) == differ
    if found:
        _assert_it_differs(one, other, found)


def test_large_trees() -> None:
    tree = full_tree(8)
    path = max((path for path, _ in paths(tree)), key=str)
    assert difference(tree, full_tree(8)) is None
    found = difference(tree, _with_leaf_flipped(tree, path))
    assert found is not None
    assert set(found.turns) == set(path)


def test_trees_that_ask_in_very_different_orders() -> None:
    """Seven questions choose which one of 128 others to ask: no order of all 135 suits both."""
    one, other = _chooser(range(7)), _chooser(range(6, -1, -1))
    assert difference(one, one) is None
    found = difference(one, other)
    assert found is not None
    _assert_it_differs(one, other, found)


def _chooser(order: range) -> Tree:
    names = [f"Bit {number}?" for number in order]

    def expand(level: int, chosen: int) -> Tree:
        if level == len(names):
            return Question(f"Item {chosen}?", YES, NO)
        return Question(
            names[level], expand(level + 1, 2 * chosen + 1), expand(level + 1, 2 * chosen)
        )

    return expand(0, 0)


def _is_consistent(path: tuple[Turn, ...]) -> bool:
    return len({turn.folded for turn in path}) == len({turn.folded[0] for turn in path})


def _with_leaf_flipped(tree: Tree, path: tuple[Turn, ...]) -> Tree:
    if not path:
        assert isinstance(tree, FinalAnswer)
        return NO if tree.answer is Answer.YES else YES
    assert isinstance(tree, Question)
    if path[0].follow_up_answer is Answer.YES:
        return Question(tree.text, _with_leaf_flipped(tree.yes, path[1:]), tree.no)
    return Question(tree.text, tree.yes, _with_leaf_flipped(tree.no, path[1:]))


def _assert_it_differs(one: Tree, other: Tree, found: Difference) -> None:
    """Whatever else is answered, and not for certain once a turn is left out."""
    assert found.one is not found.other
    turns = found.turns
    assert (_ends(one, turns), _ends(other, turns)) == ({found.one}, {found.other})
    for index in range(len(turns)):
        fewer = turns[:index] + turns[index + 1 :]
        assert len(_ends(one, fewer)) + len(_ends(other, fewer)) > 2


def _ends(tree: Tree, turns: tuple[Turn, ...]) -> set[Answer]:
    """The final answers that the turns leave possible."""
    return {leaf.answer for path, leaf in paths(tree) if _is_consistent((*turns, *path))}
