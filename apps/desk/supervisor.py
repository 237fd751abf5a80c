"""Programs that live and die together: what `make run` starts is one process tree.

Each program gets a process group of its own, so that Ctrl-C in a terminal reaches the supervisor
alone, and so that nothing a program started outlives it.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import FrameType

GRACE_SECONDS = 10.0
_POLL_SECONDS = 0.2
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Program:
    """A name for people, and the command to run."""

    name: str
    command: tuple[str, ...]


class ProgramEndedError(Exception):
    """A program ended by itself. `code` is its exit code; negative: the signal that ended it."""

    def __init__(self, program: Program, code: int) -> None:
        self.program, self.code = program, code
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        super().__init__(f"The {program.name} ended with {how}, and the studio with it.")


def run_together(
    programs: Iterable[Program], *, environment: Mapping[str, str], go_on: Callable[[], bool]
) -> None:
    """Runs the programs until a signal comes, or `go_on`, asked five times a second, says no.

    All of them have ended when it returns. Raises ProgramEndedError when one ends by itself.
    """
    received = _remember_signals()
    running: list[tuple[Program, subprocess.Popen[bytes]]] = []
    try:
        for program in programs:
            running.append((program, _start(program, environment)))
        while not received and go_on():
            _check(running)
            time.sleep(_POLL_SECONDS)
    finally:
        _end([process for _, process in running])


def _remember_signals() -> list[int]:
    """Interrupt, termination and a closed terminal are remembered, not acted upon at once."""
    received: list[int] = []

    def remember(number: int, _frame: FrameType | None) -> None:
        received.append(number)

    signal.signal(signal.SIGINT, remember)
    signal.signal(signal.SIGTERM, remember)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup: meant to go on
        signal.signal(signal.SIGHUP, remember)
    return received


def _start(program: Program, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603  (our own commands, never anybody's input)
        program.command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        process_group=0,
        preexec_fn=_die_with_parent() if sys.platform == "linux" else None,
    )


def _die_with_parent() -> Callable[[], None]:
    """What a child does first: ask the kernel for SIGTERM when the supervisor is gone, even -9."""
    prctl, supervisor = ctypes.CDLL(None).prctl, os.getpid()
    return partial(_ask_for_signal, prctl, supervisor)


def _ask_for_signal(prctl: Callable[[int, int], int], supervisor: int) -> None:
    prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != supervisor:  # it was killed before we could ask
        os._exit(1)


def _check(running: Iterable[tuple[Program, subprocess.Popen[bytes]]]) -> None:
    for program, process in running:
        if (code := process.poll()) is not None:
            raise ProgramEndedError(program, code)


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    """Asks all to end, waits for GRACE_SECONDS, then kills what is left of their groups."""
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + GRACE_SECONDS
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=max(0.0, deadline - time.monotonic()))
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
