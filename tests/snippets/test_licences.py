"""Licences of documents: set host by host, shown where their snippets are."""

from datetime import date

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.projects.models import AuditEvent, Role
from apps.snippets.models import Document
from tests.factories import make_document, make_member, make_project, make_snippet, make_tree
from tests.pages import words_of_main

pytestmark = pytest.mark.django_db

PAGE = reverse("snippets:licences", args=["rules"])
SET = reverse("snippets:set_licence", args=["rules"])


@pytest.fixture
def project():
    return make_project("rules")


@pytest.fixture
def admin(client, project):
    client.force_login(admin := make_member(project, Role.ADMIN))
    return admin


def licences(project) -> list[tuple[str, str, str]]:
    rows = Document.objects.filter(project=project).order_by("domain", "pk")
    return list(rows.values_list("domain", "licence", "attribution"))


def test_hosts_that_lack_licences_come_first(client, project, admin):
    make_document(project, domain="a.example", licence="OGL", attribution="The Office")
    make_document(project, domain="b.example")
    make_document(project, domain="b.example", licence="CC0")
    make_document(project, domain="")
    make_document(make_project(), domain="c.example")
    page = words_of_main(client.get(PAGE).text)
    assert "c.example" not in page
    assert page.index("Files without a host") < page.index("b.example") < page.index("a.example")
    assert "OGL 1 document The Office" in page


def test_a_licence_is_stated_where_there_is_none(client, project, admin):
    for licence in ("", "CC0", ""):
        make_document(project, domain="a.example", licence=licence)
    make_document(project, domain="b.example")
    other = make_document(make_project(), domain="a.example")
    sent = {"domain": "a.example", "licence": " OGL ", "attribution": "The Office"}
    answer = client.post(SET, sent, follow=True)
    assert "Documents whose licence is now “OGL”: 2." in words_of_main(answer.text)
    assert licences(project) == [
        ("a.example", "OGL", "The Office"), ("a.example", "CC0", ""),
        ("a.example", "OGL", "The Office"), ("b.example", "", ""),
    ]  # fmt: skip
    other.refresh_from_db()
    assert other.licence == ""
    event = AuditEvent.objects.get(action="set licence")
    assert (event.actor, event.details) == (
        admin,
        {"domain": "a.example", "licence": "OGL", "attribution": "The Office", "documents": 2},
    )


def test_a_licence_is_replaced_only_when_that_is_asked_for(client, project, admin):
    make_document(project, domain="a.example", licence="CC0")
    client.post(SET, {"domain": "a.example", "licence": "OGL"})
    assert licences(project) == [("a.example", "CC0", "")]
    assert not AuditEvent.objects.filter(action="set licence").exists()
    client.post(SET, {"domain": "a.example", "licence": "OGL", "replace": "on"})
    assert licences(project) == [("a.example", "OGL", "")]


@pytest.mark.parametrize("licence", ["", "  ", "x" * 201])
def test_what_is_no_licence_is_refused(client, project, admin, licence):
    make_document(project, domain="a.example")
    answer = client.post(SET, {"domain": "a.example", "licence": licence}, follow=True)
    assert "Nothing was saved." in words_of_main(answer.text)
    assert licences(project) == [("a.example", "", "")]


def test_more_hosts_need_no_more_queries(client, project, admin):
    counts = []
    for number in range(3):
        make_document(project, domain=f"{number}.example", licence=f"Licence {number}")
        with CaptureQueriesContext(connection) as queries:
            client.get(PAGE)
        counts.append(len(queries))
    assert len(set(counts)) == 1


def test_the_pages_of_a_snippet_say_its_licence_and_whom_to_name(client, project, admin):
    plain = make_document(project, title="Buses", source_url="https://a.example/bus", media="text",
                          retrieved_on=date(2024, 3, 5), source="x", body="x")  # fmt: skip
    named = make_document(project, licence="OGL", attribution="The Office, 2024")
    tree = make_tree(project)
    tree.question.snippet.document = named
    tree.question.snippet.save()
    make_snippet(plain)
    page = client.get(reverse("snippets:document", args=["rules", plain.pk])).text
    assert "“Buses”, https://a.example/bus, retrieved on 2024-03-05" in words_of_main(page)
    page = client.get(reverse("snippets:bench", args=["rules", plain.pk])).text
    assert "licence not known" in words_of_main(page)
    page = words_of_main(client.get(reverse("trees:detail", args=["rules", tree.tree_id])).text)
    assert "licence: OGL The Office, 2024" in page
