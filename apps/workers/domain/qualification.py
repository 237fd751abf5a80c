"""When somebody may take a qualification test, whether they pass, and what it may contain."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

_TURN = re.compile(r"(?P<question>.*\w.*?)\s+(?P<answer>yes|no)", re.IGNORECASE)


class Code(StrEnum):
    """How somebody stands with the qualification of a project."""

    QUALIFIED = "qualified"
    NOT_TAKEN = "not taken"
    BEGUN = "begun"
    FAILED = "failed"  # and may try again
    WAITING = "waiting"  # failed, and may try again later
    NO_TRIES_LEFT = "no tries left"
    EXPIRED = "expired"
    REVOKED = "revoked"
    NO_TEST = "no test"


MAY_BEGIN = frozenset({Code.NOT_TAKEN, Code.FAILED, Code.EXPIRED})


@dataclass(frozen=True)
class Rules:
    """What a project wants."""

    most_tries: int
    waiting_hours: int


@dataclass(frozen=True)
class Held:
    """The last qualification that somebody got."""

    until: datetime
    is_revoked: bool = False


@dataclass(frozen=True)
class Standing:
    """`at`: until when the qualification lasts or lasted, or when the next try may begin."""

    code: Code
    tries_left: int
    at: datetime | None = None

    @property
    def may_begin(self) -> bool:
        return self.code in MAY_BEGIN


def standing_of(
    *, held: Held | None, failed: Sequence[datetime], has_begun: bool, has_test: bool,
    rules: Rules, now: datetime,
) -> Standing:  # fmt: skip
    """`failed` are the times of the tries, the oldest first, that were not passed since the last
    qualification was given; tries before that do not count any more."""
    left = max(0, rules.most_tries - len(failed))
    if held and held.is_revoked:
        return Standing(Code.REVOKED, left)
    if held and held.until > now:
        return Standing(Code.QUALIFIED, left, held.until)
    if has_begun:
        return Standing(Code.BEGUN, left)
    if failed:
        return _after_failing(
            failed[-1] + timedelta(hours=rules.waiting_hours), left, has_test, now
        )
    if not has_test:
        return Standing(Code.NO_TEST, left)
    return Standing(Code.EXPIRED, left, held.until) if held else Standing(Code.NOT_TAKEN, left)


def _after_failing(next_try: datetime, left: int, has_test: bool, now: datetime) -> Standing:
    if not left:
        return Standing(Code.NO_TRIES_LEFT, left)
    if next_try > now:
        return Standing(Code.WAITING, left, next_try)
    return Standing(Code.FAILED if has_test else Code.NO_TEST, left)


def is_passed(right: int, *, asked: int, pass_mark: int) -> bool:
    """`pass_mark` is in per cent of what is asked."""
    return asked > 0 and right * 100 >= pass_mark * asked


class TurnLineError(ValueError):
    """Line `number`, from 1, is no question with its answer."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


def read_turns(text: str) -> list[tuple[str, str]]:
    """One turn per line, such as "Are you over 18? Yes"; blank lines count for nothing.

    Raises TurnLineError.
    """
    turns = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        turn = _TURN.fullmatch(line.strip())
        if turn is None:
            raise TurnLineError(number)
        turns.append((turn["question"], turn["answer"].capitalize()))
    return turns


def write_turns(turns: Sequence[tuple[str, str]]) -> str:
    """As read_turns reads them."""
    return "\n".join(f"{question} {answer}" for question, answer in turns)
