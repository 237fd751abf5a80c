"""Django's SQLite, with a queue for those who want to write.

SQLite lets one connection write at a time, and who waits for it looks again every tenth of a
second. Of twenty threads that look so, some have bad luck for longer than the timeout, and are told
that the database is locked. Here they queue, so that only the first of each process looks.
"""

from collections import defaultdict
from threading import Lock
from typing import Any

from django.db.backends.sqlite3 import base

from sharc_studio.sqlite.turns import Turns

_turns: defaultdict[str, Turns] = defaultdict(Turns)
_lock = Lock()


def _turns_of(name: str) -> Turns:
    with _lock:
        return _turns[name]


class DatabaseWrapper(base.DatabaseWrapper):
    """A transaction is somebody's turn, from its begin to its end."""

    _turn: Turns | None = None

    def _start_transaction_under_autocommit(self) -> None:
        self._wait_for_turn()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._hand_on()
            raise

    def _commit(self) -> Any:
        # Not in a `finally`: a commit that fails leaves the transaction open, to be rolled back.
        done = super()._commit()  # type: ignore[misc]
        self._hand_on()
        return done

    def _rollback(self) -> Any:
        try:
            return super()._rollback()  # type: ignore[misc]
        finally:
            self._hand_on()

    def _close(self) -> Any:
        try:
            return super()._close()  # type: ignore[misc]
        finally:
            self._hand_on()

    def _wait_for_turn(self) -> None:
        if self._turn is not None:
            return
        turns = _turns_of(str(self.settings_dict["NAME"]))
        if turns.wait(self.settings_dict["OPTIONS"].get("timeout", 5)):
            self._turn = turns
        # Else SQLite decides: it waits as long again, and then says that it is locked.

    def _hand_on(self) -> None:
        if self._turn is not None:
            self._turn.hand_on()
            self._turn = None
