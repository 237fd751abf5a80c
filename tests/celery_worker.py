"""A real Celery worker on the test database, as a process of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

from sharc_studio.celery import app

READY = "ready."


def database_url() -> str:
    """The test database that this process is connected to, as DATABASE_URL would name it."""
    config = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{config['NAME']}"
    login = config["USER"] + (f":{config['PASSWORD']}" if config["PASSWORD"] else "")
    return f"postgres://{login}@{config['HOST']}:{config['PORT'] or 5432}/{config['NAME']}"


def empty_queue() -> None:
    """Forgets the messages of earlier tests: a worker would go through them first, one a second
    where the queue is a folder."""
    if queue := app.conf.broker_transport_options.get("data_folder_in"):
        for message in Path(queue).glob("*.msg"):
            message.unlink(missing_ok=True)
    else:
        app.control.purge()


def start_worker(log: Path, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    """Starts a worker on this process's database and queue, and returns once it takes work."""
    queue = app.conf.broker_transport_options.get("data_folder_in", "")
    env = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "CELERY_BROKER_URL": settings.CELERY_BROKER_URL,
        **({"CELERY_QUEUE_DIR": queue} if queue else {}),
        "LOG_LEVEL": "INFO",
        "LOG_FORMAT": "console",
        **environment,
    }
    command = [sys.executable, "-m", "celery", "-A", "sharc_studio", "worker", "--pool=threads",
               "--concurrency=1", "--loglevel=INFO", f"--queues={app.conf.task_default_queue}",
               *arguments]  # fmt: skip
    with log.open("wb") as output:
        worker = subprocess.Popen(command, env=env, stdout=output, stderr=output)
    _wait_until_ready(worker, log)
    return worker


def _wait_until_ready(worker: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while READY not in log.read_text(errors="replace"):
        if worker.poll() is not None or time.monotonic() > deadline:
            worker.kill()
            raise AssertionError(f"the worker did not start:\n{log.read_text(errors='replace')}")
        time.sleep(0.1)


@contextmanager
def running_worker(log: Path, *arguments: str, **environment: Any) -> Iterator[None]:
    worker = start_worker(log, *arguments, **environment)
    try:
        yield
    finally:
        worker.kill()
        worker.wait()
