"""The servers are killed in the middle of the work, and nothing is lost, repeated or stuck."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.conf import global_settings
from django.core.management import call_command
from django.db import connection

from apps.trees.models import Tree
from apps.trees.simulation.proof import faults
from apps.workers.models import Assignment
from tests.celery_worker import database_url, start_worker
from tests.trees.services.growing import make_questions

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]

TREES = 6
NUISANCES = ("--returns=0.05", "--rejections=0.1", "--slow=0.1", "--double=0.1", "--crashes=0.1")


class Web:
    """A web server with two processes."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "web.log"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def start(self) -> None:
        command = [
            sys.executable, "-m", "gunicorn", "sharc_studio.wsgi", f"--bind=127.0.0.1:{self.port}",
            "--worker-class=gthread", "--workers=2", "--threads=4", "--no-control-socket",
        ]  # fmt: skip
        env = {**os.environ, "DATABASE_URL": database_url(), "DEBUG": "true"}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, env=env, stdout=log, stderr=log, start_new_session=True
            )

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Worker:
    """A Celery worker with its clock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def start(self) -> None:
        schedule = self.folder / f"schedule-{time.monotonic()}"
        self.process = start_worker(
            self.folder / "worker.log", "--beat", f"--schedule={schedule}"
        )  # fmt: skip

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Studio:
    def __init__(self, folder: Path) -> None:
        self.web, self.worker = Web(folder), Worker(folder)
        self.both: list[Web | Worker] = [self.web, self.worker]
        self.address = f"http://127.0.0.1:{self.web.port}"


@pytest.fixture
def studio(tmp_path) -> Iterator[Studio]:
    studio = Studio(tmp_path)
    for server in studio.both:
        server.start()
    yield studio
    for server in studio.both:
        server.kill()


def wait_for_submits(number: int) -> None:
    while Assignment.objects.filter(state="submitted").count() < number:
        time.sleep(0.05)


def test_killed_servers_lose_and_repeat_nothing(studio, settings):
    """Case 10."""
    settings.PASSWORD_HASHERS = global_settings.PASSWORD_HASHERS  # those of the web server
    project = make_questions(TREES, max_depth=2, scenarios_per_finished_tree=0)
    killed = []

    def kill() -> None:
        for number, servers in ((2, [studio.web]), (4, [studio.worker]), (6, studio.both)):
            wait_for_submits(number)
            for server in servers:
                server.kill()
            for server in servers:
                server.start()
            killed.append(len(servers))
        connection.close()

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    out = StringIO()
    call_command(
        "simulate_workers", f"--project={project.slug}", "--workers=5", "--until-done", "--seed=2",
        f"--http={studio.address}", *NUISANCES, stdout=out, stderr=StringIO(),
    )  # fmt: skip
    killer.join(30)
    said = dict(line.rsplit(": ", 1) for line in out.getvalue().splitlines())
    assert killed == [1, 1, 2]
    assert said["trees finished"] == str(TREES)
    assert {tree.state for tree in Tree.objects.all()} == {"finished"}
    assert int(said["accepted"]) == Assignment.objects.filter(state="submitted").count()
    assert faults(project) == []
    assert not Assignment.objects.leased().exists()
