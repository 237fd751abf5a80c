"""How long a worker waits after a path: the submit, and the page of the next piece of work.

Fills a temporary database (of the kind that DATABASE_URL names) with 5,000 trees and 55,000 nodes,
one tree in nine with an open branch. Usage: python benchmarks/submit_and_next.py [trees [submits]]
"""

import logging
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.pages import fill  # noqa: I001 - it sets Django up

from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import (
    CaptureQueriesContext,
    setup_test_environment,
    teardown_test_environment,
)
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Membership, Project, Role
from apps.trees.domain.tree import Answer
from apps.trees.models import Node, Tree
from apps.trees.services.walks import Walk, agree, give_final_answer
from apps.workers.addresses import page_of_work
from apps.workers.models import Assignment
from apps.workers.services.next_work import take_work

WORKERS = 20


def walk(lease: Assignment) -> None:
    now = timezone.now()
    if Walk(lease).needs_check:
        agree(lease, now=now)
    give_final_answer(lease, position=0, answer=Answer.NO, now=now)


def submit_and_next(client: Client, lease: Assignment) -> None:
    answer = client.post(page_of_work(lease), {"key": f"key {lease.pk}", "seconds": "5"})
    if answer.status_code != 302 or client.get(answer["Location"]).status_code != 200:
        raise SystemExit(f"submit of {lease} answered {answer.status_code}")


def report(write: Callable[[str], object], count: int, submits: int) -> None:
    project: Project = fill(count)
    Project.objects.update(active_trees=10_000, scenarios_per_finished_tree=0)
    project.refresh_from_db()
    clients = []
    for number in range(WORKERS):
        worker = User.objects.create_user(f"worker{number}")
        Membership.objects.create(project=project, user=worker, role=Role.WORKER)
        clients.append((worker, Client()))
        clients[-1][1].force_login(worker)
    if connection.vendor == "postgresql":
        connection.cursor().execute("VACUUM ANALYZE")
    times, own, queries = [], [], set()
    for number in range(submits):
        worker, client = clients[number % WORKERS]
        lease = take_work(project, worker=worker, now=timezone.now())
        if lease is None:
            raise SystemExit(f"no work is left after {number} submits")
        walk(lease)
        with CaptureQueriesContext(connection) as caught:
            start, own_start = time.perf_counter(), time.process_time()
            submit_and_next(client, lease)
            times.append((time.perf_counter() - start) * 1000)
            own.append((time.process_time() - own_start) * 1000)
        queries.add(len(caught))
    growing = Tree.objects.growing().count()
    write(f"{connection.vendor}: {Tree.objects.count():,} trees, {growing:,} of them growing, ")
    write(f"{Node.objects.count():,} nodes; {submits} submits with the next page\n")
    p95, own95 = statistics.quantiles(times, n=20)[-1], statistics.quantiles(own, n=20)[-1]
    write(f"p50 {statistics.median(times):.0f} ms, p95 {p95:.0f} ms; CPU of this process: ")
    write(f"p50 {statistics.median(own):.0f} ms, p95 {own95:.0f} ms; ")
    write(f"{min(queries)} to {max(queries)} queries\n")


def main() -> None:
    count, submits = [*map(int, sys.argv[1:3]), *(5000, 200)[len(sys.argv) - 1 :]]
    logging.disable(logging.CRITICAL)
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    setup_test_environment(debug=False)
    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        report(sys.stdout.write, count, submits)
    finally:
        connection.creation.destroy_test_db(str(name), verbosity=0)
        teardown_test_environment()


if __name__ == "__main__":
    main()
