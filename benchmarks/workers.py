"""How long pages take in a large crowd: 5,000 trees that all grow, and 10,000 workers.

Fills a temporary database (of the kind that DATABASE_URL names) and asks for the start page of
workers for whom much is open, or nothing, and for the admin's pages of people and their work.
Usage: python -m benchmarks.workers [trees [workers [requests]]]
"""

import sys
from collections.abc import Callable, Iterator
from datetime import timedelta

from benchmarks._filling import bulk, fill
from benchmarks._studio import arguments, measure_pages, settle, temporary_database

# isort: split
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import AuditEvent, Membership, Project, Role
from apps.trees.models import Node, Tree
from apps.workers.models import Assignment, Kind


def crowd(project: Project, count: int) -> list[User]:
    """Members who each submitted a piece of work and gave one back."""
    people = bulk(User, (User(username=f"worker{n}") for n in range(count)))
    bulk(Membership, (
        Membership(project=project, user=person, role=Role.WORKER) for person in people
    ))  # fmt: skip
    now = timezone.now()
    for state in (Assignment.State.SUBMITTED, Assignment.State.RETURNED):
        bulk(Assignment, (
            Assignment(project=project, worker=person, kind=Kind.SCENARIO, work_id=10**9 + number,
                       part=state, state=state, submit_key="k" if state == "submitted" else "",
                       leased_at=now, expires_at=now + timedelta(hours=1), ended_at=now)
            for number, person in enumerate(people)
        ))  # fmt: skip
    bulk(AuditEvent, (
        AuditEvent(project=project, actor=person, action="submit path", object_type="tree",
                   object_id="1", details={"turns": 0}) for person in people
    ))  # fmt: skip
    return people


def hold_all(project: Project, people: list[User]) -> None:
    """All that is open is in the hands of others."""
    now = timezone.now()
    open_ends = Node.objects.filter(place="yyyy", tree__state=Tree.State.GROWING)
    bulk(Assignment, (
        Assignment(project=project, worker=people[number % len(people)], kind=Kind.PATH,
                   work_id=tree, part=f"{key}-no", leased_at=now,
                   expires_at=now + timedelta(hours=1))
        for number, (key, tree) in enumerate(open_ends.values_list("pk", "tree_id"))
    ))  # fmt: skip


def log_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def pages_of_admins(project: Project) -> Iterator[tuple[str, str]]:
    slug = [project.slug]
    for name in ("desk:project", "workers:leases", "desk:workers", "projects:people",
                 "projects:log"):  # fmt: skip
        yield name, reverse(name, args=slug)
    yield "workers:leases, submitted", f"{reverse('workers:leases', args=slug)}?state=submitted"
    yield "workers:leases, a person's", f"{reverse('workers:leases', args=slug)}?person=worker7"


def report(write: Callable[[str], object], trees: int, count: int, requests: int) -> None:
    project = fill(trees, growing_every=1)
    Project.objects.update(active_trees=10_000)
    people = crowd(project, count)
    home, free, author = project.get_absolute_url(), people[-1], people[-2]
    Node.objects.filter(parent=None).update(created_by=author)
    admin = User.objects.create_user("admin")
    Membership.objects.create(project=project, user=admin, role=Role.ADMIN)
    settle()
    growing, members = Tree.objects.growing().count(), Membership.objects.count()
    write(f"{connection.vendor}: {growing:,} growing trees, {members:,} members\n")
    measure_pages(log_in(free), [("worker's start page, much is open", home)], requests, write)
    all_theirs = [("worker's start page, all is below turns of theirs", home)]
    measure_pages(log_in(author), all_theirs, requests, write)
    hold_all(project, people[:-2])
    settle()
    held = [("worker's start page, others have all of it", home)]
    measure_pages(log_in(free), held, requests, write)
    measure_pages(log_in(admin), pages_of_admins(project), requests, write)


if __name__ == "__main__":
    with temporary_database():
        report(sys.stdout.write, *arguments(5000, 10_000, 50))
