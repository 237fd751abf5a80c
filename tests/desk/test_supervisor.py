"""One process tree: it starts together, and nothing of it outlives the rest."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from apps.desk.management.commands.run_studio import _programs
from apps.desk.supervisor import Program, ProgramEndedError, run_together
from sharc_studio.environment import BASE_DIR

pytestmark = pytest.mark.once

# Writes its own pid and its child's, then sleeps; the child is what a program leaves behind.
SLEEPER = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(sys.argv[1], "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
time.sleep(600)
"""
SUPERVISOR = """
import json, sys
from apps.desk.supervisor import Program, ProgramEndedError, run_together
programs = [Program(name, tuple(command)) for name, command in json.loads(sys.argv[1])]
try:
    run_together(programs, environment={}, go_on=lambda: True)
except ProgramEndedError as error:
    sys.exit(str(error))
"""


def test_the_clock_is_a_program_of_its_own_whose_end_is_noticed():
    commands = {program.name: program.command for program in _programs(("127.0.0.1", 8000))}
    assert list(commands) == ["web server", "worker", "clock"]
    assert "beat" in commands["clock"]
    assert not {"beat", "--beat", "-B"} & {*commands["worker"]}


def sleeper(pids: Path) -> list[str]:
    return [sys.executable, "-c", SLEEPER, str(pids)]


def supervise(*programs: tuple[str, list[str]]) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SUPERVISOR, json.dumps(programs)]
    return subprocess.Popen(command, cwd=BASE_DIR, stderr=subprocess.PIPE, text=True)


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def pids_in(file: Path) -> list[int]:
    wait_until(lambda: file.exists() and " " in file.read_text())
    return [int(pid) for pid in file.read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rsplit(") ", 1)[1][0] != "Z"  # ended, and only not waited for


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_all_of_it_without_an_error(tmp_path, number):
    supervisor = supervise(("web", sleeper(tmp_path / "a")), ("worker", sleeper(tmp_path / "b")))
    pids = pids_in(tmp_path / "a") + pids_in(tmp_path / "b")
    supervisor.send_signal(number)
    assert supervisor.communicate(timeout=20)[1] == ""
    assert supervisor.returncode == 0
    assert [pid for pid in pids if is_alive(pid)] == []


def test_a_program_that_ends_by_itself_ends_all_and_is_named(tmp_path):
    supervisor = supervise(
        ("web server", sleeper(tmp_path / "a")), ("worker", [sys.executable, "-c", "exit(3)"])
    )
    assert supervisor.communicate(timeout=20)[1] == (
        "The worker ended with exit code 3, and the studio with it.\n"
    )
    assert supervisor.returncode == 1
    assert [pid for pid in started(tmp_path / "a") if is_alive(pid)] == []


def test_a_program_that_is_killed_leaves_nothing_behind(tmp_path):
    supervisor = supervise(("worker", sleeper(tmp_path / "a")))
    program, child = pids_in(tmp_path / "a")
    os.kill(program, signal.SIGKILL)
    assert supervisor.communicate(timeout=20)[1] == (
        "The worker ended with signal SIGKILL, and the studio with it.\n"
    )
    assert not is_alive(child)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of it")
def test_programs_end_though_the_supervisor_is_killed(tmp_path):
    supervisor = supervise(("web", sleeper(tmp_path / "a")))
    program, child = pids_in(tmp_path / "a")
    supervisor.kill()
    supervisor.wait()
    wait_until(lambda: not is_alive(program))
    os.kill(child, signal.SIGKILL)  # gunicorn's and Celery's own end with them; a sleeper's not
    supervisor.communicate()


def test_it_ends_when_it_is_told_not_to_go_on(tmp_path):
    handlers = {number: signal.getsignal(number) for number in (2, 15, 1)}
    answers = iter([True, True, False])
    program = Program("worker", tuple(sleeper(tmp_path / "a")))
    try:
        run_together([program], environment=os.environ, go_on=lambda: next(answers))
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert list(answers) == []


def test_a_program_that_cannot_be_started_ends_those_that_were(tmp_path):
    supervisor = supervise(("web", sleeper(tmp_path / "a")), ("worker", ["/no/such/program"]))
    error = supervisor.communicate(timeout=20)[1]
    assert error.strip().endswith("No such file or directory: '/no/such/program'")
    assert [pid for pid in started(tmp_path / "a") if is_alive(pid)] == []


def started(file: Path) -> list[int]:
    """None, where all was over before the program could write who it is."""
    return [int(pid) for pid in file.read_text().split()] if file.exists() else []


def test_the_message_names_program_and_exit():
    assert str(ProgramEndedError(Program("worker", ()), -15)) == (
        "The worker ended with signal SIGTERM, and the studio with it."
    )
