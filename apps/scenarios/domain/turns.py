"""Turns as ShARC's files and the utterance table spell them."""

from collections.abc import Iterable, Mapping

from apps.trees.domain.tree import Answer, Path, Turn

QUESTION, ANSWER = TURN_KEYS = ("follow_up_question", "follow_up_answer")


def turns_as_json(turns: Iterable[Turn]) -> list[dict[str, str]]:
    return [
        {QUESTION: turn.follow_up_question, ANSWER: turn.follow_up_answer.value} for turn in turns
    ]


def turns_from_json(turns: Iterable[Mapping[str, str]]) -> Path:
    """The inverse of `turns_as_json`. Raises KeyError or ValueError on anything else."""
    return tuple(Turn(turn[QUESTION], Answer(turn[ANSWER])) for turn in turns)
