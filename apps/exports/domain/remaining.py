"""How long work of known steps will still take, from how long it has taken so far."""

from __future__ import annotations

from dataclasses import dataclass

_ENOUGH_SECONDS = 3.0
"""Before so much time has passed, nothing can be said."""


@dataclass
class Course:
    """Steps one after the other, each with its share of the work, in one unit of choice.

    What was done before `begin_at` was done by somebody else, and says nothing about the pace.
    """

    shares: dict[str, float]
    begun_seconds: float
    begin_at: float = -1.0

    @property
    def total(self) -> int:
        return round(sum(self.shares.values()))

    def done(self, step: str, part: float) -> float:
        """Of the whole, when `part` of a step (from 0 to 1) is done."""
        before = 0.0
        for name, share in self.shares.items():
            if name == step:
                return before + share * min(part, 1.0)
            before += share
        raise KeyError(step)

    def seconds_left(self, done: float, now: float) -> float | None:
        """`now` is on the clock of `begun_seconds`; None: it is too early to say."""
        if self.begin_at < 0:
            self.begin_at = done
        passed, gone = now - self.begun_seconds, done - self.begin_at
        if passed < _ENOUGH_SECONDS or gone <= 0:
            return None
        return passed * (self.total - done) / gone


def in_words(seconds: float | None) -> str:
    """For people, who do not want to be told more than is known; empty for None."""
    if seconds is None:
        return ""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute left"
    if minutes < 90:
        return f"about {minutes} minute{'s' if minutes > 1 else ''} left"
    return f"about {round(minutes / 60)} hours left"
