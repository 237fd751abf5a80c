import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.scenarios.domain.consistency import Consistent, check
from apps.scenarios.domain.expansion import (
    ContradictoryFactsError,
    Expanded,
    ExpansionError,
    FactsNotOnOnePathError,
    NoFactsError,
    expand_negative_question,
    expand_negative_scenario,
    expand_plain,
    expand_scenario,
)
from apps.trees.domain.tree import (
    Answer,
    FinalAnswer,
    OpenBranch,
    Path,
    Question,
    Tree,
    Turn,
    contradictions,
    fold_answer,
    next_text,
    nodes,
    paths,
    walk,
)
from tests.strategies import facts_of, full_tree, trees, trees_with_facts, unfinished_trees

YES, NO = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
A_YES, A_NO = Turn("A?", Answer.YES), Turn("A?", Answer.NO)
B_YES, B_NO = Turn("B?", Answer.YES), Turn("B?", Answer.NO)
C_YES, C_NO = Turn("C?", Answer.YES), Turn("C?", Answer.NO)
D_YES, D_NO = Turn("D?", Answer.YES), Turn("D?", Answer.NO)
# A? yes: B? yes: C? yes: Yes, no: No. B? no: No. A? no: D?
TREE = Question("A?", Question("B?", Question("C?", YES, NO), NO), Question("D?", YES, NO))


def test_plain_utterances_are_the_nodes() -> None:
    tree = Question("A?", Question("B?", YES, OpenBranch()), NO)
    plain = [
        Expanded((), (), "A?"),
        Expanded((A_YES,), (), "B?"),
        Expanded((A_YES, B_YES), (), "Yes"),
        Expanded((A_NO,), (), "No"),
    ]
    assert list(expand_plain(tree)) == plain
    assert list(expand_negative_scenario(tree)) == plain


def test_a_tree_of_one_leaf() -> None:
    assert list(expand_plain(YES)) == [Expanded((), (), "Yes")]
    with pytest.raises(FactsNotOnOnePathError):
        expand_scenario(YES, [A_YES])


def test_facts_from_the_root_on_are_evidence_and_not_asked_again() -> None:
    assert list(expand_scenario(TREE, [A_YES, B_YES])) == [
        Expanded((), (A_YES, B_YES), "C?"),
        Expanded((A_YES,), (B_YES,), "C?"),
        Expanded((A_YES, B_YES), (), "C?"),
        Expanded((A_YES, B_YES, C_YES), (), "Yes"),
        Expanded((A_YES, B_YES, C_NO), (), "No"),
    ]


def test_facts_of_a_whole_path_decide() -> None:
    assert list(expand_scenario(TREE, [A_NO, D_YES])) == [
        Expanded((), (A_NO, D_YES), "Yes"),
        Expanded((A_NO,), (D_YES,), "Yes"),
        Expanded((A_NO, D_YES), (), "Yes"),
    ]


def test_facts_with_a_gap() -> None:
    assert list(expand_scenario(TREE, [A_YES, C_NO])) == [
        Expanded((), (A_YES,), "B?"),
        Expanded((A_YES,), (), "B?"),
        Expanded((A_YES, B_YES), (C_NO,), "No"),
        Expanded((A_YES, B_YES, C_NO), (), "No"),
    ]


def test_facts_that_do_not_start_at_the_root() -> None:
    assert list(expand_scenario(TREE, [B_NO])) == [
        Expanded((), (), "A?"),
        Expanded((A_YES,), (B_NO,), "No"),
        Expanded((A_YES, B_NO), (), "No"),
    ]


def test_facts_match_after_folding_and_the_tree_gives_the_spelling() -> None:
    facts = [Turn(" d ", Answer.NO), Turn("a", Answer.NO), Turn("A?!", Answer.NO)]
    assert list(expand_scenario(TREE, facts)) == list(expand_scenario(TREE, [A_NO, D_NO]))


def test_facts_that_several_paths_have_leave_all_of_them_open() -> None:
    tree = Question("A?", Question("B?", YES, NO), Question("C?", Question("B?", NO, YES), YES))
    assert list(expand_scenario(tree, [B_YES])) == [
        Expanded((), (), "A?"),
        Expanded((A_YES,), (B_YES,), "Yes"),
        Expanded((A_YES, B_YES), (), "Yes"),
        Expanded((A_NO,), (), "C?"),
        Expanded((A_NO, C_YES), (B_YES,), "No"),
        Expanded((A_NO, C_YES, B_YES), (), "No"),
    ]


def test_no_utterance_stops_at_an_open_branch() -> None:
    tree = Question("A?", Question("B?", OpenBranch(), NO), YES)
    assert list(expand_scenario(tree, [A_YES])) == [
        Expanded((), (A_YES,), "B?"),
        Expanded((A_YES,), (), "B?"),
        Expanded((A_YES, B_NO), (), "No"),
    ]
    assert list(expand_scenario(tree, [B_YES])) == [Expanded((), (), "A?")]


def test_a_tree_that_repeats_a_question_gets_it_as_evidence_once() -> None:
    tree = Question("A?", Question("B?", Question("a", YES, NO), NO), NO)
    assert list(expand_scenario(tree, [A_YES, B_YES])) == [
        Expanded((), (A_YES, B_YES), "Yes"),
        Expanded((A_YES,), (B_YES,), "Yes"),
        Expanded((A_YES, B_YES), (), "Yes"),
        Expanded((A_YES, B_YES, Turn("a", Answer.YES)), (), "Yes"),
        Expanded((A_YES, B_YES, Turn("a", Answer.NO)), (), "No"),
    ]


def test_utterances_are_the_same_whatever_their_spelling_and_the_order_of_evidence() -> None:
    one = Expanded((A_YES,), (B_YES, C_YES), "D?")
    assert Expanded((Turn("a", Answer.YES),), (C_YES, B_YES), " d").content == one.content
    others = [
        Expanded((A_NO,), (B_YES, C_YES), "D?"),
        Expanded((A_YES,), (B_YES,), "D?"),
        Expanded((A_YES,), (B_YES, C_YES), "Yes"),
    ]
    assert one.content not in [other.content for other in others]


@pytest.mark.parametrize(
    ("facts", "error", "message"),
    [
        (
            [],
            NoFactsError,
            "The scenario has no facts, so no node of its tree is ruled out by it.",
        ),
        (
            [A_YES, B_YES, Turn("a", Answer.NO)],
            ContradictoryFactsError,
            "The scenario's facts answer both Yes and No to “a” No.",
        ),
        (
            [B_YES, D_NO],
            FactsNotOnOnePathError,
            "No path of the tree has all of the facts “B?” Yes, “D?” No.",
        ),
        (
            [A_YES, Turn("E?", Answer.NO)],
            FactsNotOnOnePathError,
            "No path of the tree has all of the facts “A?” Yes, “E?” No.",
        ),
    ],
)
def test_refuses_at_the_call(facts: list[Turn], error: type[ExpansionError], message: str) -> None:
    with pytest.raises(ExpansionError, match=f"^{re.escape(message)}$") as refusal:
        expand_scenario(TREE, facts)
    assert refusal.type is error


def test_the_errors_have_the_facts_at_fault() -> None:
    with pytest.raises(ContradictoryFactsError) as contradictory:
        expand_scenario(TREE, [A_YES, B_YES, A_NO])
    assert contradictory.value.contradicting == (A_NO,)
    with pytest.raises(FactsNotOnOnePathError) as elsewhere:
        expand_scenario(TREE, [B_YES, D_NO])
    assert elsewhere.value.facts == (B_YES, D_NO)


def test_a_full_tree_of_depth_8() -> None:
    tree = full_tree(8)
    assert len(list(expand_plain(tree))) == 511
    (first, second, *_), _ = next(paths(tree))
    assert len(list(expand_scenario(tree, [second]))) == 1 + 1 + 127
    assert len(list(expand_scenario(tree, [first]))) == 1 + 255


@given(unfinished_trees())
def test_plain_utterances_have_the_path_and_the_next(tree: Tree) -> None:
    for expanded in expand_plain(tree):
        node = walk(tree, expanded.history)
        assert node is not None
        assert next_text(node) == expanded.answer
    assert len(list(expand_plain(tree))) == sum(
        not isinstance(node, OpenBranch) for _, node in nodes(tree)
    )


@given(trees_with_facts())
def test_what_the_scenario_tells_is_never_asked(tree_and_facts: tuple[Tree, Path]) -> None:
    tree, facts = tree_and_facts
    told = {fact.folded[0] for fact in facts}
    for expanded in expand_scenario(tree, facts):
        assert fold_answer(expanded.answer) not in told


@given(trees_with_facts())
def test_evidence_is_facts_and_never_history(tree_and_facts: tuple[Tree, Path]) -> None:
    tree, facts = tree_and_facts
    for expanded in expand_scenario(tree, facts):
        evidence = {turn.folded for turn in expanded.evidence}
        assert evidence <= {fact.folded for fact in facts}
        assert not evidence & {turn.folded for turn in expanded.history}
        assert len(evidence) == len(expanded.evidence)


@given(trees_with_facts())
def test_history_then_evidence_walks_to_the_answer(tree_and_facts: tuple[Tree, Path]) -> None:
    tree, facts = tree_and_facts
    for expanded in expand_scenario(tree, facts):
        node = walk(tree, expanded.history + expanded.evidence)
        assert node is not None
        assert next_text(node) == expanded.answer


@given(trees_with_facts())
def test_nobody_is_where_their_facts_rule_them_out(tree_and_facts: tuple[Tree, Path]) -> None:
    tree, facts = tree_and_facts
    for expanded in expand_scenario(tree, facts):
        assert not any(contradictions((*facts, *expanded.history)))


@given(trees().filter(lambda tree: isinstance(tree, Question)), st.data())
def test_every_node_that_a_path_with_all_facts_meets_is_expanded(
    tree: Tree, data: st.DataObject
) -> None:
    facts = data.draw(facts_of(tree))
    with_all = [
        path
        for path, _ in nodes(tree)
        if {fact.folded for fact in facts} <= {turn.folded for turn in path}
    ]
    expected = [
        path
        for path, _ in nodes(tree)
        if any(path[: len(whole)] == whole[: len(path)] for whole in with_all)
    ]
    assert [expanded.history for expanded in expand_scenario(tree, facts)] == expected


@given(trees_with_facts())
def test_expanded_answers_follow_from_the_tree(tree_and_facts: tuple[Tree, Path]) -> None:
    tree, facts = tree_and_facts
    for expanded in [*expand_scenario(tree, facts), *expand_plain(tree)]:
        found = check(tree, expanded.history, expanded.evidence, expanded.answer)
        assert found == Consistent(expanded.history + expanded.evidence)


@given(trees_with_facts(), st.data())
def test_order_of_facts_does_not_matter(
    tree_and_facts: tuple[Tree, Path], data: st.DataObject
) -> None:
    tree, facts = tree_and_facts
    shuffled = data.draw(st.permutations(facts))
    assert list(expand_scenario(tree, shuffled)) == list(expand_scenario(tree, facts))


def test_an_irrelevant_question_stands_behind_the_way_to_a_place():
    tree = Question("a", Question("b", YES, NO), NO)
    below = (Turn("a", Answer.YES), Turn("b", Answer.NO))
    assert expand_negative_question(tree, "") == Expanded((), (), "Irrelevant")
    assert expand_negative_question(tree, "yn") == Expanded(below, (), "Irrelevant")
    assert expand_negative_question(tree, "ny") == Expanded(
        (Turn("a", Answer.NO),), (), "Irrelevant"
    )
