"""Lists and numbers (cases 40 to 42): queries do not grow, and what is said twice is the same.

How long the pages take with 5,000 trees, benchmarks/pages.py measures.
"""

import re
from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.desk.dashboard import dashboard_of
from apps.projects.models import Project, Role
from apps.scenarios.models import Utterance
from apps.scenarios.services.verification import drop
from apps.trees.domain.tree import Answer, FinalAnswer
from apps.trees.models import Cut, Tree
from apps.trees.services.cuts import restore, take_out
from apps.trees.services.walks import agree
from tests.cases.large import FILLED, fill, fill_many
from tests.factories import make_member, make_project, make_tree, make_utterance
from tests.pages import words_of_main
from tests.permission_table import TABLE
from tests.test_permissions import URLS
from tests.trees.path_work import growing_tree, take, walk

pytestmark = pytest.mark.django_db

ROWS = 10_000
MOST = 12
# They show everything of a project at once, each with its own number of queries.
OVERVIEWS = {"desk:project": 18, "exports:card": 23}
# A list with its filters, and its last page.
FILTERED = {
    "trees:list": ["?q=rule&state=finished&split=dev&domain=office.example&marked=to_settle"],
    "scenarios:utterances": ["?q=can&answer=more&split=dev&kind=plain"],
    "scenarios:consistency": ["?reason=contradicts"],
    "scenarios:text_checks": ["?reason=no+facts"],
    "snippets:documents": ["?q=page&split=dev&state=proposed"],
    "snippets:snippets": ["?q=rule&state=accepted"],
    "snippets:questions": ["?q=can&state=accepted"],
    "projects:people": ["?q=worker"],
    "projects:log": ["?action=look"],
    "workers:leases": ["?kind=path&state=leased"],
    "workers:qualified": ["?q=worker"],
}
FILTERED = {name: [*queries, "?page=99999"] for name, queries in FILTERED.items()}


# Queries ------------------------------------------------------------------------------------------


def pages_of(project: Project) -> Iterator[tuple[str, str]]:
    """Every page that a project has once, in all that is asked of it; name and address."""
    for name, row in sorted(TABLE.items()):
        if set(URLS[name].pattern.converters) == {"slug"} and row.GET[-1] == 200:
            for query in ["", *FILTERED.get(name, [])]:
                yield f"{name}{query}", reverse(name, args=[project.slug]) + query


def queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as caught:
        assert client.get(address).status_code == 200, address
    return len(caught)


@pytest.mark.once
def test_case_40_each_list_takes_a_constant_number_of_queries_and_41_the_dashboard(client):
    project = make_project("large")
    admin = make_member(project, Role.ADMIN)
    client.force_login(admin)
    counts = []
    for write, numbers in ((fill, range(1)), (fill, range(1, 3)), (fill_many, range(3, ROWS))):
        write(project, numbers, admin=admin)
        counts.append({name: queries(client, address) for name, address in pages_of(project)})
    assert all(model._base_manager.count() >= ROWS for model in FILLED)
    assert counts[0] == counts[1] == counts[2]
    assert {name: count for name, count in counts[0].items() if count > MOST} == OVERVIEWS
    assert set(counts[0]) >= {f"{name}{queries[0]}" for name, queries in FILTERED.items()}


# One number ---------------------------------------------------------------------------------------


def finished_in_each_place(client: Client, project: Project) -> set[tuple[int, int]]:
    """How many trees are finished, of how many: on each page that says so."""
    home = words_of_main(client.get(reverse("desk:home")).text)
    (on_home,) = re.findall(r"(\d+) of (\d+) trees finished", home)
    page = client.get(project.get_absolute_url()).text
    (in_steps,) = re.findall(r"Trees <span class=\"count\">(\d+)/(\d+)</span>", page)
    (trees,) = [stage for stage in dashboard_of(project).stages if stage.label == "Trees"]
    parts = {part.label: part.count for part in trees.parts}
    listed = reverse("trees:list", args=[project.slug])
    in_list = [
        client.get(f"{listed}{query}").context["page"].paginator.count
        for query in ("?state=finished", "")
    ]
    return {
        (int(on_home[0]), int(on_home[1])), (int(in_steps[0]), int(in_steps[1])),
        (parts.get("Finished", 0), trees.count), (in_list[0], in_list[1]),
    }  # fmt: skip


def test_case_42_progress_is_one_number_in_every_place_whatever_happens(client):
    project = make_project("bikes")
    admin: User = make_member(project, Role.ADMIN)
    client.force_login(admin)
    workers = [make_member(project, Role.WORKER) for _ in range(3)]
    tree, _ = growing_tree(project), growing_tree(project)
    assert finished_in_each_place(client, project) == {(0, 2)}
    for worker in workers[:2]:
        work = take(project, worker)
        assert work.work_id == tree.pk
        agree(work, now=timezone.now())
        walk(work)
    assert finished_in_each_place(client, project) == {(1, 2)}
    leaf = tree.nodes.live().get(place="y")
    cut = take_out(leaf, kind=Cut.Kind.PRUNED, actor=admin, reason="", now=timezone.now())
    assert finished_in_each_place(client, project) == {(0, 2)}
    restore(cut, actor=admin, now=timezone.now())
    assert finished_in_each_place(client, project) == {(1, 2)}


def utterances_in_each_place(client: Client, tree: Tree) -> set[int]:
    """How many utterances there are: on each page that says so, with those of the root's node."""
    project, slug = tree.project, tree.project.slug
    home = words_of_main(client.get(reverse("desk:home")).text)
    (on_home,) = re.findall(r"Utterances (\d+)", home)
    page = client.get(project.get_absolute_url()).text
    (in_steps,) = re.findall(r"Utterances <span class=\"count\">(\d+)</span>", page)
    dashboard = dashboard_of(project)
    (stage,) = [stage for stage in dashboard.stages if stage.label == "Utterances"]
    listed = client.get(reverse("scenarios:utterances", args=[slug])).context["page"]
    of_node = words_of_main(client.get(tree.get_absolute_url()).text)
    (at_root,) = re.findall(r"Utterances of this node (\d+)", of_node)
    (split,) = dashboard.by_split or [stage]
    return {
        int(on_home), int(in_steps), stage.count, split.count, listed.paginator.count, int(at_root)
    }  # fmt: skip


def test_case_42_what_left_the_dataset_is_counted_nowhere(client):
    tree = make_tree(make_project("bikes"), FinalAnswer(Answer.YES))
    admin = make_member(tree.project, Role.ADMIN)
    client.force_login(admin)
    one, other = make_utterance(tree), make_utterance(tree)
    assert utterances_in_each_place(client, tree) == {2}
    drop(one, reason="It is odd.", seen=1, by=admin, now=timezone.now())
    assert utterances_in_each_place(client, tree) == {1}
    Utterance.objects.filter(pk=other.pk).update(state="taken out")
    assert utterances_in_each_place(client, tree) == {0}
    left_out = client.get(reverse("scenarios:utterances", args=["bikes"]), {"state": "any"})
    assert left_out.context["page"].paginator.count == 2


@pytest.mark.once
def test_case_42_progress_is_derived_and_never_stored():
    stored = {field.name for model in (Project, Tree) for field in model._meta.get_fields()}
    assert {name for name in stored if re.search("count|done|progress|percent", name)} == set()
