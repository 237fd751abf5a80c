import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.scenarios.domain.consistency import (
    Consistent,
    Inconsistency,
    InconsistencyReason,
    check,
)
from apps.scenarios.domain.expansion import expand_plain, expand_scenario
from apps.trees.domain.tree import (
    Answer,
    FinalAnswer,
    OpenBranch,
    Path,
    Question,
    Tree,
    Turn,
    fold_answer,
    next_text,
    nodes,
)
from tests.strategies import trees, trees_with_facts

YES, NO = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
A_YES, A_NO = Turn("A?", Answer.YES), Turn("A?", Answer.NO)
B_YES, B_NO = Turn("B?", Answer.YES), Turn("B?", Answer.NO)
C_YES, C_NO = Turn("C?", Answer.YES), Turn("C?", Answer.NO)
# A? yes: B? yes: C? yes: Yes, no: No. B? no: No. A? no: D? yes: Yes, no: open
TREE = Question(
    "A?", Question("B?", Question("C?", YES, NO), NO), Question("D?", YES, OpenBranch())
)


@pytest.mark.parametrize(
    ("history", "evidence", "answer", "path"),
    [
        ([], [], "A?", ()),
        ([], [], " a", ()),
        ([A_YES], [], "B?", (A_YES,)),
        ([A_YES], [B_YES], "C?", (A_YES, B_YES)),
        ([], [C_NO, B_YES, A_YES], "No", (A_YES, B_YES, C_NO)),
        ([A_YES, Turn("b", Answer.NO)], [], "No", (A_YES, B_NO)),
        ([B_NO, A_YES], [], "No", (A_YES, B_NO)),
        ([A_YES], [C_NO], "B?", (A_YES,)),
        ([A_NO], [B_NO], "D?", (A_NO,)),
    ],
    ids=[
        "nothing told",
        "another spelling",
        "history",
        "history and evidence",
        "evidence alone, in any order",
        "history in another spelling",
        "history in another order",
        "evidence that is of no use yet",
        "evidence of another branch",
    ],
)
def test_follows(history: list[Turn], evidence: list[Turn], answer: str, path: Path) -> None:
    assert check(TREE, history, evidence, answer) == Consistent(path)


@pytest.mark.parametrize(
    ("history", "evidence", "answer", "reason", "expected"),
    [
        ([], [], "E?", InconsistencyReason.UNKNOWN_QUESTION, "A?"),
        ([A_YES], [Turn("E?", Answer.YES)], "B?", InconsistencyReason.UNKNOWN_QUESTION, "B?"),
        ([Turn("E?", Answer.NO)], [], "A?", InconsistencyReason.UNKNOWN_QUESTION, "A?"),
        ([A_YES, B_NO], [], "No?", InconsistencyReason.UNKNOWN_QUESTION, "No"),
        ([A_YES, B_NO], [], "Yes", InconsistencyReason.CONTRADICTS, "No"),
        ([A_YES, B_NO], [], "C?", InconsistencyReason.CONTRADICTS, "No"),
        ([A_YES, B_NO], [A_NO], "No", InconsistencyReason.CONTRADICTS, None),
        ([A_YES, B_NO, C_YES], [], "No", InconsistencyReason.CONTRADICTS, "No"),
        ([A_YES], [B_YES], "Yes", InconsistencyReason.DECIDES_EARLY, "C?"),
        ([A_YES], [], "C?", InconsistencyReason.DECIDES_EARLY, "B?"),
        ([], [B_NO], "No", InconsistencyReason.DECIDES_EARLY, "A?"),
        ([B_NO], [], "A?", InconsistencyReason.DECIDES_EARLY, "A?"),
        ([A_YES], [], "a", InconsistencyReason.ASKS_KNOWN_FACT, "B?"),
        ([A_YES], [B_YES], "B?", InconsistencyReason.ASKS_KNOWN_FACT, "C?"),
        ([A_YES], [B_NO], "B?", InconsistencyReason.ASKS_KNOWN_FACT, "No"),
        ([A_NO], [Turn("D?", Answer.NO)], "No", InconsistencyReason.OPEN_BRANCH, None),
    ],
)
def test_does_not_follow(
    history: list[Turn],
    evidence: list[Turn],
    answer: str,
    reason: InconsistencyReason,
    expected: str | None,
) -> None:
    assert check(TREE, history, evidence, answer) == Inconsistency(reason, expected)


def test_evidence_needs_a_scenario() -> None:
    found = check(TREE, [A_YES], [B_YES], "C?", has_scenario=False)
    assert found == Inconsistency(InconsistencyReason.NO_SCENARIO, "B?")
    assert check(TREE, [A_YES], [], "B?", has_scenario=False) == Consistent((A_YES,))


def test_a_tree_of_one_leaf() -> None:
    assert check(YES, [], [], "Yes") == Consistent(())
    assert check(YES, [], [], "No") == Inconsistency(InconsistencyReason.CONTRADICTS, "Yes")


def test_a_question_that_reads_yes_is_not_the_final_answer() -> None:
    tree = Question("Yes?", YES, NO)
    assert check(tree, [], [], "Yes?") == Consistent(())
    assert check(tree, [], [], "Yes") == Inconsistency(InconsistencyReason.DECIDES_EARLY, "Yes?")


@given(trees_with_facts(), st.data())
def test_no_other_answer_follows(tree_and_facts: tuple[Tree, Path], data: st.DataObject) -> None:
    tree, facts = tree_and_facts
    texts = {text for _, node in nodes(tree) if (text := next_text(node))}
    for expanded in expand_scenario(tree, facts):
        other = data.draw(st.sampled_from(sorted(texts | {"Yes", "No"})))
        found = check(tree, expanded.history, expanded.evidence, other)
        is_same = fold_answer(other) == fold_answer(expanded.answer)
        assert isinstance(found, Consistent) == is_same
        if isinstance(found, Inconsistency):
            assert found.expected == expanded.answer
            assert found.reason is not InconsistencyReason.UNKNOWN_QUESTION


@given(trees())
def test_a_turn_left_out_of_a_path_decides_early(tree: Tree) -> None:
    for expanded in expand_plain(tree):
        if len(expanded.history) > 1:
            found = check(tree, expanded.history[1:], (), expanded.answer)
            assert found == Inconsistency(InconsistencyReason.DECIDES_EARLY, next_text(tree))
