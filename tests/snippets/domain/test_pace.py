"""How fast a person works, by gaps up to ten minutes."""

from datetime import UTC, datetime, timedelta

from apps.snippets.domain.pace import pace


def at(*minutes: float) -> list[datetime]:
    return [datetime(2024, 5, 31, 9, tzinfo=UTC) + timedelta(minutes=one) for one in minutes]


def test_a_pause_counts_neither_as_time_nor_as_work_in_it():
    found = pace(at(0, 2, 12, 22.01, 23))
    assert (found.done, found.timed, found.active_minutes) == (5, 3, 12.99)
    assert found.per_hour == 3 * 60 / 12.99


def test_the_order_does_not_matter():
    assert pace(at(5, 0, 10)) == pace(at(0, 5, 10))


def test_what_was_done_at_one_moment_counts_as_each():
    assert pace(at(0, 5, 5, 5)).per_hour == 3 * 60 / 5


def test_of_one_piece_of_work_no_pace_is_known():
    assert (pace(at(0)).per_hour, pace(at(0, 60)).per_hour, pace([]).per_hour) == (None,) * 3
