from collections.abc import Iterator

from hypothesis import given

from apps.trees.domain.redundancy import (
    Redundancy,
    RedundancyReason,
    RepeatedQuestion,
    highest_redundant,
    redundant_questions,
    repeated_questions,
)
from apps.trees.domain.tree import (
    Answer,
    FinalAnswer,
    OpenBranch,
    Question,
    Tree,
    Turn,
    leaf_answers,
    questions,
)
from tests.strategies import chain, full_tree, trees, unfinished_trees

YES, NO = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)


def yes(question: str) -> Turn:
    return Turn(question, Answer.YES)


def no(question: str) -> Turn:
    return Turn(question, Answer.NO)


def test_a_question_that_matters_is_not_redundant() -> None:
    assert list(redundant_questions(Question("A?", YES, NO))) == []
    assert list(redundant_questions(YES)) == []


def test_one_answer_at_all_leaves() -> None:
    below = Question("B?", NO, NO)
    tree = Question("A?", NO, below)
    assert list(redundant_questions(tree)) == [
        Redundancy((), tree, RedundancyReason.ONE_ANSWER),
        Redundancy((no("A?"),), below, RedundancyReason.ONE_ANSWER),
    ]
    assert list(highest_redundant(tree)) == [Redundancy((), tree, RedundancyReason.ONE_ANSWER)]


def test_same_branches_whatever_their_spelling_and_keys() -> None:
    tree = Question("A?", Question("B?", YES, NO, key=1), Question(" b ", YES, NO, key=2))
    assert list(redundant_questions(tree)) == [Redundancy((), tree, RedundancyReason.SAME_BRANCHES)]


def test_branches_that_differ_in_one_thing_are_not_the_same() -> None:
    branch = Question("B?", YES, NO)
    assert list(redundant_questions(Question("A?", branch, Question("C?", YES, NO)))) == []
    assert list(redundant_questions(Question("A?", branch, Question("B?", NO, YES)))) == []
    assert list(redundant_questions(Question("A?", branch, YES))) == []


def test_an_open_branch_may_still_matter() -> None:
    open_below = Question("B?", YES, OpenBranch())
    assert list(redundant_questions(Question("A?", open_below, open_below))) == []
    assert list(redundant_questions(Question("A?", YES, open_below))) == []
    assert list(redundant_questions(Question("A?", OpenBranch(), OpenBranch()))) == []


def test_redundant_below_an_open_sibling_is_found() -> None:
    below = Question("B?", YES, YES)
    tree = Question("A?", below, OpenBranch())
    assert list(redundant_questions(tree)) == [
        Redundancy((yes("A?"),), below, RedundancyReason.ONE_ANSWER)
    ]


def test_the_highest_is_given_once_on_each_side() -> None:
    left = Question("B?", YES, Question("C?", YES, YES))
    right = Question("D?", NO, NO)
    tree = Question("A?", left, right)
    assert list(highest_redundant(tree)) == [
        Redundancy((yes("A?"),), left, RedundancyReason.ONE_ANSWER),
        Redundancy((no("A?"),), right, RedundancyReason.ONE_ANSWER),
    ]


def test_all_questions_of_a_large_tree_of_one_answer() -> None:
    tree: Tree = YES
    for level in range(8):
        tree = Question(f"Question {level}?", tree, tree)
    assert len(list(redundant_questions(tree))) == 255
    assert len(list(highest_redundant(tree))) == 1
    assert list(redundant_questions(full_tree(8))) == []


def test_a_very_deep_tree_is_no_concern() -> None:
    assert list(redundant_questions(Question("?", chain(1000), NO))) == []


def test_a_question_repeated_on_one_path_after_folding() -> None:
    again = Question(" a!", YES, NO)
    tree = Question("A?", Question("B?", YES, again), NO)
    path = (yes("A?"), no("B?"))
    assert list(repeated_questions(tree)) == [RepeatedQuestion(path, again, yes("A?"))]


def test_a_question_repeated_after_its_other_answer() -> None:
    again = Question("A?", YES, NO)
    tree = Question("A?", YES, again)
    assert list(repeated_questions(tree)) == [RepeatedQuestion((no("A?"),), again, no("A?"))]


def test_a_question_asked_a_third_time_was_first_answered_at_the_first() -> None:
    third = Question("A", YES, NO)
    second = Question("a", third, NO)
    tree = Question("A?", NO, second)
    assert list(repeated_questions(tree)) == [
        RepeatedQuestion((no("A?"),), second, no("A?")),
        RepeatedQuestion((no("A?"), yes("a")), third, no("A?")),
    ]


def test_one_question_on_two_branches_is_not_repeated() -> None:
    branch = Question("B?", YES, NO)
    assert list(repeated_questions(Question("A?", branch, branch))) == []


@given(trees())
def test_a_tree_without_repetition_has_none(tree: Tree) -> None:
    assert list(repeated_questions(tree)) == []
    asked_twice = Question("Once more?", tree, Question("once more", tree, tree))
    assert [found.path for found in repeated_questions(asked_twice)] == [(no("Once more?"),)]


@given(unfinished_trees())
def test_redundant_is_what_the_definition_says(tree: Tree) -> None:
    assert [found.path for found in redundant_questions(tree)] == [
        path for path, question in questions(tree) if _cannot_matter(question)
    ]


@given(unfinished_trees())
def test_highest_are_the_redundant_ones_below_no_other(tree: Tree) -> None:
    all_found = [found.path for found in redundant_questions(tree)]
    assert [found.path for found in highest_redundant(tree)] == [
        path for path in all_found if not any(path[:size] in all_found for size in range(len(path)))
    ]


@given(trees())
def test_one_answer_is_told_from_same_branches(tree: Tree) -> None:
    for found in redundant_questions(tree):
        has_one_answer = len(set(leaf_answers(found.question))) == 1
        assert (found.reason is RedundancyReason.ONE_ANSWER) == has_one_answer


def _cannot_matter(question: Question) -> bool:
    """The definition, word by word and slowly."""
    outline = list(_outline(question.yes)), list(_outline(question.no))
    if None in outline[0] or None in outline[1]:
        return False
    return outline[0] == outline[1] or len(set(leaf_answers(question))) == 1


def _outline(tree: Tree) -> Iterator[str | None]:
    if isinstance(tree, OpenBranch):
        yield None
    elif isinstance(tree, FinalAnswer):
        yield tree.answer.value
    else:
        yield tree.folded
        yield from _outline(tree.yes)
        yield from _outline(tree.no)
