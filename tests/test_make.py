"""`make run`, as a newcomer runs it: in a folder of its own, with real processes."""

import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest

from sharc_studio.environment import BASE_DIR

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not (BASE_DIR / ".venv/.installed").exists(), reason="made without make"),
]

UP = "Ctrl-C ends it."


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A copy of the files that are in version control, with the environment that is here."""
    folder: Path = tmp_path_factory.mktemp("clone")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=BASE_DIR, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (BASE_DIR / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(BASE_DIR / name, folder / name)
    (folder / ".venv").symlink_to(BASE_DIR / ".venv")
    return folder


@pytest.fixture(scope="module")
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free: int = probe.getsockname()[1]
        return free


def clean_environment() -> dict[str, str]:
    """Without what the suite itself was started with: make's own variables, other databases."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}


class Run:
    """`make run` at a terminal."""

    def __init__(self, folder: Path, port: int) -> None:
        self.output, self.folder = "", folder
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe("make", ["make", "run", f"PORT={port}"], clean_environment())  # noqa: S606

    def read_until(self, is_so: Callable[[], bool], *, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < deadline, self.output
            assert "make: ***" not in self.output, self.output
            self._read()

    def _read(self) -> None:
        if select.select([self.terminal], [], [], 0.1)[0]:
            try:
                self.output += os.read(self.terminal, 65536).decode(errors="replace")
            except OSError:  # the last process at the terminal has ended
                time.sleep(0.1)

    def is_up(self) -> bool:
        return UP in self.output

    def processes(self) -> list[str]:
        """The command lines of all that runs in the folder, make left out."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if (entry / "cwd").readlink() == self.folder:
                    found.append((entry / "cmdline").read_text().replace("\0", " "))
            except OSError:  # it has ended meanwhile
                continue
        return [command for command in found if command and not command.startswith("make ")]


def test_it_serves_the_demo_ends_with_ctrl_c_and_starts_again_at_once(folder, port):
    first = Run(folder, port)
    first.read_until(first.is_up)
    assert f"The studio runs at http://127.0.0.1:{port}/" in first.output
    logins = re.findall(r"^  (\w+) +([a-z0-9-]{14}) +(\w+)\s*$", first.output, flags=re.MULTILINE)
    assert {role for _, _, role in logins} == {"admin", "expert", "worker"}
    with urlopen(f"http://127.0.0.1:{port}/") as answer:
        assert (answer.status, answer.url.endswith("/accounts/log-in/?next=/")) == (200, True)
    refused = subprocess.run(
        ["make", "run", f"PORT={port}"], cwd=folder, env=clean_environment(), capture_output=True,
        text=True,
    )  # fmt: skip
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[0] == (
        f"CommandError: Port {port} on 127.0.0.1 cannot be used: Address already in use. "
        "Choose another, such as: make run PORT=8001"
    )
    os.write(first.terminal, b"\x03")
    first.read_until(lambda: not first.processes(), seconds=30)
    os.waitpid(first.pid, 0)
    assert "Traceback" not in first.output

    again = Run(folder, port)
    again.read_until(again.is_up, seconds=60)
    assert "Installing" not in again.output
    assert re.findall(r"^  (\w+) +([a-z0-9-]{14}) +(\w+)\s*$", again.output, flags=re.M) == logins
    os.kill(again.pid, signal.SIGTERM)
    again.read_until(lambda: not again.processes(), seconds=30)
    os.waitpid(again.pid, 0)


@pytest.mark.parametrize("end", ["close the terminal", "kill make", "kill the supervisor"])
def test_nothing_is_left_however_it_ends(folder, port, end):
    run = Run(folder, port)
    run.read_until(run.is_up)
    assert len(run.processes()) >= 4
    if end == "close the terminal":
        os.close(run.terminal)
    elif end == "kill make":
        os.kill(run.pid, signal.SIGKILL)
    else:
        subprocess.run(["pkill", "-KILL", "-P", str(run.pid)], check=True)
    deadline = time.monotonic() + 30
    while run.processes():
        assert time.monotonic() < deadline, run.processes()
        time.sleep(0.2)
    os.waitpid(run.pid, 0)


def set_up(folder: Path) -> str:
    """Runs `make setup`, and reads the secret that is there afterwards."""
    subprocess.run(["make", "setup"], cwd=folder, env=clean_environment(), check=True)
    return (folder / ".env").read_text()


def test_setup_keeps_its_secret_to_its_owner_and_for_good(folder):
    before = set_up(folder)
    assert re.fullmatch(r"SECRET_KEY=[\w-]{50,}\n", before)
    assert (folder / ".env").stat().st_mode & 0o777 == 0o600
    assert set_up(folder) == before
