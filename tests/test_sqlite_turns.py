"""Who wants to write on SQLite queues, first come, first served."""

import threading
import time

import pytest
from django.db import connection, transaction
from django.db.utils import OperationalError

from apps.projects.models import Project
from sharc_studio.sqlite.turns import Turns
from tests.factories import make_project

PAUSE = 0.05


def test_the_first_who_waits_comes_next():
    turns, order = Turns(), list[int]()
    assert turns.wait(0)

    def wait(number: int) -> None:
        assert turns.wait(10)
        order.append(number)
        turns.hand_on()

    threads = [threading.Thread(target=wait, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
        time.sleep(PAUSE)
    turns.hand_on()
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3, 4]
    assert turns.wait(0)


def test_who_has_waited_too_long_goes_and_is_not_called():
    turns = Turns()
    assert turns.wait(0)
    assert not turns.wait(0.01)
    turns.hand_on()
    assert turns.wait(0)
    turns.hand_on()


@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_ends_in_any_way_is_the_end_of_a_turn():
    if connection.vendor != "sqlite":
        pytest.skip("about SQLite")
    project = make_project()
    with transaction.atomic():
        project.save()
        transaction.set_rollback(True)
    with pytest.raises(OperationalError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("nonsense")
    with transaction.atomic():
        connection.close()
    changed: list[bool] = []

    def change() -> None:
        with transaction.atomic():
            changed.append(bool(Project.objects.update(name="Another")))
        connection.close()

    thread = threading.Thread(target=change)
    thread.start()
    thread.join(10)
    assert changed == [True]


@pytest.mark.django_db(transaction=True)
def test_nobody_who_writes_now_and_then_waits_for_those_who_never_pause():
    if connection.vendor != "sqlite":
        pytest.skip("about SQLite")
    project, stop, waited = make_project(), threading.Event(), list[float]()

    def write() -> None:
        with transaction.atomic():
            Project.objects.select_for_update().get(pk=project.pk).save()
            time.sleep(0.005)

    def never_pause() -> None:
        while not stop.is_set():
            write()
        connection.close()

    threads = [threading.Thread(target=never_pause) for _ in range(10)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        begin = time.monotonic()
        write()
        waited.append(time.monotonic() - begin)
    stop.set()
    for thread in threads:
        thread.join()
    # Ten are before it, each with a few milliseconds; and this machine has other work.
    assert sorted(waited)[5] < 2
