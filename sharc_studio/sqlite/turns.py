"""Whose turn it is to write, first come, first served, among the threads of one process."""

from collections import deque
from threading import Lock


class Turns:
    """A queue. Each thread waits for its turn, and hands it on to the one who came next."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._taken = False
        self._waiting: deque[Lock] = deque()

    def wait(self, seconds: float) -> bool:
        """Until it is this thread's turn; False: so much time has passed, and it is not."""
        with self._lock:
            if not self._taken:
                self._taken = True
                return True
            called = Lock()
            called.acquire()
            self._waiting.append(called)
        if called.acquire(timeout=seconds):
            return True
        with self._lock:
            if called in self._waiting:
                self._waiting.remove(called)
                return False
        return True  # called at the last moment

    def hand_on(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False
