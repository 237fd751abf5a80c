"""One piece of work as a scripted person does it, nuisances included."""

from collections.abc import Callable

from apps.trees.simulation.hands import Hands, RefusedError, Tally
from apps.trees.simulation.script import Ended, Script, Seen


class _GoneError(Exception):
    """The person went away in the middle."""


class Person:
    def __init__(self, hands: Hands, script: Script, tally: Tally) -> None:
        self.hands = hands
        self.script = script
        self.tally = tally

    def work(self) -> bool:
        """Takes one piece of work, and does it; False: there was none."""
        rates, script = self.script.rates, self.script
        if script.happens(rates.double):
            self.hands.click_twice()
        try:
            seen = self.hands.take()
            if seen is None:
                return False
            self._do(seen)
        except RefusedError as refusal:
            self.tally.add(f"refused: {refusal.code}")
        except _GoneError:
            self.tally.add("crashed")
            if not script.comes_back():
                self.hands.let_time_run_out()
        return True

    def _do(self, seen: Seen) -> None:
        rates, script = self.script.rates, self.script
        if script.happens(rates.returns / 2):
            self._give_back()
        elif seen.other_work:
            self._go_away()
            self._end_with(seen.other_work(script))
        elif seen.is_check:
            self.tally.add("voted")
            self._end_with(self._vote)
        elif seen.needs_check and seen.others and script.happens(rates.rejections):
            turn, reason = script.turn_to_reject(seen), script.rejection_reason()
            self.tally.add("rejected")
            self._end_with(lambda: self.hands.reject(turn, reason))
        else:
            self._walk(seen)

    def _vote(self) -> Ended:
        return self.hands.vote(None if self.script.keeps() else self.script.rejection_reason())

    def _walk(self, seen: Seen) -> None:
        if seen.needs_check:
            seen = self.hands.agree()
        while not seen.has_final_answer:
            self._go_away()
            seen = self._turn(seen)
        if self.script.happens(self.script.rates.returns / 2):
            self._give_back()
        else:
            self._end_with(self.hands.submit)

    def _turn(self, seen: Seen) -> Seen:
        if seen.position and self.script.takes_back():
            self.tally.add("taken back")
            return self.hands.take_back(seen)
        if seen.may_ask and self.script.wants_to_ask():
            self.tally.add("asked")
            return self.hands.ask(self.script.question(seen.rule_text))
        return self.hands.answer(seen, self.script.answer())

    def _go_away(self) -> None:
        # A walk has about three moments to go away at.
        if self.script.happens(self.script.rates.crashes / 3):
            raise _GoneError

    def _give_back(self) -> None:
        if self.hands.give_back(self.script.return_reason()):
            self.tally.add("returned")

    def _end_with(self, end: Callable[[], Ended]) -> None:
        if self.script.happens(self.script.rates.slow):
            self.tally.add("slow")
            self.hands.let_time_run_out()
        if self.script.happens(self.script.rates.double):
            self.tally.add("clicked twice")
            self.hands.click_twice()
        ended = end()
        if ended == Ended.AGAIN:
            self.tally.add("taken again")
            ended = end()
        self.tally.add(ended.value)
