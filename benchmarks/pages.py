"""How long the pages take in a large project: 5,000 trees, 60,000 nodes, 100,000 utterances.

Fills a temporary database (of the kind that DATABASE_URL names) and asks for every page with
Django's test client. Usage: python -m benchmarks.pages [trees [requests]]
"""

import sys
import time
from collections.abc import Callable, Iterator

from benchmarks._filling import fill
from benchmarks._studio import arguments, look_at_tables, measure_pages, temporary_database

# isort: split
from django.db import connection
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.projects.models import Job, Membership, Project, Role
from apps.scenarios.models import Utterance
from apps.trees.models import Node, Tree


def pages(project: Project) -> Iterator[tuple[str, str]]:
    slug = [project.slug]
    trees, utterances = reverse("trees:list", args=slug), reverse("scenarios:utterances", args=slug)
    last = Tree.objects.order_by("-pk")[0]
    tree = Tree.objects.order_by("pk")[100]
    yield "home", reverse("desk:home")
    yield "dashboard", reverse("desk:project", args=slug)
    yield "trees", trees
    yield "trees, last page", f"{trees}?page=9999"
    yield "trees, filtered", f"{trees}?state=growing&split=dev&domain=7.example"
    yield "trees, one answer on both sides", f"{trees}?marked=one_answer"
    yield "trees, search", f"{trees}?q=pension"
    yield "trees, search finds nothing", f"{trees}?q=zzzzz"
    yield "tree, 5 questions", tree.get_absolute_url()
    yield "tree, 255 questions", last.get_absolute_url()
    yield "utterances", utterances
    yield "utterances, last page", f"{utterances}?page=9999"
    yield "utterances, split and answer", f"{utterances}?split=dev&answer=yes"
    yield "utterances, kind", f"{utterances}?kind=scenario"
    yield "utterances, origin", f"{utterances}?origin=hand"
    yield "utterances, one tree", f"{utterances}?tree={tree.tree_id}"
    yield "utterances, search", f"{utterances}?q=pension"
    yield "utterances, search finds nothing", f"{utterances}?q=zzzzz"
    yield "utterance", Utterance.objects.order_by("pk")[500].get_absolute_url()


def report(write: Callable[[str], object], count: int, requests: int) -> None:
    start = time.perf_counter()
    project = fill(count)
    admin = User.objects.create_user("admin")
    Membership.objects.create(project=project, user=admin, role=Role.ADMIN)
    Job.objects.create(project=project, kind="export")
    look_at_tables()
    rows = ", ".join(
        f"{model.objects.count():,} {model._meta.verbose_name_plural}"
        for model in (Tree, Node, Utterance)
    )
    write(f"{connection.vendor}: {rows}, filled in {time.perf_counter() - start:.0f} s\n")
    client = Client()
    client.force_login(admin)
    measure_pages(client, pages(project), requests, write)


if __name__ == "__main__":
    with temporary_database():
        report(sys.stdout.write, *arguments(5000, 50))
