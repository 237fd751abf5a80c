"""Key presses and seconds per follow-up question of a fast worker, in a browser on a live server.

Fills a temporary database (of the kind that DATABASE_URL names) with 5,000 trees, as
submit_and_next.py does. The worker types at a set speed and never pauses: they agree with what is
so far, ask two questions on each path, and give the final answer. Two paths go first and are not
counted. Usage: python -m benchmarks.fast_worker [trees [paths [characters per second]]]
"""

import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from benchmarks._filling import fill
from benchmarks._studio import arguments, settle, temporary_database

# isort: split
from django.conf import settings
from django.db import connection
from django.test import Client
from playwright.sync_api import Browser, Page, sync_playwright

from apps.accounts.models import User
from apps.projects.models import Membership, Project, Role
from apps.trees.models import Node
from tests.browsing import NAMES, SWITCHES
from tests.celery_worker import database_url

WARM_UP = 2
QUESTIONS = 2  # of each path
READY = """number => document.querySelectorAll(".said.is-own").length === number
  && document.activeElement.id === "id_text" && document.activeElement.value === ''"""
ENDED = "() => document.querySelector('#path').dataset.phase === 'end'"


class Hands:
    """Types and presses keys, and keeps how often, and how long that took."""

    def __init__(self, page: Page, speed: float) -> None:
        self.page, self.delay = page, 1000 / speed
        self.presses = self.characters = 0
        self.typing = 0.0

    def type(self, text: str) -> None:
        start = time.perf_counter()
        self.page.keyboard.type(text, delay=self.delay)
        self.typing += time.perf_counter() - start
        self.characters += len(text)

    def press(self, key: str) -> None:
        """With Ctrl or without, one; the hand takes as long as for a letter."""
        time.sleep(self.delay / 1000)
        self.page.keyboard.press(key)
        self.typing += self.delay / 1000
        self.presses += 1

    def wait(self, script: str, argument: object = None) -> None:
        self.page.wait_for_function(script, arg=argument, polling=5)


def walk(hands: Hands, number: int) -> tuple[list[float], float]:
    """One path: the seconds of waiting from each Enter until the next question can be typed, and
    those from the last one until the next path is there."""
    waits = []
    if hands.page.query_selector("#path[data-phase=check]"):
        hands.press("y")
        hands.wait(READY, 0)
    for turn in range(QUESTIONS):
        hands.type(f"Do you have the paper of kind {number} in copy {turn}?")
        start, hands_before = time.perf_counter(), hands.typing
        hands.press("Enter")
        hands.wait(READY, turn + 1)
        waits.append(time.perf_counter() - start - (hands.typing - hands_before))
    start, hands_before, before = time.perf_counter(), hands.typing, hands.page.url
    hands.press("Escape")
    hands.press("n")
    hands.wait(ENDED)
    hands.press("Control+Enter")
    hands.page.wait_for_url(lambda url: url != before and url.endswith("/path/"))
    return waits, time.perf_counter() - start - (hands.typing - hands_before)


def session_of_a_new_worker(project: Project) -> str:
    worker = User.objects.create_user("fast")
    Membership.objects.create(project=project, user=worker, role=Role.WORKER)
    client = Client()
    client.force_login(worker)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def open_path(browser: Browser, site: str, home: str, session: str) -> Page:
    context = browser.new_context(base_url=site)
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": site}])
    page = context.new_page()
    page.goto(home)
    page.keyboard.press("w")
    page.wait_for_url("**/path/")
    return page


def report(
    write: Callable[[str], object], site: str, project: Project, paths: int, speed: float
) -> None:
    session, home = session_of_a_new_worker(project), project.get_absolute_url()
    # In here Django would open another connection, and nobody would close it.
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=SWITCHES)
        page = open_path(browser, site, home, session)
        for number in range(WARM_UP):
            walk(Hands(page, speed), number)
        hands, start = Hands(page, speed), time.perf_counter()
        walks = [walk(hands, number + WARM_UP) for number in range(paths)]
        seconds = time.perf_counter() - start
        browser.close()
    asked = paths * QUESTIONS
    waits, ends = [one for turns, _ in walks for one in turns], [end for _, end in walks]
    write(f"{connection.vendor}: {Node.objects.count():,} nodes; {paths} paths with {asked} ")
    write(f"follow-up questions, typed at {speed:.0f} characters per second\n")
    write(f"key presses beyond typing: {hands.presses / asked:.1f} per question: 1 to ask, and ")
    write(f"{hands.presses / paths - QUESTIONS:.1f} for the rest of each path\n")
    write(f"seconds besides the keys: {(seconds - hands.typing) / asked:.2f} per question; from ")
    write(f"Enter to the next question {in_words(waits)}, from there to the next path ")
    write(f"{in_words(ends)}\nseconds in all: {seconds / asked:.1f} per question of ")
    write(f"{hands.characters / asked:.0f} characters\n")


def in_words(times: list[float]) -> str:
    p95 = statistics.quantiles(times, n=20)[-1]
    return f"{statistics.median(times):.2f} (p95 {p95:.2f})"


def chromium() -> str | None:
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def server() -> Iterator[str]:
    """The studio as `make run` serves it, on the temporary database."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "gunicorn", "sharc_studio.wsgi", f"--bind=127.0.0.1:{port}",
        "--worker-class=gthread", "--workers=2", "--threads=4", "--no-control-socket",
    ]  # fmt: skip
    env = {**os.environ, "DATABASE_URL": database_url(), "DEBUG": "true"}
    running = subprocess.Popen(  # noqa: S603
        command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait()


def wait_for(port: int) -> None:
    last = time.monotonic() + 60
    while time.monotonic() < last:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the web server does not answer")


def main() -> None:
    trees, paths, speed = arguments(5000, 20, 10)
    if chromium() is None:
        raise SystemExit("Chromium is not here; install it, or say where it is in CHROMIUM")
    with temporary_database():
        project = fill(trees)
        Project.objects.update(active_trees=10_000, scenarios_per_finished_tree=0)
        settle()
        with server() as site:
            report(sys.stdout.write, site, project, paths, speed)


if __name__ == "__main__":
    main()
