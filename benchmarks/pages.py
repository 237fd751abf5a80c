"""How long the pages take in a large project: 5,000 trees, 60,000 nodes, 100,000 utterances.

Fills a temporary database (of the kind that DATABASE_URL names) and asks for every page of it
with Django's test client, as an admin. Usage: python -m benchmarks.pages [trees [requests]]
"""

import sys
import time
from collections.abc import Callable, Iterator

from benchmarks._filling import fill
from benchmarks._studio import arguments, measure_pages, settle, temporary_database

# isort: split
from django.db import connection
from django.test import Client
from django.urls import NoReverseMatch, get_resolver, reverse

from apps.accounts.models import User
from apps.projects.models import Job, Membership, Project, Role
from apps.scenarios.models import Utterance
from apps.trees.models import Node, Tree


def pages(project: Project, client: Client) -> Iterator[tuple[str, str]]:
    yield "home", reverse("desk:home")
    for name in names_of_pages():
        address = reverse(name, args=[project.slug])
        if client.get(address).status_code == 200:  # others lead elsewhere, or only take forms
            yield name, address
    slug = [project.slug]
    trees, utterances = reverse("trees:list", args=slug), reverse("scenarios:utterances", args=slug)
    last = Tree.objects.order_by("-pk")[0]
    tree = Tree.objects.order_by("pk")[100]
    yield "trees, last page", f"{trees}?page=9999"
    yield "trees, filtered", f"{trees}?state=growing&split=dev&domain=7.example"
    yield "trees, one answer on both sides", f"{trees}?marked=one_answer"
    yield "trees, search", f"{trees}?q=pension"
    yield "trees, search finds nothing", f"{trees}?q=zzzzz"
    yield "tree, 5 questions", tree.get_absolute_url()
    yield "tree, 255 questions", last.get_absolute_url()
    yield "tree to verify", reverse("scenarios:verify_tree", args=[*slug, tree.tree_id])
    yield "utterances, last page", f"{utterances}?page=9999"
    yield "utterances, split and answer", f"{utterances}?split=dev&answer=yes"
    yield "utterances, kind", f"{utterances}?kind=scenario"
    yield "utterances, origin", f"{utterances}?origin=hand"
    yield "utterances, one tree", f"{utterances}?tree={tree.tree_id}"
    yield "utterances, search", f"{utterances}?q=pension"
    yield "utterances, search finds nothing", f"{utterances}?q=zzzzz"
    utterance = Utterance.objects.order_by("pk")[500]
    yield "utterance", utterance.get_absolute_url()
    yield "utterance to verify", reverse("scenarios:verify", args=[*slug, utterance.utterance_id])


def names_of_pages() -> list[str]:
    """Of all addresses that name a project and nothing else."""
    resolver = get_resolver()
    return [
        f"{space}:{name}"
        for space in sorted(resolver.namespace_dict)
        for name in sorted(map(str, resolver.namespace_dict[space][1].reverse_dict))
        if _names_a_project(f"{space}:{name}")
    ]


def _names_a_project(name: str) -> bool:
    try:
        reverse(name, args=["slug"])
    except NoReverseMatch:
        return False
    return True


def report(write: Callable[[str], object], count: int, requests: int) -> None:
    start = time.perf_counter()
    project = fill(count)
    admin = User.objects.create_user("admin")
    Membership.objects.create(project=project, user=admin, role=Role.ADMIN)
    Job.objects.create(project=project, kind="export")
    settle()
    rows = ", ".join(
        f"{model.objects.count():,} {model._meta.verbose_name_plural}"
        for model in (Tree, Node, Utterance)
    )
    write(f"{connection.vendor}: {rows}, filled in {time.perf_counter() - start:.0f} s\n")
    client = Client()
    client.force_login(admin)
    measure_pages(client, list(pages(project, client)), requests, write)


if __name__ == "__main__":
    with temporary_database():
        report(sys.stdout.write, *arguments(5000, 50))
