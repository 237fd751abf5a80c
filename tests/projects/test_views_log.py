"""The audit log's page."""

import pytest
from django.urls import reverse

from apps.projects.models import AuditEvent, Role
from apps.projects.services import audit
from apps.projects.services.projects import add_member, save_guideline, save_settings
from tests.factories import make_member, make_project, make_user


@pytest.fixture
def project(db):
    return make_project("housing", name="Housing rules")


@pytest.fixture
def admin(project, client):
    person = make_member(project, Role.ADMIN, make_user("ada", name="Ada Ruiz"))
    client.force_login(person)
    return person


def _log(project):
    return reverse("projects:log", args=[project.slug])


def test_every_kind_of_change_is_told_in_words(project, admin, client):
    bo = make_user("bo", name="Bo")
    add_member(project, user=bo, role=Role.WORKER, actor=admin)
    project.max_words, project.long_lists = 120, "keep"
    save_settings(project, actor=admin)
    save_guideline(project.guidelines.get(step="trees"), text="Ask", actor=bo)
    audit.record(None, "import sharc", project, project=project, created=69)

    entries = client.get(_log(project)).context["entries"]

    assert [
        (str(entry.event.actor), entry.event.action, entry.subject, entry.details, entry.changes)
        for entry in entries
    ] == [
        ("None", "import sharc", "the project", [("created", "69")], []),
        ("Bo", "change guidelines", "Follow-up questions", [], [("text", "", "Ask")]),
        (
            "Ada Ruiz", "change settings", "the project", [],
            [
                ("max words", "150", "120"),
                ("long lists", "split into several snippets", "keep as one snippet"),
            ],
        ),
        ("Ada Ruiz", "add member", "Bo", [("role", "Worker")], []),
    ]  # fmt: skip


def test_an_object_that_the_log_does_not_know_is_named_by_kind_and_number(project, admin, client):
    event = AuditEvent.objects.create(
        project=project, actor=admin, action="start import", object_type="job", object_id="7"
    )

    (entry,) = client.get(_log(project)).context["entries"]

    assert (entry.event, entry.subject) == (event, "job 7")


@pytest.mark.parametrize(
    ("filters", "actions"),
    [
        ({}, ["three", "two", "one"]),
        ({"action": "one"}, ["one"]),
        ({"person": "bo"}, ["three"]),
        ({"person": "bo", "action": "one"}, []),
        ({"person": "nobody"}, ["three", "two", "one"]),
        ({"person": "x\x00"}, ["three", "two", "one"]),
        ({"action": "none"}, ["three", "two", "one"]),
        ({"page": "abc"}, ["three", "two", "one"]),
    ],
)
def test_the_log_is_filtered_by_person_and_action(project, admin, client, filters, actions):
    bo = make_user("bo")
    for actor, action in ((admin, "one"), (admin, "two"), (bo, "three")):
        audit.record(actor, action, project, project=project)

    answer = client.get(_log(project), filters)

    assert [entry.event.action for entry in answer.context["entries"]] == actions


def test_the_log_shows_nothing_of_another_project(project, admin, client):
    other = make_project()
    audit.record(make_user("spy"), "secret", other, project=other)

    answer = client.get(_log(project))

    assert answer.context["entries"] == []
    assert "secret" not in answer.text
    assert "spy" not in answer.text


def test_a_name_leads_to_what_the_person_did(project, admin, client):
    audit.record(admin, "one", project, project=project)
    assert f'href="{_log(project)}?person=ada"' in client.get(_log(project)).text
    assert "Nobody with this user name" in client.get(_log(project), {"person": "bo"}).text


def test_pages_keep_the_filter(project, admin, client):
    for _ in range(51):
        audit.record(admin, "one", project, project=project)
    audit.record(admin, "two", project, project=project)

    answer = client.get(_log(project), {"action": "one", "page": "2"})

    assert len(answer.context["entries"]) == 1
    assert "51–51 of 51 entries" in answer.text
    assert 'href="?action=one&amp;page=1"' in answer.text


def test_what_people_wrote_is_shown_as_text(project, admin, client):
    audit.record(admin, "one", project, project=project, note="<script>alert(1)</script>")

    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in client.get(_log(project)).text


def test_the_log_takes_as_many_queries_for_three_entries_as_for_one(
    project, admin, client, django_assert_num_queries
):
    add_member(project, user=make_user(), role=Role.WORKER, actor=admin)
    with django_assert_num_queries(9):
        client.get(_log(project))
    for _ in range(2):
        add_member(project, user=make_user(), role=Role.WORKER, actor=make_user())
    with django_assert_num_queries(9):
        client.get(_log(project))
