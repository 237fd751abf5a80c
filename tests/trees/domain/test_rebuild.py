import re
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.scenarios.domain.expansion import expand_plain
from apps.trees.domain.rebuild import (
    MAX_DEPTH,
    BelowFinalAnswerError,
    ConflictingAnswersError,
    ContradictingHistoryError,
    MissingParentError,
    NoRootError,
    OrphanHistoryError,
    OtherQuestionError,
    PlainUtterance,
    RebuiltTree,
    TooDeepError,
    TreeError,
    rebuild_tree,
)
from apps.trees.domain.tree import (
    Answer,
    FinalAnswer,
    OpenBranch,
    Question,
    Tree,
    Turn,
    nodes,
    questions,
)
from tests.strategies import chain, full_tree, respelled, trees, unfinished_trees

A_YES, A_NO = Turn("A?", Answer.YES), Turn("A?", Answer.NO)
B_YES, B_NO = Turn("B?", Answer.YES), Turn("B?", Answer.NO)
ROOT = PlainUtterance("u0", (), "A?")


def utterances_of(tree: Tree) -> list[PlainUtterance]:
    return [
        PlainUtterance(f"u{number:03}", node.history, node.answer)
        for number, node in enumerate(expand_plain(tree))
    ]


def test_nodes_carry_the_id_and_spelling_of_their_utterance() -> None:
    rebuilt = rebuild_tree(
        [
            PlainUtterance("u2", (A_NO,), "Yes"),
            PlainUtterance("u1", (A_YES,), "B?"),
            PlainUtterance("u3", (A_YES, B_NO), "No"),
            ROOT,
        ]
    )
    tree = rebuilt.tree
    assert tree == Question(
        "A?",
        yes=Question("B?", yes=OpenBranch(), no=FinalAnswer(Answer.NO)),
        no=FinalAnswer(Answer.YES),
    )
    keys = [None if isinstance(node, OpenBranch) else node.key for _, node in nodes(tree)]
    assert keys == ["u0", "u1", None, "u3", "u2"]
    assert rebuilt.spellings == {}


def test_a_tree_of_one_leaf() -> None:
    assert rebuild_tree([PlainUtterance("u0", (), "No")]) == RebuiltTree(FinalAnswer(Answer.NO), {})


def test_yes_with_a_question_mark_is_a_question() -> None:
    rebuilt = rebuild_tree([PlainUtterance("u0", (), "Yes?")])
    assert rebuilt.tree == Question("Yes?", OpenBranch(), OpenBranch())


def test_spellings_of_one_question_are_joined_and_none_is_lost() -> None:
    rebuilt = rebuild_tree(
        [
            PlainUtterance("u0", (), "Do you live here?"),
            PlainUtterance("u1", (Turn("do you live here", Answer.YES),), "Yes"),
            PlainUtterance("u2", (Turn("Do you live here", Answer.NO),), "B?"),
            PlainUtterance("u3", (Turn("Do you live here?", Answer.NO), B_YES), "Yes"),
        ]
    )
    assert rebuilt.spellings == {
        "do you live here": frozenset({"Do you live here?", "do you live here", "Do you live here"})
    }
    assert isinstance(rebuilt.tree, Question)
    assert rebuilt.tree.text == "Do you live here?"


def test_of_equal_utterances_the_smallest_id_gives_the_spelling() -> None:
    rebuilt = rebuild_tree(
        [
            PlainUtterance("u2", (), "a"),
            PlainUtterance("u1", (), "A!"),
            PlainUtterance("u3", (), "A"),
        ]
    )
    assert rebuilt.tree == Question("A!", OpenBranch(), OpenBranch())
    assert isinstance(rebuilt.tree, Question)
    assert rebuilt.tree.key == "u1"
    assert rebuilt.spellings == {"a": frozenset({"a", "A!", "A"})}


def test_the_same_question_again_with_the_same_answer_is_a_tree() -> None:
    again = PlainUtterance("u1", (A_YES,), "A?")
    end = PlainUtterance("u2", (A_YES, A_YES), "No")
    assert rebuild_tree([ROOT, again, end]).tree == Question(
        "A?",
        yes=Question("A?", yes=FinalAnswer(Answer.NO), no=OpenBranch()),
        no=OpenBranch(),
    )


@pytest.mark.parametrize(
    ("utterances", "error", "message"),
    [
        (
            [],
            NoRootError,
            "No plain utterance has an empty history, so the tree has no first question: "
            "no utterances.",
        ),
        (
            [PlainUtterance(f"u{number}", (A_YES,), "Yes") for number in range(7)],
            NoRootError,
            "No plain utterance has an empty history, so the tree has no first question: "
            "u0, u1, u2, u3, u4 and 2 more.",
        ),
        (
            [ROOT, PlainUtterance("u1", (A_YES,), "Yes"), PlainUtterance("u2", (A_YES,), "No")],
            ConflictingAnswersError,
            "Plain utterances have the same history and different answers: u1, u2.",
        ),
        (
            [ROOT, PlainUtterance("u1", (), "B?")],
            ConflictingAnswersError,
            "Plain utterances have the same history and different answers: u0, u1.",
        ),
        (
            [ROOT, PlainUtterance("u1", (A_YES, Turn("a", Answer.NO)), "No")],
            ContradictingHistoryError,
            "Plain utterances have a history that answers one question both Yes and No: u1.",
        ),
        (
            [ROOT, PlainUtterance("u1", (A_YES, B_NO), "No")],
            MissingParentError,
            "Plain utterances have a history whose last question no plain utterance asks: u1.",
        ),
        (
            [
                ROOT,
                PlainUtterance("u1", (A_YES,), "Yes"),
                PlainUtterance("u3", (A_YES, B_NO), "No"),
                PlainUtterance("u2", (A_YES, B_NO), "No"),
            ],
            BelowFinalAnswerError,
            "Plain utterances have a history that goes on after a final answer: u2, u3.",
        ),
        (
            [ROOT, PlainUtterance("u1", (B_YES,), "No")],
            OtherQuestionError,
            "Plain utterances have a history whose last question is not the one asked there: u1.",
        ),
        (
            [ROOT, PlainUtterance("u1", (A_YES,) * 201, "No")],
            TooDeepError,
            "Plain utterances have a history of more than 200 turns: u1.",
        ),
    ],
)
def test_refuses(utterances: list[PlainUtterance], error: type[TreeError], message: str) -> None:
    with pytest.raises(TreeError, match=f"^{re.escape(message)}$") as refusal:
        rebuild_tree(reversed(utterances))
    assert refusal.type is error


def test_the_error_has_all_ids_at_fault() -> None:
    with pytest.raises(NoRootError) as refusal:
        rebuild_tree(PlainUtterance(f"u{number}", (A_YES,), "Yes") for number in range(7))
    assert refusal.value.utterance_ids == ("u0", "u1", "u2", "u3", "u4", "u5", "u6")


@pytest.mark.parametrize(
    ("number", "named"),
    [(5, "u0, u1, u2, u3, u4."), (6, "u0, u1, u2, u3, u4 and 1 more.")],
)
def test_the_message_names_the_first_five(number: int, named: str) -> None:
    with pytest.raises(NoRootError, match=re.escape(f": {named}")):
        rebuild_tree(PlainUtterance(f"u{index}", (A_YES,), "Yes") for index in range(number))


def test_order_does_not_matter_for_spellings_under_one_id() -> None:
    utterances = [PlainUtterance("u1", (), text) for text in ("a", "A!", "A")]
    assert {_texts(rebuild_tree(order)) for order in permutations(utterances)} == {("A",)}


def _texts(rebuilt: RebuiltTree) -> tuple[str, ...]:
    return tuple(question.text for _, question in questions(rebuilt.tree))


def test_order_does_not_matter_for_which_of_two_conflicts_is_named() -> None:
    utterances = [
        ROOT,
        PlainUtterance("u1", (A_YES,), "Yes"),
        PlainUtterance("u1", (A_NO,), "Yes"),
        PlainUtterance("u2", (A_YES,), "No"),
        PlainUtterance("u3", (A_NO,), "No"),
    ]
    assert {_outcome(list(order)) for order in permutations(utterances)} == {
        "Plain utterances have the same history and different answers: u1, u3."
    }


def test_the_three_orphans_are_caught_as_one() -> None:
    with pytest.raises(OrphanHistoryError):
        rebuild_tree([ROOT, PlainUtterance("u1", (B_YES,), "No")])


def test_the_deepest_tree_allowed_is_rebuilt_and_can_be_compared() -> None:
    tree = chain(MAX_DEPTH)
    assert rebuild_tree(utterances_of(tree)).tree == tree


def test_a_full_tree_of_depth_8() -> None:
    tree = full_tree(8)
    assert rebuild_tree(utterances_of(tree)) == RebuiltTree(tree, {})


@given(unfinished_trees().filter(lambda tree: tree != OpenBranch()), st.data())
def test_expanding_and_rebuilding_gives_the_tree_in_any_order(
    tree: Tree, data: st.DataObject
) -> None:
    rebuilt = rebuild_tree(data.draw(st.permutations(utterances_of(tree))))
    assert rebuilt.tree == tree
    assert rebuilt.spellings == _spelled_in_several_ways(tree)


def _spelled_in_several_ways(tree: Tree) -> dict[str, frozenset[str]]:
    groups: dict[str, set[str]] = {}
    for _, question in questions(tree):
        groups.setdefault(question.folded, set()).add(question.text)
    return {folded: frozenset(texts) for folded, texts in groups.items() if len(texts) > 1}


@given(trees(), st.data())
def test_order_does_not_matter_for_spellings_keys_and_errors(
    tree: Tree, data: st.DataObject
) -> None:
    """Utterances in several spellings, some twice, one missing and one changed."""
    utterances = utterances_of(tree)
    utterances += [
        _respell(data, utterance) for utterance in data.draw(st.lists(st.sampled_from(utterances)))
    ]
    for _ in range(data.draw(st.integers(0, 2))):
        utterances.append(
            replace(
                data.draw(st.sampled_from(utterances)),
                answer=data.draw(st.sampled_from(["Yes", "No", "Another question?"])),
            )
        )
    shuffled = data.draw(st.permutations(utterances))
    assert _outcome(shuffled) == _outcome(utterances)


def _respell(data: st.DataObject, utterance: PlainUtterance) -> PlainUtterance:
    is_final = utterance.answer in list(Answer)
    return PlainUtterance(
        data.draw(st.sampled_from(["u000", "u005", "u999"])),
        tuple(
            Turn(data.draw(respelled(turn.follow_up_question)), turn.follow_up_answer)
            for turn in utterance.history
        ),
        utterance.answer if is_final else data.draw(respelled(utterance.answer)),
    )


def _outcome(utterances: list[PlainUtterance]) -> object:
    try:
        rebuilt = rebuild_tree(utterances)
    except TreeError as error:
        return str(error)
    keys = [None if isinstance(node, OpenBranch) else node.key for _, node in nodes(rebuilt.tree)]
    return rebuilt, keys
