"""When somebody may take the test, and what passes."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.workers.domain.qualification import (
    Code,
    Held,
    Rules,
    Standing,
    TurnLineError,
    is_passed,
    read_turns,
    standing_of,
    write_turns,
)

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
RULES = Rules(most_tries=2, waiting_hours=24)
OVER, VALID, REVOKED = Held(NOW), Held(NOW + HOUR), Held(NOW + HOUR, is_revoked=True)
LONG_AGO, LATELY = NOW - 24 * HOUR, NOW - HOUR


@pytest.mark.parametrize(
    ("held", "failed", "begun", "test", "standing"),
    [
        (None, [], False, False, Standing(Code.NO_TEST, 2)),
        (None, [], False, True, Standing(Code.NOT_TAKEN, 2)),
        (None, [], True, True, Standing(Code.BEGUN, 2)),
        (None, [LONG_AGO], False, True, Standing(Code.FAILED, 1)),
        (None, [LONG_AGO], False, False, Standing(Code.NO_TEST, 1)),
        (None, [LATELY], False, True, Standing(Code.WAITING, 1, LATELY + 24 * HOUR)),
        (None, [LONG_AGO, LONG_AGO], False, True, Standing(Code.NO_TRIES_LEFT, 0)),
        (None, [LONG_AGO] * 5, False, True, Standing(Code.NO_TRIES_LEFT, 0)),
        (VALID, [], False, True, Standing(Code.QUALIFIED, 2, VALID.until)),
        (VALID, [LATELY], True, False, Standing(Code.QUALIFIED, 1, VALID.until)),
        (OVER, [], False, True, Standing(Code.EXPIRED, 2, NOW)),
        (OVER, [], False, False, Standing(Code.NO_TEST, 2)),
        (OVER, [LATELY], False, True, Standing(Code.WAITING, 1, LATELY + 24 * HOUR)),
        (REVOKED, [], True, True, Standing(Code.REVOKED, 2)),
    ],
)
def test_how_somebody_stands(held, failed, begun, test, standing):
    here = standing_of(
        held=held, failed=failed, has_begun=begun, has_test=test, rules=RULES, now=NOW
    )
    assert here == standing
    assert here.may_begin == (here.code in {"not taken", "failed", "expired"})


@pytest.mark.parametrize(
    ("right", "asked", "mark", "passed"),
    [(3, 3, 100, True), (2, 3, 100, False), (2, 3, 66, True), (2, 3, 67, False), (0, 0, 1, False)],
)
def test_the_pass_mark_is_in_per_cent_of_what_is_asked(right, asked, mark, passed):
    assert is_passed(right, asked=asked, pass_mark=mark) is passed


def test_turns_stand_one_in_each_line_with_their_answers():
    assert read_turns(" Are you over 18?  yes\n\nDo you say no? NO\n") == [
        ("Are you over 18?", "Yes"), ("Do you say no?", "No"),
    ]  # fmt: skip
    assert read_turns("") == []


@pytest.mark.parametrize(
    "line", ["Are you over 18?", "Yes", "? Yes", "Are you? Maybe", "Are you?yes"]
)
def test_a_line_without_a_question_or_an_answer_is_named(line):
    with pytest.raises(TurnLineError) as refusal:
        read_turns(f"Are you ill? No\n{line}")
    assert refusal.value.number == 2


_QUESTIONS = st.text(st.characters(codec="utf-8"), min_size=1).map(lambda text: f"a{text}?")
_QUESTIONS = _QUESTIONS.filter(lambda text: len(text.splitlines()) == 1)


@given(st.lists(st.tuples(_QUESTIONS, st.sampled_from(["Yes", "No"]))))
def test_turns_are_read_as_they_were_written(turns):
    assert read_turns(write_turns(turns)) == turns
