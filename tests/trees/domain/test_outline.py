"""The rows of a tree: their names, numbers and nesting."""

from hypothesis import given

from apps.trees.domain.outline import Slot, slots
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question, Tree, nodes
from tests.strategies import unfinished_trees

YES, NO = Answer.YES, Answer.NO
OVER_18 = Question(
    "Are you over 18?",
    yes=Question("Do you live here?", yes=FinalAnswer(YES, key=3), no=OpenBranch(), key=2),
    no=FinalAnswer(NO, key=4),
    key=1,
)


def rows(tree: Tree) -> list[tuple[str, str, int, int, int]]:
    return [(slot.name, slot.parent, slot.level, slot.number, slot.closes) for slot in slots(tree)]


def test_rows_come_parents_first_and_yes_before_no():
    assert rows(OVER_18) == [
        ("1", "", 1, 1, 0),
        ("2", "1", 2, 2, 0),
        ("3", "2", 3, 0, 0),
        ("2-no", "2", 3, 0, 1),
        ("4", "1", 2, 0, 1),
    ]


def test_a_slot_says_what_it_holds():
    assert [(slot.question, slot.answer, slot.is_open) for slot in slots(OVER_18)] == [
        ("Are you over 18?", "", False),
        ("Do you live here?", "", False),
        ("", "Yes", False),
        ("", "", True),
        ("", "No", False),
    ]


def test_a_tree_that_nobody_began_is_one_open_root():
    assert list(slots(OpenBranch())) == [Slot("root", "", None, (), OpenBranch(), 0, 0)]


@given(unfinished_trees())
def test_every_place_is_one_row_and_every_list_is_closed(tree):
    found = list(slots(tree))
    assert [(slot.path, slot.node) for slot in found] == list(nodes(tree))
    assert sum(slot.closes for slot in found) == sum(1 for slot in found if slot.question)
