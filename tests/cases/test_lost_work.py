"""Work that must not get lost: a server that is killed, and the documented backup."""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Timer
from urllib.parse import urlencode

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.test import Client

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.trees.models import Node, PathStep, Tree
from apps.workers.models import Assignment
from sharc_studio.environment import BASE_DIR
from tests.celery_worker import database_url
from tests.factories import make_member, make_project
from tests.trees.path_work import growing_tree, path_address, take

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = 120
TOKEN = "t" * 32
TEXTS = [f"Do you have helmet number {number}?" for number in range(6)]


# A server that is killed --------------------------------------------------------------------------


class Server:
    """The web server in a process group of its own, which can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.log = (folder / "server.log").open("wb")
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "gunicorn", "sharc_studio.wsgi",
                   f"--bind=127.0.0.1:{self.port}", "--worker-class=gthread", "--workers=1",
                   "--threads=4", "--no-control-socket"]  # fmt: skip
        environment = {**os.environ, "DATABASE_URL": database_url(), "DEBUG": "true"}
        self.process = subprocess.Popen(
            command, cwd=BASE_DIR, env=environment, stdout=self.log, stderr=self.log,
            start_new_session=True,
        )  # fmt: skip

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def restart(self) -> None:
        self.kill()
        self.start()

    def post(self, address: str, session: str, **data: str) -> int:
        """The status of the answer, however often the request has to be sent until one comes."""
        cookies = f"{settings.SESSION_COOKIE_NAME}={session}; csrftoken={TOKEN}"
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookies}
        body = urlencode({**data, "csrfmiddlewaretoken": TOKEN})
        deadline = time.monotonic() + PATIENCE
        while True:
            browser = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
            try:
                browser.request("POST", address, body, headers)
                return int(browser.getresponse().status)
            except (OSError, HTTPException):
                assert time.monotonic() < deadline, "the server does not come back"
                time.sleep(0.05)
            finally:
                browser.close()


@pytest.fixture
def server(tmp_path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.kill()
    server.log.close()


@pytest.fixture
def project() -> Project:
    return make_project("bikes")


def session_of(person: User) -> str:
    client = Client()
    client.force_login(person)
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)


def test_case_10_a_server_killed_in_the_middle_of_a_path_loses_and_repeats_nothing(server, project):
    tree = growing_tree(project)
    worker = make_member(project, Role.WORKER)
    work, session = take(project, worker), session_of(worker)

    def step(name="", **data):
        return server.post(path_address(work, name), session, **data)

    assert step("agree") == 302
    for position, text in enumerate(TEXTS):
        if position == 2:
            killing = Timer(0.02, server.restart)
            killing.start()
        assert step("ask", position=str(position), text=text) == 302
    killing.join()
    assert step("answer", position=str(len(TEXTS)), answer="No") == 302
    killing = Timer(0.02, server.restart)
    killing.start()
    assert [step(key="k"), step(key="k")] == [302, 302]
    killing.join()

    steps = PathStep.objects.exclude(text="").values_list("position", "text", "undone_at")
    assert list(steps) == [(position, text, None) for position, text in enumerate(TEXTS)]
    written = Node.objects.filter(tree=tree, created_by=worker).order_by("pk")
    assert [str(node) for node in written] == [*TEXTS, "No"]
    states = Assignment.objects.order_by("pk").values_list("state", flat=True)
    assert list(states) == ["submitted", "leased"]  # and on to the next piece of work


# The documented backup ----------------------------------------------------------------------------


README = (BASE_DIR / "README.md").read_text(encoding="utf-8")
PROGRAMS = {"sqlite": ("sqlite3",), "postgresql": ("pg_dump", "pg_restore")}


def documented(*beginnings: str) -> list[str]:
    """The commands of the paragraph on backups that begin so, as they stand there."""
    paragraph = re.search(r"^\*\*Backup\.\*\*.*?\n\n", README, flags=re.MULTILINE | re.DOTALL)
    assert paragraph is not None
    commands = [" ".join(text.split()) for text in re.findall(r"`([^`]+)`", paragraph[0])]
    return [one for one in commands if shlex.split(one)[0].rsplit("/")[-1] in beginnings]


def counts() -> dict[str, int]:
    return {model._meta.label: model._base_manager.count() for model in apps.get_models()}


def run(command: str, folder: Path) -> None:
    environment = {**os.environ, "DATABASE_URL": database_url()}
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, ""), command


def test_case_20_the_documented_backup_is_restored_and_counts_are_equal(project, tmp_path):
    for program in PROGRAMS[connection.vendor]:
        if shutil.which(program) is None and not os.environ.get("CI"):
            pytest.skip(f"{program} is not here, which the backup needs")
    var = tmp_path / "var"
    var.mkdir()
    (var / "files").mkdir()
    (var / "files" / "one.zip").write_bytes(b"PK")
    if connection.vendor == "sqlite":
        (var / "studio.sqlite3").symlink_to(connection.settings_dict["NAME"])
    growing_tree(project)
    take(project, make_member(project, Role.WORKER))
    backup, restore = documented(*PROGRAMS[connection.vendor])
    before = counts()

    run(backup, tmp_path)
    shutil.copytree(var / "files", tmp_path / "copy")
    Assignment.objects.all().delete()
    Tree.objects.all().delete()
    growing_tree(make_project())
    shutil.rmtree(var / "files")
    assert counts() != before

    connection.close()
    run(restore, tmp_path)
    shutil.copytree(tmp_path / "copy", var / "files")
    run(f"{sys.executable} {BASE_DIR / 'manage.py'} migrate --no-input", tmp_path)
    assert counts() == before
    assert (var / "files" / "one.zip").read_bytes() == b"PK"
    assert str(Node.objects.get()) == "Are you over 18?"
