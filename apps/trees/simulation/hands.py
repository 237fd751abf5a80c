"""What a scripted person can do, whether by the services or by the pages."""

from collections import Counter
from threading import Lock
from typing import Protocol

from apps.trees.domain.tree import Answer
from apps.trees.models import NodeCheck
from apps.trees.simulation.script import Asked, Ended, Seen


class RefusedError(Exception):
    """A refusal that people are told, by its code. Nothing else may go wrong."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


class Hands(Protocol):
    """One person's. Each step gives what they see afterwards, or raises RefusedError."""

    def take(self) -> Seen | None:
        """The work in hand, or the next piece; None: there is none for this person now."""

    def agree(self) -> Seen: ...

    def ask(self, asked: Asked) -> Seen: ...

    def answer(self, seen: Seen, answer: Answer) -> Seen: ...

    def take_back(self, seen: Seen) -> Seen: ...

    def submit(self) -> Ended: ...

    def reject(self, turn: int, reason: NodeCheck.Reason) -> Ended:
        """`turn` counts the turns of others from the first one."""

    def vote(self, reason: NodeCheck.Reason | None) -> Ended:
        """On a turn in dispute: with a reason against it, without one for it."""

    def give_back(self, reason: str) -> bool: ...

    def let_time_run_out(self) -> None:
        """The lease in hand has run out, as if its time had passed."""

    def click_twice(self) -> None:
        """Whatever is done next is done twice at the same moment."""


class Tally:
    """Counts what happened, in many threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: Counter[str] = Counter()

    def add(self, what: str, number: int = 1) -> None:
        with self._lock:
            self._counts[what] += number

    def __getitem__(self, what: str) -> int:
        with self._lock:
            return self._counts[what]

    def counts(self) -> dict[str, int]:
        with self._lock:
            return dict(sorted(self._counts.items()))
