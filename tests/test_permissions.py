"""The table of permissions against the URLs that there really are."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.cookies import SimpleCookie
from typing import Any

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.http import StreamingHttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Job, Membership, Project, Role
from apps.projects.services.jobs import start_job_here
from apps.scenarios.models import Contradiction, NegativeQuestion, Scenario, Utterance, Waiver
from apps.scenarios.services.audit import Scope, audit_here
from apps.scenarios.services.scenario_checks import ScenarioCheckWork
from apps.scenarios.services.scenario_work import ScenarioWork
from apps.snippets.models import Question as QuestionRow
from apps.snippets.models import Snippet
from apps.trees.domain.tree import Answer, FinalAnswer, Question
from apps.trees.models import Node, Tree
from apps.trees.services.open_work import NodeCheckWork, PathWork
from apps.workers.models import Assignment, Kind
from apps.workers.services.attempts import begin_attempt
from apps.workers.services.leases import Work, lease_first
from apps.workers.services.qualification_tests import begin_draft
from tests.factories import (
    make_document,
    make_member,
    make_project,
    make_question,
    make_scenario,
    make_snippet,
    make_tree,
    make_user,
    sha1,
)
from tests.permission_table import LOGIN, METHODS, ROLES, TABLE
from tests.workers.qualifying import make_test

# Arguments that name the project or something that every project has, not an object inside it.
NOT_AN_OBJECT = {"slug", "step", "figure", "kind", "part"}


def _named_urls(
    resolver: URLResolver | None = None, prefix: str = ""
) -> Iterator[tuple[str, URLPattern]]:
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            yield from _named_urls(entry, f"{prefix}{entry.namespace}:" if entry.namespace else "")
        else:
            yield f"{prefix}{entry.name}", entry


URLS = dict(_named_urls())
OBJECT_URLS = [
    name
    for name, url in URLS.items()
    if set(url.pattern.converters) - NOT_AN_OBJECT and name in TABLE
]


@dataclass(frozen=True)
class World:
    """One project with a person per role and one of everything, and a second project."""

    people: dict[str, User | None]
    project: Project
    other: Project
    arguments: dict[str, Any]

    def address(self, name: str, **instead: Any) -> str:
        keys = {argument: argument for argument in URLS[name].pattern.converters}
        values = {**self.arguments, **instead}
        kwargs = {argument: values[key] for argument, key in {**keys, **TABLE[name].takes}.items()}
        return reverse(name, kwargs=kwargs)


@pytest.fixture
def world(db) -> World:
    project, other = make_project("one"), make_project("two")
    people: dict[str, User | None] = {
        "anonymous": None,
        "stranger": make_member(other, Role.ADMIN),
        **{str(role): make_member(project, role) for role in Role},
    }
    tree = make_tree(
        project, Question("Are you over 18?", FinalAnswer(Answer.YES), FinalAnswer(Answer.NO))
    )
    utterance = Utterance.objects.create(
        project=project, tree=tree, utterance_id=sha1("utterance"), kind=Utterance.Kind.PLAIN,
        question="Can I?", answer="Are you over 18?", answer_class=Utterance.AnswerClass.MORE,
    )  # fmt: skip
    job = start_job_here(project, kind="import", parameters={}, created_by=people["admin"])
    export = Job.objects.create(
        project=project, kind="export", state=Job.State.DONE, finished_at=timezone.now(),
        parameters={"format": "sharc"}, result=default_storage.save("one.zip", ContentFile(b"PK")),
    )  # fmt: skip
    audit_here(project, Scope(), author=None, progress=lambda *_: None)
    member = Membership.objects.create(project=project, user=make_user(), role=Role.WORKER)
    work, check = _work_of(people["expert"], project)
    root = tree.nodes.get(parent=None)
    flag = tree.flags.create(node=root, kind="one answer", found_at=timezone.now())
    cut = tree.cuts.create(kind="pruned", at=timezone.now(), branch="yes", parent=root)
    arguments = {
        "node_id": root.pk,
        "flag_id": flag.pk,
        "cut_id": cut.pk,
        "slug": project.slug,
        "step": "snippets",
        "figure": "last_answer",
        "kind": "questions",
        "part": "batch",
        "negative_id": NegativeQuestion.objects.create(tree=tree, text="Is it Tuesday?").pk,
        "member": member.pk,
        "job_id": job.pk,
        "export_id": export.pk,
        "token": "made-up",
        "assignment_id": work.pk,
        "check_id": check.pk,
        **_work_on_trees(people["worker"], tree),
        **_work_on_scenarios(people["worker"], tree),
        **_test_of(people["worker"], project),
        "document_id": tree.question.snippet.document.pk,
        "snippet_id": work.work_id,
        "bench_document_id": Snippet.objects.get(pk=work.work_id).document_id,
        "question_id": tree.question_id,
        "tree_id": tree.tree_id,
        "utterance_id": utterance.utterance_id,
        "waiver_id": _waiver_of(people["expert"], project).pk,
    }
    return World(people, project, other, arguments)


def _work_of(expert: User | None, project: Project) -> tuple[Assignment, Assignment]:
    """A snippet that the expert writes the question on, and a question that they check."""
    assert expert is not None
    document, now = make_document(project), timezone.now()
    proposed = make_question(make_snippet(document), state=QuestionRow.State.PROPOSED)
    made = [
        lease_first([work], project=project, worker=expert, now=now)
        for work in (
            Work(Kind.QUESTION, make_snippet(document).pk), Work(Kind.QUESTION_CHECK, proposed.pk),
        )
    ]  # fmt: skip
    assert made[0] is not None
    assert made[1] is not None
    return made[0], made[1]


def _work_on_trees(worker: User | None, tree: Tree) -> dict[str, int]:
    """A path that the worker begins, and a turn that they check."""
    assert worker is not None
    now, node = timezone.now(), tree.nodes.get(parent=None)
    Node.objects.filter(pk=node.pk).update(disputed_at=now)
    works = (
        PathWork(Kind.PATH, make_tree(tree.project).pk, "root"),
        NodeCheckWork(Kind.NODE_CHECK, node.pk),
    )
    made = [lease_first([work], project=tree.project, worker=worker, now=now) for work in works]
    assert made[0] is not None
    assert made[1] is not None
    return {"path_id": made[0].pk, "node_check_id": made[1].pk}


def _work_on_scenarios(worker: User | None, tree: Tree) -> dict[str, int]:
    """A scenario that the worker writes, one that they check, and two turns that they report."""
    assert worker is not None
    now, nodes = timezone.now(), tree.nodes.order_by("pk")
    Project.objects.filter(pk=tree.project_id).update(scenarios_per_finished_tree=2)
    waiting = make_scenario(tree, "I am 19.", state=Scenario.State.WAITING, checks_wanted=1)
    works = (
        ScenarioWork(Kind.SCENARIO, tree.pk, "0"),
        ScenarioCheckWork(Kind.SCENARIO_CHECK, waiting.pk),
    )
    made = [lease_first([work], project=tree.project, worker=worker, now=now) for work in works]
    assert made[0] is not None
    assert made[1] is not None
    report = Contradiction.objects.create(
        prompt=made[0].prompt, first=nodes[0], second=nodes[1], reason="So.", by=worker, at=now
    )
    keys = {"scenario_work_id": made[0].pk, "scenario_check_id": made[1].pk}
    return {**keys, "scenario_id": waiting.pk, "contradiction_id": report.pk}


def _test_of(worker: User | None, project: Project) -> dict[str, int]:
    """A qualification test that the worker has begun, and a question of its next version."""
    assert worker is not None
    now = timezone.now()
    make_test(project, now=now)
    attempt = begin_attempt(project, worker=worker, now=now)
    draft = begin_draft(project, actor=worker, now=now)
    question = draft.questions.first()
    assert question is not None
    return {"attempt_id": attempt.pk, "test_question_id": question.pk}


def _log_in(client: Client, user: User | None) -> str:
    """A new session's key, or none: logging in costs more than most requests, so it is kept."""
    client.cookies = SimpleCookie()
    if user is not None:
        client.force_login(user)
    return "".join(cookie.value for cookie in client.cookies.values())


def _waiver_of(expert: User | None, project: Project) -> Waiver:
    assert expert is not None
    return Waiver.objects.create(
        project=project, reason="contradicts", why="It is so.", by=expert, at=timezone.now()
    )


def _send(
    client: Client, method: str, address: str, *, session: str, data: dict[str, str]
) -> str | int:
    # One client for all: making the middleware anew costs more than most requests, too.
    client.cookies = SimpleCookie({settings.SESSION_COOKIE_NAME: session} if session else None)
    send = partial(client.post, data=data) if method == "POST" else partial(client.generic, method)
    response = send(address)
    if isinstance(response, StreamingHttpResponse):
        response.getvalue()  # a file that nobody reads stays open
    if response.status_code == 302 and response.headers["Location"].startswith(_login_address()):
        return LOGIN
    if response.status_code == 403 and "so your form was not sent" in response.text:
        return LOGIN  # at once, with what was typed
    return response.status_code


def _login_address() -> str:
    return reverse(settings.LOGIN_URL) + "?"


def test_every_url_has_a_row():
    assert sorted(set(URLS) - set(TABLE)) == [], "rows are missing in tests/permission_table.py"


def test_every_row_has_its_url():
    assert sorted(set(TABLE) - set(URLS)) == []


@contextmanager
def _undone() -> Iterator[None]:
    """What is written here is as if it had not been."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.mark.parametrize("name", sorted(set(TABLE) & set(URLS)))
def test_each_role_gets_what_the_table_says(world, client, name):
    row, address = TABLE[name], world.address(name)
    sessions = {role: _log_in(client, world.people[role]) for role in ROLES}

    got = {}
    for method in METHODS:
        with _undone():
            got[method] = {
                role: _send(client, method, address, session=sessions[role], data=row.data)
                for role in ROLES
            }

    assert got == {method: dict(zip(ROLES, row.cell(method), strict=True)) for method in METHODS}


@pytest.mark.parametrize("name", OBJECT_URLS)
def test_an_object_is_reached_only_inside_its_own_project(world, client, name):
    admin = world.people["admin"]
    Membership.objects.create(project=world.other, user=admin, role=Role.ADMIN)
    row = TABLE[name]
    method = "GET" if row.GET[-1] != 405 else "POST"
    session = _log_in(client, admin)

    inside, elsewhere = (
        _send(client, method, address, session=session, data=row.data)
        for address in (world.address(name), world.address(name, slug=world.other.slug))
    )

    assert (inside, elsewhere) == (row.cell(method)[-1], 404)


def test_a_role_taken_away_counts_from_the_next_request(world, client):
    expert = world.people["expert"]
    client.force_login(expert)
    address, overview = world.address("trees:list"), world.address("desk:project")
    before = client.get(address).status_code

    Membership.objects.filter(user=expert).update(role=Role.WORKER)
    as_worker = client.get(address).status_code, client.get(overview).status_code
    Membership.objects.filter(user=expert).delete()
    as_stranger = client.get(overview).status_code

    assert (before, as_worker, as_stranger) == (200, (404, 200), 404)
