"""`make run`: the web server and a Celery worker and its clock, as one process tree."""

import os
import socket
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from apps.desk.demo.content import demo
from apps.desk.demo.loader import load_demo
from apps.desk.demo.logins import DemoLogin, demo_logins
from apps.desk.supervisor import Program, ProgramEndedError, run_together
from apps.projects.commands import StudioCommand
from apps.projects.errors import StudioError

HOST = "127.0.0.1"


class Command(StudioCommand):
    help = "Starts web server and background worker here, and prints the address and the log-ins."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", default="8000", help="Port on 127.0.0.1. Default: 8000.")
        parser.add_argument(
            "--while-alive", type=int, metavar="PID",
            help="End as soon as this process is no longer the parent of this one.",
        )  # fmt: skip

    def handle(self, *, port: str, while_alive: int | None, **options: Any) -> None:
        address = _free_address(port)
        self._load_demo_once()
        announcement = _Announcement(self, address)
        has_terminal = sys.stdin.isatty()

        def go_on() -> bool:
            announcement.make_once_reachable()
            # A closed terminal tells its first process only, which may be make, or may be gone.
            is_cut_off = has_terminal and not sys.stdin.isatty()
            return not is_cut_off and while_alive in (None, os.getppid())

        # Logs are for people here, unless the environment or .env says otherwise.
        environment = {"LOG_FORMAT": "console", **os.environ}
        try:
            run_together(_programs(address), environment=environment, go_on=go_on)
        except ProgramEndedError as error:
            raise CommandError(str(error)) from error

    def _load_demo_once(self) -> None:
        try:
            load_demo(now=timezone.now())
        except StudioError as error:
            # Somebody's own project comes first: the studio runs without a demo.
            self.stderr.write(str(error))


class _Announcement:
    """Address and log-ins, written once the web server answers."""

    def __init__(self, command: Command, address: tuple[str, int]) -> None:
        self.command, self.address, self.made = command, address, False

    def make_once_reachable(self) -> None:
        if self.made or not _is_reachable(self.address):
            return
        self.made = True
        host, port = self.address
        lines = [f"The studio runs at http://{host}:{port}/", *_log_ins(), "Ctrl-C ends it."]
        self.command.stdout.write("\n".join(["", *lines, ""]))
        self.command.stdout.flush()


def _log_ins() -> list[str]:
    logins = demo_logins(demo()["project"]["slug"])
    if not logins:
        return []
    return ["Log in to the demo with:", *(_line(login) for login in logins)]


def _line(login: DemoLogin) -> str:
    password = login.password or "(has changed the password)"
    return f"  {login.username:<10}{password:<18}{login.role}"


def _free_address(port: str) -> tuple[str, int]:
    """The address to serve on. Refused before anything starts when it cannot be had."""
    if not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise CommandError(f"PORT must be a number from 1 to 65535; it is {port!r}.")
    address = HOST, int(port)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            raise CommandError(
                f"Port {port} on {HOST} cannot be used: {error.strerror}. "
                "Choose another, such as: make run PORT=8001"
            ) from error
    return address


def _is_reachable(address: tuple[str, int]) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex(address) == 0


def _programs(address: tuple[str, int]) -> list[Program]:
    host, port = address
    python = str(Path(sys.executable))
    # Celery warns of this at length; inside a container root is the usual user.
    hush = "-Wignore:You're running the worker with superuser:Warning"
    web = (
        python, "-m", "gunicorn", "sharc_studio.wsgi", f"--bind={host}:{port}",
        "--worker-class=gthread", "--workers=2", "--threads=4", "--graceful-timeout=5",
        "--log-level=warning", "--no-control-socket",
    )  # fmt: skip
    # Threads: one process fewer to look after, and a job mostly waits for the database.
    celery = (python, hush, "-m", "celery", "--quiet", "-A", "sharc_studio")
    worker = (
        *celery, "worker", "--pool=threads", "--concurrency=2", "--loglevel=WARNING",
        "--without-gossip", "--without-mingle",
    )  # fmt: skip
    # Inside the worker it would be a child that can die without anybody's notice. The supervisor
    # ends whatever is left, so that a file with its number would only stand in the way.
    clock = (*celery, "beat", "--pidfile=", "--loglevel=WARNING")
    return [Program("web server", web), Program("worker", worker), Program("clock", clock)]
