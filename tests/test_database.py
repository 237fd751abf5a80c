"""Case 17: the database under several writers; nobody is told that it is locked."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection, transaction

from apps.projects.models import Project
from tests.factories import make_project

WRITERS, WRITES = 20, 10


@pytest.mark.django_db
def test_sqlite_writes_ahead_and_waits_for_the_lock():
    if connection.vendor != "sqlite":
        pytest.skip("about SQLite")
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode")
        assert cursor.fetchone() == ("wal",)
        cursor.execute("PRAGMA busy_timeout")
        assert cursor.fetchone() == (30_000,)
    assert connection.settings_dict["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


def in_threads(count: int, work: Callable[[], None]) -> list[BaseException]:
    """The errors of `count` threads that do the work at once."""
    errors: list[BaseException] = []
    start = threading.Barrier(count)

    def run() -> None:
        start.wait()
        try:
            work()
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


@pytest.mark.django_db(transaction=True)
def test_twenty_writers_at_once_all_get_their_turn():
    project = make_project(active_trees=1)

    def write() -> None:
        for _ in range(WRITES):
            with transaction.atomic():
                # Reads first, then writes: with a deferred transaction this is what gets locked.
                row = Project.objects.select_for_update().get(pk=project.pk)
                row.active_trees += 1
                row.save(update_fields=["active_trees"])

    assert in_threads(WRITERS, write) == []
    project.refresh_from_db()
    assert project.active_trees == 1 + WRITERS * WRITES
