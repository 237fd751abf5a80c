"""Answers in a qualification test count towards nothing else (case 44)."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from apps.desk.worker_numbers import numbers_of
from apps.projects.models import Project, Role, StateChange
from apps.workers.models import Qualification, QualificationAnswer, QualificationAttempt
from apps.workers.services.attempts import begin_attempt
from tests.cases.large import fill
from tests.cases.test_lists_and_numbers import pages_of
from tests.factories import make_member, make_project, make_utterance
from tests.pages import words_of_main
from tests.trees.path_work import growing_tree, take, walk
from tests.workers.qualifying import NO, NOW, make_test, try_it

pytestmark = pytest.mark.django_db

ABOUT_THE_TEST = {"workers:qualification", "workers:qualified"}
WRITTEN_BY_A_TEST = (QualificationAttempt, QualificationAnswer, Qualification, StateChange, Session)


@pytest.fixture
def project() -> Project:
    """With rows of every kind, and work that its people submitted."""
    project = make_project("bikes")
    admin = make_member(project, Role.ADMIN)
    fill(project, range(2), admin=admin)
    tree = growing_tree(project, None)
    walk(take(project, make_member(project, Role.WORKER)), "Are you old?")
    make_utterance(tree, "Yes")
    make_test(project)
    return project


def rows() -> dict[str, int]:
    """How many there are in each table but those that a test writes."""
    tables = [model for model in apps.get_models() if model not in WRITTEN_BY_A_TEST]
    return {model._meta.db_table: model._base_manager.count() for model in tables}


def pages(client: Client, project: Project) -> Iterator[tuple[str, str]]:
    yield "home", words_of_main(client.get(reverse("desk:home")).text)
    for name, address in pages_of(project):
        if name.partition("?")[0] not in ABOUT_THE_TEST:
            yield name, words_of_main(client.get(address).text)


def exported(project: Project, folder: Path) -> dict[str, bytes]:
    options = [f"--project={project.slug}", "--format=csv", "--allow-unverified"]
    call_command("export", *options, f"--out={folder}", stdout=StringIO(), stderr=StringIO())
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def figures(project: Project, folder: Path) -> dict[str, object]:
    """All that is counted or shown, by name."""
    members = list(project.memberships.select_related("user").order_by("pk"))
    found: dict[str, object] = {}
    for role in (Role.ADMIN, Role.WORKER):
        client = Client()
        client.force_login(next(one.user for one in members if one.role == role))
        shown = pages(client, project) if role == Role.ADMIN else _start_page(client, project)
        found |= {f"{role} {name}": words for name, words in shown}
    return {
        **found,
        "rows": rows(),
        "numbers": numbers_of(project, [one.user_id for one in members]),
        "exported": exported(project, folder),
    }


def _start_page(client: Client, project: Project) -> Iterator[tuple[str, str]]:
    yield "start page", words_of_main(client.get(project.get_absolute_url()).text)


@pytest.mark.once
def test_case_44_no_figure_page_or_export_changes_when_people_take_the_test(project, tmp_path):
    people = [make_member(project, Role.WORKER) for _ in range(3)]
    before = figures(project, tmp_path / "before")
    assert not try_it(project, people[0], NO, NO).passed
    assert try_it(project, people[1]).passed
    begin_attempt(project, worker=people[2], now=NOW)
    after = figures(project, tmp_path / "after")
    assert QualificationAnswer.objects.count() == 4
    assert {name for name in before if before[name] != after[name]} == set()
    assert len(before) > 30
    assert before["exported"]
