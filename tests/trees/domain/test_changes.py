"""Trees as a change would make them, and fingerprints of what a page showed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.trees.domain.changes import fingerprint, with_final_answer
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question

YES, NO = Answer.YES, Answer.NO
HERE = Question("Here?", FinalAnswer(YES, 3), OpenBranch(), 2)
TREE = Question("Over 18?", HERE, FinalAnswer(NO, 4), 1)
ROWS = st.lists(st.tuples(st.integers(0, 9), st.text(max_size=3)), unique_by=lambda row: row[0])


@pytest.mark.parametrize(
    ("key", "changed"),
    [
        (4, Question("Over 18?", HERE, FinalAnswer(YES))),
        (2, Question("Over 18?", FinalAnswer(YES), FinalAnswer(NO))),
        (1, FinalAnswer(YES)),
        (9, TREE),
    ],
)
def test_an_answer_takes_the_place_of_a_node_and_all_below(key, changed):
    assert with_final_answer(TREE, key, YES) == changed


@given(ROWS, st.randoms())
def test_a_fingerprint_does_not_depend_on_the_order(rows, chance):
    mixed = rows[:]
    chance.shuffle(mixed)
    assert fingerprint(mixed) == fingerprint(rows)


@given(ROWS, ROWS)
def test_other_nodes_have_another_fingerprint(one, other):
    assert (fingerprint(one) == fingerprint(other)) == (sorted(one) == sorted(other))
