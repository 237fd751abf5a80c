"""The pages of documents and snippets: lists, one document, loading, limits, numbers."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.projects.models import AuditEvent, Role
from apps.snippets.models import Document
from tests.factories import make_document, make_member, make_project, make_snippet, make_user
from tests.pages import words_of_main

pytestmark = pytest.mark.django_db

DOCUMENTS, SNIPPETS, UPLOAD, PASTE, FETCH, LIMITS, NUMBERS = (
    reverse(f"snippets:{name}", args=["bikes"])
    for name in ("documents", "snippets", "upload", "paste", "fetch", "segmentation", "numbers")
)
FOR_READERS = (DOCUMENTS, SNIPPETS, NUMBERS)
FOR_ADMINS = (UPLOAD, PASTE, LIMITS)
URL = "https://office.example/bikes"
TEXT = "You can apply if:\n\n- you are over 18\n- you live here\n"


@pytest.fixture
def project():
    return make_project("bikes", name="Bikes")


@pytest.fixture
def expert(client, project):
    user = make_member(project, Role.EXPERT)
    client.force_login(user)
    return user


@pytest.fixture
def admin(client, project):
    user = make_member(project, Role.ADMIN)
    client.force_login(user)
    return user


def page_of(document: Document) -> str:
    return reverse("snippets:document", args=["bikes", document.pk])


def details_of(document: Document) -> str:
    return reverse("snippets:document_details", args=["bikes", document.pk])


def read(client, address: str, **query: str) -> str:
    response = client.get(address, query)
    assert response.status_code == 200
    return words_of_main(response.content.decode())


def titles(client, **query: str) -> list[str]:
    response = client.get(DOCUMENTS, query)
    assert response.status_code == 200
    return [document.title for document in response.context["page"]]


def texts(client, **query: str) -> list[str]:
    response = client.get(SNIPPETS, query)
    assert response.status_code == 200
    return [snippet.text for snippet in response.context["page"]]


# Who may ------------------------------------------------------------------------------------


def test_strangers_and_workers_find_nothing(client, project):
    document = make_document(project)
    pages = [*FOR_READERS, *FOR_ADMINS, page_of(document), details_of(document)]
    for page in pages:
        assert client.get(page).headers["Location"] == f"{reverse('accounts:login')}?next={page}"
    for person in (make_user(), make_member(project, Role.WORKER)):
        client.force_login(person)
        assert [client.get(page).status_code for page in pages] == [404] * len(pages)


def test_experts_read_and_are_not_offered_what_only_admins_do(client, expert, project):
    document = make_document(project)
    for page in (*FOR_READERS, page_of(document)):
        content = client.get(page).content.decode()
        assert [name for name in (*FOR_ADMINS, details_of(document)) if name in content] == []
    assert [client.get(page).status_code for page in FOR_ADMINS] == [404] * 3


# Lists --------------------------------------------------------------------------------------


def test_a_document_is_listed_with_its_snippets_by_state(client, expert, project):
    document = make_document(project, title="Cycles", domain="office.example")
    for state in ("proposed", "proposed", "accepted"):
        make_snippet(document, state=state)
    make_snippet(document, state="discarded", discard_reason="no rule")
    make_document(make_project(), title="Elsewhere")
    (row,) = client.get(DOCUMENTS).context["page"]
    assert (row.title, row.snippet_count, row.proposed_count, row.accepted_count,
            row.discarded_count) == ("Cycles", 4, 2, 1, 1)  # fmt: skip
    assert "Cycles office.example 4 2 1 1 not known Dev" in read(client, DOCUMENTS)


def test_versions_are_told_apart(client, expert, project):
    make_document(project, source_url=URL, title="Old")
    make_document(project, source_url=URL, title="New", version=2)
    said = read(client, DOCUMENTS)
    assert "Old version 1 of 2" in said
    assert "New version 2 of 2" in said


def test_filters_of_documents_join(client, expert, project):
    first = make_document(project, title="A", domain="a.example", language="en", split="dev")
    second = make_document(project, title="B", domain="b.example", language="cy", split="")
    make_document(project, title="C", domain="b.example", language="cy", split="dev")
    make_snippet(first, state="proposed")
    make_snippet(first)
    make_snippet(second)
    assert titles(client) == ["A", "B", "C"]
    assert titles(client, domain="b.example") == ["B", "C"]
    assert titles(client, language="cy", split="none") == ["B"]
    assert titles(client, split="dev", domain="b.example") == ["C"]
    assert titles(client, state="to do") == ["A"]
    assert titles(client, state="settled") == ["B"]
    assert titles(client, state="without") == ["C"]
    assert titles(client, q="b") == ["B"]
    assert titles(client, q="OFFICE.example/page") == ["A", "B", "C"]


def test_filters_of_snippets_join(client, expert, project):
    first = make_document(project, domain="a.example", split="")
    second = make_document(project, domain="b.example")
    make_snippet(first, text="One rule", state="proposed")
    make_snippet(first, text="Two", state="discarded", discard_reason="no rule")
    make_snippet(second, text="Three rules")
    make_snippet(make_document(make_project()), text="Elsewhere")
    assert texts(client) == ["One rule", "Two", "Three rules"]
    assert texts(client, state="proposed") == ["One rule"]
    assert texts(client, domain="b.example") == ["Three rules"]
    assert texts(client, reason="no rule") == ["Two"]
    assert texts(client, split="none", q="RULE") == ["One rule"]
    assert texts(client, split="dev") == ["Three rules"]


@pytest.mark.parametrize("address", [DOCUMENTS, SNIPPETS])
@pytest.mark.parametrize(
    "query",
    [{"state": "burnt"}, {"domain": "nowhere"}, {"split": "0"}, {"q": "\0"}, {"q": "x" * 201},
     {"page": "abc"}, {"page": "-1"}, {"language": "xx"}, {"reason": "x"}],
)  # fmt: skip
def test_a_filter_that_makes_no_sense_filters_nothing(client, expert, project, address, query):
    make_snippet(make_document(project))
    assert len(client.get(address, query).context["page"]) == 1


def test_lists_are_cut_into_pages(client, expert, project):
    document = make_document(project)
    for _ in range(51):
        make_snippet(document)
    for _ in range(25):
        make_document(project)
    assert [len(client.get(DOCUMENTS, {"page": n}).context["page"]) for n in (1, 2)] == [25, 1]
    assert [len(client.get(SNIPPETS, {"page": n}).context["page"]) for n in (1, 2)] == [50, 1]
    assert [len(client.get(page_of(document), {"page": n}).context["page"]) for n in (1, 2)] == [
        50,
        1,
    ]


@pytest.mark.parametrize("address", [DOCUMENTS, SNIPPETS])
def test_htmx_gets_the_results_alone(client, expert, project, address):
    make_snippet(make_document(project))
    page = client.get(address).content.decode()
    fragment = client.get(
        address, headers={"HX-Request": "true", "HX-Target": "results"}
    ).content.decode()
    assert fragment.startswith('<section id="results"')
    assert fragment.strip() in page


def test_empty_lists_say_what_to_do(client, expert, project):
    assert "An admin of the project adds them." in read(client, DOCUMENTS)
    assert "They are cut from its documents." in read(client, SNIPPETS)
    client.force_login(make_member(project, Role.ADMIN))
    assert "Add web pages, Markdown or plain text" in read(client, DOCUMENTS)
    make_document(project)
    assert "No document fits" in read(client, DOCUMENTS, q="zzz")
    assert "No snippet fits" in read(client, SNIPPETS, q="zzz")


def test_one_row_and_three_take_the_same_queries(client, admin, project):
    def fill() -> Document:
        document = make_document(project, source_url=f"{URL}{Document.objects.count()}")
        make_snippet(document, state="proposed")
        make_snippet(document, settled_by=make_user(), settled_at=timezone.now())
        return document

    def queries(address: str, **query: str) -> int:
        with CaptureQueriesContext(connection) as caught:
            assert client.get(address, query).status_code == 200
        return len(caught)

    document = fill()
    pages: list[tuple[str, dict[str, str]]] = [
        (DOCUMENTS, {"q": "page", "state": "to do", "domain": "office.example", "split": "dev"}),
        (SNIPPETS, {"q": "rule", "state": "proposed", "domain": "office.example"}),
        (page_of(document), {}),
        (NUMBERS, {}),
    ]
    once = [queries(address, **query) for address, query in pages]
    fill()
    fill()
    for _ in range(2):
        make_snippet(document)
        make_document(project, source_url=document.source_url, version=Document.objects.count())
    assert [queries(address, **query) for address, query in pages] == once == [11, 9, 11, 11]


# One document -------------------------------------------------------------------------------


def test_a_document_shows_its_details_versions_and_snippets(client, expert, project):
    old = make_document(project, source_url=URL, title="Bikes", licence="OGL", language="en",
                        retrieved_on=date(2024, 5, 31))  # fmt: skip
    make_snippet(old, text="# Costs\n\nIt is **free**.", words=4, state="discarded",
                 discard_reason="no rule")  # fmt: skip
    new = make_document(project, source_url=URL, version=2)
    said = read(client, page_of(old))
    for part in (
        "The page has changed since: version 2 is the newest.",
        "Costs It is free . Discarded There is no rule in it 4 0",
        f"Source URL {URL} Language en Licence OGL Attribution “Bikes”, {URL}, "
        "retrieved on 2024-05-31 Retrieved on 31 May 2024 Split Dev",
        "To look at 0 Accepted 0 Discarded 1",
        "Version 1 , this one",
    ):
        assert part in said
    assert "The page has changed since" not in read(client, page_of(new))


def test_a_document_of_another_project_is_not_found(client, admin):
    other = make_document(make_project())
    assert [client.get(page(other)).status_code for page in (page_of, details_of)] == [404, 404]


def test_a_source_url_that_is_no_page_is_no_link(client, expert, project):
    document = make_document(project, source_url="file:///a.txt", domain="")
    assert 'href="file:' not in client.get(page_of(document)).content.decode()


def test_markup_in_titles_and_texts_is_text(client, expert, project):
    document = make_document(project, title="<script>x</script>", licence="<img src=x>")
    make_snippet(document, text="<script>x</script>")
    for page in (DOCUMENTS, SNIPPETS, page_of(document)):
        content = client.get(page).content.decode()
        assert "<script>x" not in content
        assert "<img" not in content


def test_an_admin_corrects_details_which_the_log_keeps(client, admin, project):
    document = make_document(project, source_url="file:///a.txt", domain="", title="a.txt")
    make_document(project, source_url="file:///a.txt", domain="", version=2, title="two")
    sent = {"title": "Bikes", "source_url": URL, "language": "cy", "licence": "OGL",
            "retrieved_on": "2024-05-31"}  # fmt: skip
    assert client.post(details_of(document), sent).headers["Location"] == page_of(document)
    assert list(Document.objects.order_by("version").values_list("title", "source_url", "domain")) \
        == [("Bikes", URL, "office.example"), ("two", URL, "office.example")]  # fmt: skip
    event = AuditEvent.objects.get(action="correct")
    assert (event.actor, event.details["changes"]) == (admin, {
        "title": ["a.txt", "Bikes"], "language": ["", "cy"], "licence": ["", "OGL"],
        "retrieved_on": ["", "2024-05-31"], "source_url": ["file:///a.txt", URL],
    })  # fmt: skip

    client.post(details_of(document), sent)
    assert AuditEvent.objects.filter(action="correct").count() == 1


def test_details_that_do_not_fit_come_back_with_what_was_typed(client, admin, project):
    document = make_document(project, source_url=URL)
    make_document(project, source_url=f"{URL}/2")
    said = read_refused(client, details_of(document), source_url=f"{URL}/2", title="Mine")
    assert "Another document of this project has this source URL." in said
    said = read_refused(client, details_of(document), source_url="office.example", title="Mine")
    assert "is no source URL" in said
    assert AuditEvent.objects.count() == 0


def read_refused(client, address: str, **data: Any) -> str:
    response = client.post(address, data)
    assert response.status_code == 200
    for typed in data.values():
        assert not isinstance(typed, str) or typed in response.content.decode()
    return words_of_main(response.content.decode())


# Numbers ------------------------------------------------------------------------------------


def test_the_numbers(client, expert, project):
    ada = make_user(name="Ada")
    first = make_document(project, domain="a.example")
    make_document(project, domain="a.example")
    now = timezone.now()
    for minutes in (0, 5, 10, 60):
        make_snippet(first, settled_by=ada, settled_at=now + timedelta(minutes=minutes))
    make_snippet(first, state="discarded", discard_reason="no rule", settled_by=make_user(name="B"),
                 settled_at=now)  # fmt: skip
    make_snippet(make_document(project, domain=""), state="proposed")
    make_snippet(make_document(make_project()), settled_by=ada, settled_at=now)
    said = read(client, NUMBERS)
    for part in (
        "Proposed 1 Accepted 4 Discarded 1 Merged 0",
        "There is no rule in it 1 It cannot be understood alone 0",
        "Ada 4 10 12",
        "B 1 0 not known yet",
        "a.example 2 5 0 4 1",
        "no domain 1 1 1 0 0",
    ):
        assert part in said


def test_the_numbers_of_an_empty_project(client, expert):
    said = read(client, NUMBERS)
    assert "Nobody has settled a snippet yet." in said
    assert "There are no documents yet." in said


def test_only_the_largest_domains_are_shown(client, expert, project):
    for number in range(51):
        make_document(project, domain=f"{number:02}.example")
    said = read(client, NUMBERS)
    assert "The 50 largest of 51 domains are shown." in said
    assert "50.example" not in said
