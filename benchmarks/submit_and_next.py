"""How long a worker waits after a path: the submit, and the page of the next piece of work.

Fills a temporary database (of the kind that DATABASE_URL names) with 5,000 trees and 55,000 nodes,
one tree in nine with an open branch. Usage: python -m benchmarks.submit_and_next [trees [submits]]
"""

import sys
from collections.abc import Callable
from functools import partial

from benchmarks._filling import fill
from benchmarks._studio import Times, arguments, settle, temporary_database

# isort: split
from django.db import connection
from django.test import Client
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


def people(project: Project) -> list[tuple[User, Client]]:
    made = []
    for number in range(WORKERS):
        worker = User.objects.create_user(f"worker{number}")
        Membership.objects.create(project=project, user=worker, role=Role.WORKER)
        client = Client()
        client.force_login(worker)
        made.append((worker, client))
    return made


def report(write: Callable[[str], object], count: int, submits: int) -> None:
    project = fill(count)
    Project.objects.update(active_trees=10_000, scenarios_per_finished_tree=0)
    project.refresh_from_db()
    workers = people(project)
    settle()
    times = Times()
    for number in range(submits):
        worker, client = workers[number % WORKERS]
        lease = take_work(project, worker=worker, now=timezone.now())
        if lease is None:
            raise SystemExit(f"no work is left after {number} submits")
        walk(lease)
        times.of(partial(submit_and_next, client, lease))
    growing = Tree.objects.growing().count()
    write(f"{connection.vendor}: {Tree.objects.count():,} trees, {growing:,} of them growing, ")
    write(f"{Node.objects.count():,} nodes\n")
    write(times.table(f"submit and next page, {submits} times"))


if __name__ == "__main__":
    with temporary_database():
        report(sys.stdout.write, *arguments(5000, 200))
