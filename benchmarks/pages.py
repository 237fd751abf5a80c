"""How long the pages take in a large project: 5,000 trees, 60,000 nodes, 100,000 utterances.

Fills a temporary database (of the kind that DATABASE_URL names) and asks for every page with
Django's test client. Usage: python benchmarks/pages.py [trees [requests]]
"""

import itertools
import logging
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import django

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ["DJANGO_SETTINGS_MODULE"] = "sharc_studio.settings"
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import (  # noqa: E402
    CaptureQueriesContext,
    setup_test_environment,
    teardown_test_environment,
)
from django.urls import reverse  # noqa: E402

from apps.accounts.models import User  # noqa: E402
from apps.projects.models import Job, Membership, Project, Role  # noqa: E402
from apps.scenarios.models import Fact, Scenario, Utterance  # noqa: E402
from apps.snippets.models import Document, Question, Snippet  # noqa: E402
from apps.trees.models import Node, Tree  # noqa: E402

TREES_PER_DOCUMENT = 5
UTTERANCES_PER_TREE = 20
SCENARIOS_PER_TREE = 3
QUESTIONS = ("Are you over 18?", "Do you live in the district?", "Do you own the home?",
             "Is your income under the limit?", "Do you care for a child?")  # fmt: skip
BATCH = 2000
WORDS = ("claim", "grant", "district", "income", "child", "home", "carer", "pension", "permit")
SPLITS = ("train",) * 7 + ("dev", "test", "test")


# Filling ------------------------------------------------------------------------------------


def fill(count: int) -> Project:
    project = Project.objects.create(slug="large", name="Large")
    documents = bulk(Document, (
        Document(project=project, source_url=f"https://{n % 40}.example/{n}",
                 domain=f"{n % 40}.example", title=f"Page {n}", split=SPLITS[n % len(SPLITS)])
        for n in range(count // TREES_PER_DOCUMENT + 1)
    ))  # fmt: skip
    snippets = bulk(Snippet, (
        Snippet(document=documents[n // TREES_PER_DOCUMENT], position=n, state="accepted",
                text=f"# Rule {n}\n\n{text(n, 25)}:\n\n* {text(n + 1, 8)}\n* {text(n + 2, 8)}")
        for n in range(count)
    ))  # fmt: skip
    questions = bulk(Question, (
        Question(snippet=snippet, text=f"Can I get the {text(n, 3)}?")
        for n, snippet in enumerate(snippets)
    ))  # fmt: skip
    trees = bulk(Tree, (
        Tree(project=project, question=question, tree_id=f"{n:040x}", max_depth=8,
             state="growing" if n % 9 == 0 else "finished")
        for n, question in enumerate(questions)
    ))  # fmt: skip
    roots = fill_nodes(trees)
    fill_utterances(project, trees, roots)
    deep = Tree.objects.order_by("-pk")[0]
    deep.nodes.all().delete()
    grow_full(deep, depth=8)
    return project


def fill_nodes(trees: list[Tree]) -> list[Node]:
    """Five questions and six or seven ends per tree: eleven or twelve nodes."""
    level: list[Node] = bulk(Node, (ask(tree, None, "", 0) for tree in trees))
    roots = level
    for number in range(1, len(QUESTIONS)):
        bulk(Node, (answer(node, "no", "No") for node in level))
        level = bulk(Node, (ask(node.tree, node, "yes", number) for node in level))
    bulk(Node, (answer(node, "yes", "Yes") for node in level))
    bulk(Node, (answer(node, "no", "No") for node in level if node.tree.state == "finished"))
    return roots


def grow_full(tree: Tree, *, depth: int) -> None:
    level = bulk(Node, [ask(tree, None, "", 0)])
    for number in range(1, depth):
        level = bulk(Node, (
            ask(tree, node, branch, number) for node in level for branch in ("yes", "no")
        ))  # fmt: skip
    bulk(Node, (answer(node, *end) for node in level for end in (("yes", "Yes"), ("no", "No"))))


def fill_utterances(project: Project, trees: list[Tree], roots: list[Node]) -> None:
    scenarios = bulk(Scenario, (
        Scenario(tree=tree, text=f"I {text(n, 20)}.", text_sha1=f"{n:040x}")
        for n, tree in enumerate(itertools.chain.from_iterable(
            itertools.repeat(tree, SCENARIOS_PER_TREE) for tree in trees))
    ))  # fmt: skip
    bulk(Fact, (
        Fact(scenario=scenario, position=0, follow_up_question=QUESTIONS[0], follow_up_answer="Yes")
        for scenario in scenarios
    ))  # fmt: skip
    kinds = ("yes", "Yes"), ("no", "No"), ("more", QUESTIONS[1])
    bulk(Utterance, (
        Utterance(project=project, utterance_id=f"{n * 7919 % 2**64:040x}", tree=tree,
                  kind="scenario", node=roots[n // UTTERANCES_PER_TREE],
                  question=f"Can I get the {text(n, 3)}?", scenario=f"I {text(n, 20)}.",
                  history=[], evidence=[], answer_class=kinds[n % 3][0], answer=kinds[n % 3][1])
        for n, tree in enumerate(itertools.chain.from_iterable(
            itertools.repeat(tree, UTTERANCES_PER_TREE) for tree in trees))
    ))  # fmt: skip


def ask(tree: Tree, parent: Node | None, branch: str, number: int) -> Node:
    wording = QUESTIONS[number % len(QUESTIONS)]
    return Node.at(tree, parent, branch, kind="question", text=wording)


def answer(parent: Node, branch: str, word: str) -> Node:
    return Node.at(parent.tree, parent, branch, kind="answer", answer=word)


def text(seed: int, length: int) -> str:
    return " ".join(WORDS[(seed * 7 + step * step) % len(WORDS)] for step in range(length))


def bulk(model: Any, rows: Any) -> list[Any]:
    return list(model.objects.bulk_create(rows, batch_size=BATCH))


# Measuring ----------------------------------------------------------------------------------


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


def measure(client: Client, url: str, requests: int) -> tuple[int, list[float], list[float]]:
    """Queries, and milliseconds by the clock and of this process, which other load changes less."""
    with CaptureQueriesContext(connection) as caught:
        status = client.get(url).status_code
    queries = len(caught)
    if status != 200:
        raise SystemExit(f"{url} answered {status}")
    times, own = [], []
    for _ in range(requests):
        start, own_start = time.perf_counter(), time.process_time()
        client.get(url)
        times.append((time.perf_counter() - start) * 1000)
        own.append((time.process_time() - own_start) * 1000)
    return queries, times, own


def report(write: Callable[[str], object], count: int, requests: int) -> None:
    start = time.perf_counter()
    project = fill(count)
    admin = User.objects.create_user("admin")
    Membership.objects.create(project=project, user=admin, role=Role.ADMIN)
    Job.objects.create(project=project, kind="export")
    if connection.vendor == "postgresql":
        connection.cursor().execute("VACUUM ANALYZE")
    rows = ", ".join(
        f"{model.objects.count():,} {model._meta.verbose_name_plural}"
        for model in (Tree, Node, Utterance)
    )
    write(f"{connection.vendor}: {rows}, filled in {time.perf_counter() - start:.0f} s\n")
    write(f"{'page':34}{'queries':>8}{'p50 ms':>9}{'p95 ms':>9}{'CPU p50':>9}\n")
    client = Client()
    client.force_login(admin)
    for name, url in pages(project):
        queries, times, own = measure(client, url, requests)
        p95 = statistics.quantiles(times, n=20)[-1]
        write(f"{name:34}{queries:8}{statistics.median(times):9.1f}{p95:9.1f}")
        write(f"{statistics.median(own):9.1f}\n")


def main() -> None:
    count, requests = [*map(int, sys.argv[1:3]), *(5000, 50)[len(sys.argv) - 1 :]]
    logging.disable(logging.CRITICAL)
    # The files of the pages stay where they are: no collected static files are needed.
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    setup_test_environment(debug=False)
    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        report(sys.stdout.write, count, requests)
    finally:
        connection.creation.destroy_test_db(str(name), verbosity=0)
        teardown_test_environment()


if __name__ == "__main__":
    main()
