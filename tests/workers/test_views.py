"""Drafts over HTTP, a person's open work, and an admin's list of all leases."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import AuditEvent, Project, Role
from apps.trees.domain.tree import OpenBranch, Question
from apps.workers.models import Assignment, KeptText, Kind
from apps.workers.services.leases import Work, lease_first
from tests.factories import (
    make_document,
    make_member,
    make_project,
    make_scenario,
    make_snippet,
    make_tree,
    make_user,
)
from tests.pages import words_of_main

pytestmark = pytest.mark.django_db

MINE = reverse("workers:mine", args=["bikes"])
LEASES = reverse("workers:leases", args=["bikes"])


@pytest.fixture
def project() -> Project:
    return make_project("bikes")


@pytest.fixture
def worker(client, project) -> User:
    user = make_member(project, Role.WORKER)
    client.force_login(user)
    return user


@pytest.fixture
def admin(project) -> User:
    return make_member(project, Role.ADMIN)


def lease(project: Project, worker: User, kind: Kind = Kind.QUESTION) -> Assignment:
    work = Work(kind, make_snippet(make_document(project)).pk)
    leased = lease_first([work], project=project, worker=worker, now=timezone.now())
    assert leased is not None
    return leased


def address(name: str, assignment: Assignment, slug: str = "bikes") -> str:
    return reverse(f"workers:{name}", args=[slug, assignment.pk])


def save(client: Client, assignment: Assignment, version: object, content: object, **more: str):
    data = {"version": str(version), "content": json.dumps(content)}
    return client.post(address("draft", assignment, **more), data)


def expire(assignment: Assignment) -> None:
    past = timezone.now() - timedelta(minutes=1)
    Assignment.objects.filter(pk=assignment.pk).update(
        leased_at=past - timedelta(hours=1), expires_at=past
    )


def page(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return words_of_main(response.content.decode())


def queries(client: Client, url: str) -> int:
    with CaptureQueriesContext(connection) as caught:
        assert client.get(url).status_code == 200
    return len(caught)


# Drafts


def test_a_draft_is_saved_with_its_version_and_the_time(client, project, worker):
    assignment = lease(project, worker)
    before = timezone.now()
    response = save(client, assignment, 1, {"text": "Can I 保育 👩‍👧"})
    assert response.status_code == 200
    assert response.json()["version"] == 1
    assert before <= datetime.fromisoformat(response.json()["saved_at"]) <= timezone.now()
    assignment.refresh_from_db()
    assert (assignment.draft, assignment.draft_version) == ({"text": "Can I 保育 👩‍👧"}, 1)


def test_a_stale_draft_gets_the_newer_one_and_is_kept(client, project, worker):
    """Case 12."""
    assignment = lease(project, worker)
    save(client, assignment, 1, {"text": "Can I?"})
    response = save(client, assignment, 1, {"text": "May I?"})
    assert response.status_code == 409
    assert response.json() == {"version": 1, "content": {"text": "Can I?"}}
    assert KeptText.objects.get().content == {"text": "May I?"}


@pytest.mark.parametrize("state", ["expired", "returned", "released", "submitted"])
def test_a_draft_after_the_end_is_kept_and_told_how_it_ended(client, project, worker, state):
    assignment = lease(project, worker)
    Assignment.objects.update(state=state, ended_at=timezone.now(), submit_key="k")
    response = save(client, assignment, 1, {"text": "Can I?"})
    assert (response.status_code, response.json()["state"]) == (410, state)
    assert KeptText.objects.get().content == {"text": "Can I?"}


def test_an_overdue_lease_counts_as_expired_before_the_periodic_task_has_been_by(
    client, project, worker
):
    assignment = lease(project, worker)
    expire(assignment)
    response = save(client, assignment, 1, {"text": "Can I?"})
    assert (response.status_code, response.json()["state"]) == (410, "expired")


def test_somebody_elses_draft_is_forbidden_and_a_strangers_not_found(client, project, worker):
    assignment = lease(project, make_member(project, Role.EXPERT))
    assert save(client, assignment, 1, {"text": "Mine"}).status_code == 403
    make_member(make_project("trams"), Role.ADMIN, worker)
    assert save(client, assignment, 1, {"text": "Mine"}, slug="trams").status_code == 404
    client.force_login(make_user())
    assert save(client, assignment, 1, {"text": "Mine"}).status_code == 404
    client.logout()
    assert "Log in" in save(client, assignment, 1, {"text": "Mine"}).text  # drafts.js asks for that
    assignment.refresh_from_db()
    assert (assignment.draft, KeptText.objects.count()) == ({}, 0)


@pytest.mark.parametrize(
    ("version", "content"),
    [
        ("0", "{}"), ("-1", "{}"), ("x", "{}"), ("", "{}"), (str(2**31), "{}"),
        ("1", ""), ("1", "{"), ("1", "[]"), ("1", '"a"'), ("1", '{"text": 1}'),
        ("1", '{"text": {"a": "b"}}'), ("1", json.dumps({"text": "x" * 200_000})),
        ("1", "[" * 100_000),
    ],
)  # fmt: skip
def test_a_draft_that_makes_no_sense_is_refused(client, project, worker, version, content):
    assignment = lease(project, worker)
    data = {"version": version, "content": content}
    assert client.post(address("draft", assignment), data).status_code == 400
    assignment.refresh_from_db()
    assert assignment.draft_version == 0


def test_what_no_database_takes_is_left_out_of_a_draft(client, project, worker):
    assignment = lease(project, worker)
    data = {"version": "1", "content": r'{"text": "a\u0000b\ud83dc"}'}
    assert client.post(address("draft", assignment), data).status_code == 200
    assignment.refresh_from_db()
    assert assignment.draft == {"text": "ab?c"}


def test_a_draft_needs_the_token_of_the_forms(project, worker):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(worker)
    assignment = lease(project, worker)
    assert save(strict, assignment, 1, {"text": "Can I?"}).status_code == 403
    assignment.refresh_from_db()
    assert assignment.draft == {}


# My work


def test_my_work_is_what_is_in_my_hands_in_this_project(client, project, worker):
    assignment = lease(project, worker)
    save(client, assignment, 1, {"text": "Can I <b>?"})
    lease(project, make_member(project, Role.EXPERT), Kind.SCENARIO)
    elsewhere = make_project("trams")
    lease(elsewhere, make_member(elsewhere, Role.WORKER, worker), Kind.SCENARIO)
    over = lease(project, worker, Kind.SCENARIO)
    expire(over)
    shown = page(client, MINE)
    assert "First question Can I <b>?" in shown
    assert "Scenario" not in shown
    expected = reverse("snippets:question_work", args=["bikes", assignment.pk])
    assert f'href="{expected}">Continue' in client.get(MINE).content.decode()


def test_work_is_given_back_with_a_reason_and_the_text_stays_in_sight(client, project, worker):
    assignment = lease(project, worker)
    save(client, assignment, 1, {"text": "Can I?"})
    response = client.post(address("return", assignment), {"reason": "Too hard."}, follow=True)
    assignment.refresh_from_db()
    assert (assignment.state, assignment.return_reason) == ("returned", "Too hard.")
    shown = words_of_main(response.content.decode())
    assert "The work is given back. You will not get it again." in shown
    assert "Returned Can I?" in shown.replace("UTC · ", "")


def test_work_that_is_over_cannot_be_given_back(client, project, worker):
    assignment = lease(project, worker)
    client.post(address("return", assignment))
    response = client.post(address("return", assignment), {"reason": "Again."}, follow=True)
    assert "The time for this work had ended before." in words_of_main(response.content.decode())
    assignment.refresh_from_db()
    assert assignment.return_reason == ""


def test_a_reason_that_is_too_long_gives_nothing_back(client, project, worker):
    assignment = lease(project, worker)
    response = client.post(address("return", assignment), {"reason": "x" * 501}, follow=True)
    assert "Nothing was given back." in words_of_main(response.content.decode())
    assignment.refresh_from_db()
    assert assignment.state == "leased"


def test_nobody_gives_back_the_work_of_another_or_through_another_project(
    client, project, worker, admin
):
    assignment = lease(project, worker)
    make_member(make_project("trams"), Role.WORKER, worker)
    assert client.post(address("return", assignment, slug="trams")).status_code == 404
    client.force_login(admin)
    assert client.post(address("return", assignment)).status_code == 404
    client.force_login(make_user())
    assert client.get(MINE).status_code == 404


def test_texts_that_no_form_took_are_shown_to_who_typed_them(client, project, worker):
    assignment = lease(project, worker)
    KeptText.objects.create(
        assignment=assignment, reason="stale draft", content={"text": "May I?"},
        kept_at=datetime(2026, 5, 1, 12, tzinfo=UTC),
    )  # fmt: skip
    assert "1 May 2026, 12:00 UTC · A newer draft was saved before it May I?" in page(client, MINE)
    client.force_login(make_member(project, Role.WORKER))
    assert "May I?" not in page(client, MINE)


def test_my_work_takes_the_same_queries_at_one_row_and_at_three(client, project, worker):
    def more() -> None:
        lease(project, worker)
        over = lease(project, worker)
        KeptText.objects.create(
            assignment=over, reason="submitted", content={"text": "a"}, kept_at=timezone.now()
        )
        Assignment.objects.filter(pk=over.pk).update(
            state="returned", ended_at=timezone.now(), draft={"text": "b"}
        )

    more()
    at_one = queries(client, MINE)
    more()
    more()
    assert queries(client, MINE) == at_one


# All leases


def test_only_admins_of_the_project_see_and_release_leases(client, project, worker, admin):
    assignment = lease(project, worker)
    for person in (worker, make_member(project, Role.EXPERT), make_user()):
        client.force_login(person)
        assert client.get(LEASES).status_code == 404
        assert client.post(address("release", assignment)).status_code == 404
    make_member(make_project("trams"), Role.ADMIN, admin)
    client.force_login(admin)
    assert client.post(address("release", assignment, slug="trams")).status_code == 404
    assignment.refresh_from_db()
    assert assignment.state == "leased"


def test_an_admin_releases_work_which_is_free_at_once_and_in_the_log(
    client, project, worker, admin
):
    """Case 8."""
    assignment = lease(project, worker)
    client.force_login(admin)
    response = client.post(address("release", assignment), follow=True)
    assert f"The work of {worker} is free again." in words_of_main(response.content.decode())
    event = AuditEvent.objects.get(action="release work")
    assert (event.actor, event.project, event.object_id) == (admin, project, str(assignment.pk))
    again = client.post(address("release", assignment), follow=True)
    assert "This work had ended before." in words_of_main(again.content.decode())


def test_leases_are_filtered_and_overdue_ones_are_none(client, project, worker, admin):
    """Case 3."""
    question = lease(project, worker)
    scenario = lease(project, admin, Kind.SCENARIO)
    overdue = lease(project, worker, Kind.PATH)
    expire(overdue)
    returned = lease(project, worker, Kind.SNIPPETS)
    Assignment.objects.filter(pk=returned.pk).update(state="returned", ended_at=timezone.now())
    elsewhere = make_project()
    lease(elsewhere, make_member(elsewhere, Role.ADMIN, admin))
    client.force_login(admin)

    def found(**filters: str) -> list[Assignment]:
        return list(client.get(LEASES, filters).context["page"])

    assert found() == [scenario, question]
    assert found(kind="question") == [question]
    assert found(person=admin.username) == [scenario]
    assert found(state="returned") == [returned]
    assert found(kind="x", person="\0", page="z") == [scenario, question]
    stranger = make_user()
    assert found(person=stranger.username) == [scenario, question]
    assert "Nobody with this user name has had work here." in page(
        client, f"{LEASES}?person={stranger.username}"
    )
    link = f'href="{LEASES}?person={admin.username}&amp;state=leased"'
    assert link in client.get(LEASES).content.decode()


def test_leases_say_what_they_are_about_with_a_link(client, project, admin):
    tree = make_tree(project, Question("Over 18?", OpenBranch(), OpenBranch()))
    snippet, document = tree.question.snippet, tree.question.snippet.document
    scenario = make_scenario(tree)
    trees = reverse("trees:detail", args=["bikes", tree.tree_id])
    documents = reverse("snippets:document", args=["bikes", document.pk])
    question = reverse("snippets:question", args=["bikes", tree.question_id])
    works = [
        (Kind.PATH, tree.pk, trees), (Kind.SCENARIO, tree.pk, trees),
        (Kind.NODE_CHECK, tree.nodes.latest("pk").pk, trees),
        (Kind.SCENARIO_CHECK, scenario.pk, trees), (Kind.SNIPPETS, document.pk, documents),
        (Kind.QUESTION, snippet.pk, documents), (Kind.QUESTION_CHECK, tree.question_id, question),
    ]  # fmt: skip
    client.force_login(admin)
    for kind, key, address in works:
        lease_first([Work(kind, key)], project=project, worker=admin, now=timezone.now())
        assert f'href="{address}"' in client.get(LEASES, {"kind": kind}).content.decode()


def test_leases_take_the_same_queries_at_one_row_and_at_three(client, project, admin):
    client.force_login(admin)
    lease(project, make_user())
    at_one = queries(client, LEASES)
    lease(project, make_user())
    lease(project, make_user())
    assert queries(client, LEASES) == at_one
