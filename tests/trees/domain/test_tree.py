from hypothesis import given
from hypothesis import strategies as st

from apps.trees.domain.tree import (
    Answer,
    FinalAnswer,
    OpenBranch,
    Question,
    Tree,
    Turn,
    contradictions,
    depth,
    fold_answer,
    follow,
    is_finished,
    leaf_answers,
    next_text,
    nodes,
    open_branches,
    paths,
    question_count,
    questions,
    walk,
)
from tests.strategies import answers, chain, full_tree, respelled, trees, unfinished_trees

YES, NO = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
RESIDENT = Question("Are you a resident?", YES, NO)
TREE = Question("Are you over 65?", RESIDENT, OpenBranch())

OVER_65, UNDER_65 = Turn("Are you over 65?", Answer.YES), Turn("Are you over 65?", Answer.NO)
IS_RESIDENT = Turn("Are you a resident?", Answer.YES)
NO_RESIDENT = Turn("Are you a resident?", Answer.NO)


def test_nodes_come_parents_first_and_yes_before_no() -> None:
    assert list(nodes(TREE)) == [
        ((), TREE),
        ((OVER_65,), RESIDENT),
        ((OVER_65, IS_RESIDENT), YES),
        ((OVER_65, NO_RESIDENT), NO),
        ((UNDER_65,), OpenBranch()),
    ]


def test_questions_leaves_and_open_branches_are_the_nodes_of_each_kind() -> None:
    assert list(questions(TREE)) == [((), TREE), ((OVER_65,), RESIDENT)]
    assert list(paths(TREE)) == [((OVER_65, IS_RESIDENT), YES), ((OVER_65, NO_RESIDENT), NO)]
    assert list(leaf_answers(TREE)) == [Answer.YES, Answer.NO]
    assert list(open_branches(TREE)) == [(UNDER_65,)]


def test_a_tree_with_an_open_branch_is_not_finished() -> None:
    assert not is_finished(TREE)
    assert is_finished(RESIDENT)


def test_a_tree_of_one_leaf() -> None:
    assert list(nodes(YES)) == [((), YES)]
    assert list(paths(YES)) == [((), YES)]
    assert (depth(YES), question_count(YES), is_finished(YES)) == (0, 0, True)
    assert walk(YES, ()) is YES
    assert walk(YES, (OVER_65,)) is None


def test_a_tree_that_nobody_has_begun() -> None:
    assert list(open_branches(OpenBranch())) == [()]
    assert (depth(OpenBranch()), is_finished(OpenBranch())) == (0, False)


def test_a_full_tree_of_depth_8() -> None:
    tree = full_tree(8)
    assert (depth(tree), question_count(tree), len(list(paths(tree)))) == (8, 255, 256)


def test_a_very_deep_tree_is_no_concern() -> None:
    tree = chain(2000)
    assert (depth(tree), question_count(tree)) == (2000, 2000)


def test_trees_are_compared_without_their_keys() -> None:
    assert Question("Q?", FinalAnswer(Answer.YES, 1), NO, 2) == Question("Q?", YES, NO, 3)


def test_walk_follows_the_turns_in_order_whatever_their_spelling() -> None:
    assert walk(TREE, [Turn("are you over 65", Answer.YES)]) is RESIDENT
    assert walk(TREE, [OVER_65, NO_RESIDENT]) is NO
    assert walk(TREE, [IS_RESIDENT, OVER_65]) is None
    assert walk(TREE, [OVER_65, OVER_65]) is None


def test_follow_goes_down_while_the_answer_is_known() -> None:
    known = {"are you over 65": Answer.YES, "do you have children": Answer.NO}
    assert follow(TREE, known) == ((OVER_65,), RESIDENT)
    assert follow(TREE, known | {"are you a resident": Answer.NO}) == ((OVER_65, NO_RESIDENT), NO)
    assert follow(TREE, {"are you a resident": Answer.NO}) == ((), TREE)


def test_next_text_is_what_the_user_hears() -> None:
    assert [next_text(node) for _, node in nodes(TREE)] == [
        "Are you over 65?",
        "Are you a resident?",
        "Yes",
        "No",
        None,
    ]


def test_only_yes_and_no_themselves_are_final_answers() -> None:
    assert fold_answer("Yes") is Answer.YES
    assert fold_answer("No") is Answer.NO
    assert fold_answer("Yes?") == "yes"
    assert fold_answer("Are you over 65?") == "are you over 65"


def test_contradictions_are_the_turns_that_answer_the_other_way() -> None:
    said_again = Turn("Are you over 65", Answer.YES)
    assert list(contradictions([OVER_65, said_again, NO_RESIDENT])) == []
    assert list(contradictions([OVER_65, NO_RESIDENT, UNDER_65, said_again])) == [UNDER_65]


@given(trees())
def test_each_leaf_is_reached_once(tree: Tree) -> None:
    reached = [path for path, _ in paths(tree)]
    assert len(set(reached)) == len(reached) == question_count(tree) + 1
    assert is_finished(tree)


@given(unfinished_trees())
def test_every_node_is_a_question_a_leaf_or_an_open_branch(tree: Tree) -> None:
    ends = len(list(paths(tree))) + len(list(open_branches(tree)))
    assert ends == question_count(tree) + 1
    assert len(list(nodes(tree))) == ends + question_count(tree)


@given(unfinished_trees(), st.data())
def test_walking_a_path_leads_to_its_node(tree: Tree, data: st.DataObject) -> None:
    path, node = data.draw(st.sampled_from(list(nodes(tree))))
    spelled = [
        Turn(data.draw(respelled(turn.follow_up_question)), turn.follow_up_answer) for turn in path
    ]
    assert walk(tree, spelled) is node


@given(trees(), answers)
def test_walking_on_after_a_final_answer_leads_nowhere(tree: Tree, answer: Answer) -> None:
    for path, _ in paths(tree):
        assert walk(tree, (*path, Turn("Anything else?", answer))) is None
