"""How far work of several steps is, and how long it will take."""

import pytest

from apps.exports.domain.remaining import Course, in_words


def course() -> Course:
    return Course({"read": 100, "write": 300}, begun_seconds=50.0)


def test_steps_follow_each_other():
    assert course().total == 400
    assert [course().done("read", 0.5), course().done("write", 0.5)] == [50, 250]
    assert course().done("read", 7) == 100
    with pytest.raises(KeyError):
        course().done("sing", 0.5)


def test_what_is_left_takes_as_long_as_what_was_done_here():
    ours = course()
    assert ours.seconds_left(100, 50.0) is None  # taken over: a quarter is there
    assert ours.seconds_left(150, 52.0) is None  # too early
    assert ours.seconds_left(100, 60.0) is None  # nothing moves
    assert ours.seconds_left(250, 80.0) == 30


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, ""),
        (12, "less than a minute left"),
        (61, "about 1 minute left"),
        (300, "about 5 minutes left"),
        (2 * 3600, "about 2 hours left"),
    ],
)
def test_people_are_told_no_more_than_is_known(seconds, said):
    assert in_words(seconds) == said
