"""The drawing: nothing overlaps, whatever the tree and the script."""

from collections import Counter
from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from apps.trees.domain.layout import MAX_LINES, QUESTION_WIDTH, Box, Drawing, draw
from apps.trees.domain.outline import slots
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question, Tree
from tests.strategies import full_tree, unfinished_trees


def keyed(tree: Tree) -> Tree:
    """The same tree with another key on every node."""
    keys = iter(range(1, 10_000))

    def copy(node: Tree) -> Tree:
        if isinstance(node, Question):
            return Question(node.text, copy(node.yes), copy(node.no), key=next(keys))
        return FinalAnswer(node.answer, next(keys)) if isinstance(node, FinalAnswer) else node

    return copy(tree)


def drawing_of(tree: Tree) -> Drawing:
    return draw(slots(keyed(tree)), {})


def overlap(one: Box, other: Box) -> bool:
    beside = one.x + one.width <= other.x or other.x + other.width <= one.x
    above = one.y + one.height <= other.y or other.y + other.height <= one.y
    return not (beside or above)


def assert_is_tidy(drawing: Drawing) -> None:
    assert not [pair for pair in combinations(drawing.boxes, 2) if overlap(*pair)]
    for box in drawing.boxes:
        assert box.x > 0
        assert box.y > 0
        assert box.x + box.width < drawing.width
        assert box.y + box.height < drawing.height
        assert all(0 < line.y < box.height for line in box.lines)


@given(unfinished_trees())
def test_boxes_never_overlap_and_lie_within_the_picture(tree):
    assert_is_tidy(drawing_of(tree))


@given(unfinished_trees())
def test_children_lie_to_the_right_and_yes_lies_above_no(tree):
    drawing = drawing_of(tree)
    boxes = {box.slot.name: box for box in drawing.boxes}
    children: dict[str, list[Box]] = {}
    for box in drawing.boxes[1:]:
        assert box.x > boxes[box.slot.parent].x + boxes[box.slot.parent].width
        children.setdefault(box.slot.parent, []).append(box)
    for yes, no in children.values():
        assert (yes.slot.branch, no.slot.branch) == (Answer.YES, Answer.NO)
        assert yes.y + yes.height < no.y


@given(unfinished_trees())
def test_a_line_joins_each_question_with_both_of_its_branches(tree):
    drawing = drawing_of(tree)
    boxes = {box.slot.name: box for box in drawing.boxes}
    assert [line.slot for line in drawing.lines] == [box.slot for box in drawing.boxes[1:]]
    for line in drawing.lines:
        parent, child = boxes[line.slot.parent], boxes[line.slot.name]
        assert (line.x1, line.y1) == (parent.x + parent.width, parent.middle_y)
        assert (line.x2, line.y2) == (child.x, child.middle_y)
        assert line.x1 < line.label_x < line.x2


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=600))
def test_a_question_of_any_length_stays_in_its_box(text):
    box = drawing_of(Question(text, OpenBranch(), OpenBranch())).boxes[0]
    assert box.width == QUESTION_WIDTH
    assert len(box.lines) <= MAX_LINES
    assert all(line.y < box.height for line in box.lines)


def test_255_questions_are_tidy_and_their_ends_evenly_spaced():
    drawing = drawing_of(full_tree(8))
    assert_is_tidy(drawing)
    assert len(drawing.boxes) == 511
    ends = [box.y for box in drawing.boxes if not box.slot.question]
    assert Counter(below - above for above, below in pairwise(ends)) == {48: 255}


def test_one_question_to_the_pixel():
    drawing = drawing_of(Question("Over 18?", FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)))
    assert (drawing.width, drawing.height) == (386, 114)
    assert [(box.x, box.y, box.half_width, box.half_height) for box in drawing.boxes] == [
        (16, 37, 106, 20),
        (294, 16, 38, 17),
        (294, 64, 38, 17),
    ]
    assert [(line.path, line.label_x) for line in drawing.lines] == [
        ("M228 57H250V33H294", 272),
        ("M228 57H250V81H294", 272),
    ]
    question = drawing.boxes[0]
    assert (question.number_x, question.text_x, question.note_x) == (11, 36, 36)


def test_a_tree_that_nobody_began_is_one_open_box():
    (box,) = drawing_of(OpenBranch()).boxes
    assert (box.slot.name, box.x, box.y) == ("root", 16, 16)


def test_arabic_and_its_number_start_from_the_right():
    drawing = drawing_of(
        Question("هل عمرك فوق 18 سنة؟", FinalAnswer(Answer.YES), FinalAnswer(Answer.NO))
    )
    box = drawing.boxes[0]
    assert (box.direction, box.number_x, box.text_x) == ("rtl", box.width - 11, box.width - 36)


def test_a_note_stands_below_the_question_and_makes_its_box_higher():
    tree = keyed(Question("Over 18?", FinalAnswer(Answer.YES), FinalAnswer(Answer.YES)))
    noted = draw(slots(tree), {"3": "! same answer on both sides"}).boxes[0]
    plain = draw(slots(tree), {}).boxes[0]
    assert noted.lines == plain.lines
    assert [line.text for line in noted.note] == ["! same answer on", "both sides"]
    assert [line.y - noted.lines[-1].y for line in noted.note] == [18, 36]
    assert noted.height == plain.height + 36
