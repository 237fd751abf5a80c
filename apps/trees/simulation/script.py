"""What a scripted person decides: how they grow a tree, and when they are a nuisance.

Each person draws from a generator of their own, so that a seed gives the same choices again.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from random import Random

from apps.snippets.domain.sentences import sentences
from apps.trees.domain.tree import Answer
from apps.trees.models import NodeCheck

OPENINGS = (
    "Is it right for you that", "Would you say that", "Can you show that", "Is it so that",
    "Do you agree that", "Has it been the case that",
)  # fmt: skip
REASONS = ("I do not know this subject", "The rule text is cut off", "No time")
LONGEST_CLAUSE = 80
_WORDS = re.compile(r"\w+", re.UNICODE)


@dataclass(frozen=True)
class Rates:
    """How often a person is a nuisance, from 0 to 1; each for one piece of work."""

    returns: float = 0.03  # gives it back, before or after a few turns
    rejections: float = 0.05  # rejects a turn of somebody else
    slow: float = 0.03  # submits after the lease has run out
    double: float = 0.05  # clicks twice at the same moment
    crashes: float = 0.03  # goes away in the middle


RATES = tuple(field.name for field in fields(Rates))


class Ended(StrEnum):
    """What came of a submit."""

    ACCEPTED = "accepted"
    AGAIN = "again"  # it came too late, and the work is in these hands again
    LOST = "lost"  # it came too late, and another has the work, or nobody


@dataclass(frozen=True)
class Seen:
    """What a person has before them."""

    is_check: bool = False  # a turn in dispute, and nothing else
    needs_check: bool = False  # say first whether the turns of others are right
    others: int = 0  # how many turns of others there are
    position: int = 0  # of the next step
    may_ask: bool = False
    has_final_answer: bool = False
    rule_text: str = ""
    span_wanted: bool = False
    # Where the work is of another kind: does all but its end, by the script, and gives the end.
    other_work: "Callable[[Script], Callable[[], Ended]] | None" = None


@dataclass(frozen=True)
class Asked:
    """A question, and where in the rule text it comes from."""

    text: str
    span: tuple[int, int]


class Script:
    """The choices of one person."""

    def __init__(self, seed: str, rates: Rates) -> None:
        self.chance = Random(seed)  # noqa: S311 - scripted people keep no secrets
        self.rates = rates
        self.number = 0

    def happens(self, rate: float) -> bool:
        return self.chance.random() < rate

    def return_reason(self) -> str:
        return self.chance.choice(REASONS)

    def rejection_reason(self) -> NodeCheck.Reason:
        return self.chance.choice(list(NodeCheck.Reason))

    def turn_to_reject(self, seen: Seen) -> int:
        return self.chance.randrange(seen.others)

    def answer(self) -> Answer:
        return self.chance.choice(list(Answer))

    def wants_to_ask(self) -> bool:
        return self.happens(0.6)

    def takes_back(self) -> bool:
        return self.happens(0.05)

    def keeps(self) -> bool:
        """A vote on a turn in dispute."""
        return self.happens(0.5)

    def sends_back(self) -> bool:
        """A scenario of somebody else."""
        return self.happens(0.2)

    def one_of(self, choices: Sequence[str]) -> str:
        return self.chance.choice(choices)

    def situation(self) -> str:
        """A scenario; no two are the same."""
        number = self.chance.getrandbits(48)
        return f"I would rather not say much, but this is how I live: number {number}."

    def comes_back(self) -> bool:
        """After a crash: soon, and not when the lease has run out."""
        return self.happens(0.5)

    def question(self, rule_text: str) -> Asked:
        """Made up from a sentence of the rule text; no two of one person are the same."""
        start, end = self._clause(rule_text)
        clause = " ".join(_WORDS.findall(rule_text[start:end])) or "this applies"
        self.number += 1
        opening = self.chance.choice(OPENINGS)
        return Asked(f"{opening} “{clause[:LONGEST_CLAUSE]}” ({self.number})?", (start, end))

    def _clause(self, rule_text: str) -> tuple[int, int]:
        return self.chance.choice(sentences(rule_text) or [(0, max(1, len(rule_text)))])
