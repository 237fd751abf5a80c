"""What of a form somebody wrote."""

from apps.workers.domain.written import written


def test_what_was_chosen_or_is_empty_is_not_written():
    form = {"text": "Can I?", "note": " ", "turn": "7", "says-3": "yes", "turn 1": "One? Yes"}

    assert written(form) == ["Can I?", "One? Yes"]
