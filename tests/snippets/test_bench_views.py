"""The pages of the snippet bench: who sees what, and at which cost."""

import html
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Job, Project, Role
from apps.snippets.domain.extraction import Format
from apps.snippets.models import Document, NearDuplicate, Snippet
from apps.snippets.services import bench
from apps.snippets.services.bench_leases import take
from apps.snippets.services.ingest import Details, ingest_document
from apps.snippets.services.questions import send_snippet_back, take_question_on
from apps.workers.models import Assignment
from tests.conftest import SHARED_DATA
from tests.factories import make_document, make_member, make_project, make_snippet
from tests.pages import words_of_main
from tests.snippets.bench import address, do, make_bench, nth, page_of

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
TEXTS = ("# One\n\nThe first. It has more.", "The second.", "The third.")


@pytest.fixture
def project() -> Project:
    return make_project("housing", name="Housing rules")


@pytest.fixture
def ada(project, client) -> User:
    ada = make_member(project, Role.EXPERT)
    client.force_login(ada)
    return ada


@pytest.fixture
def document(project) -> Document:
    return make_bench(project, *TEXTS, title="Rules of the house", licence="CC0")


@pytest.fixture
def taken(document: Document, ada) -> Document:
    take(document, expert=ada, now=timezone.now())
    return document


# Where one begins


def test_the_start_says_how_much_waits_and_hands_out_the_next(client, ada, document, project):
    start = reverse("snippets:bench_list", args=["housing"])
    assert "1 document waits With 3 snippets" in words_of_main(client.get(start).content.decode())
    response = client.post(reverse("snippets:bench_next", args=["housing"]))
    assert response.url == address("bench", document)
    assert "In your hands Rules of the house" in words_of_main(client.get(start).content.decode())
    assert Job.objects.get().kind == "near-duplicates"


def test_nothing_left_is_said(client, ada, project):
    response = client.post(reverse("snippets:bench_next", args=["housing"]), follow=True)
    words = words_of_main(response.content.decode())
    assert "No document waits for you: all are settled or in other hands." in words
    assert "No snippet waits for anybody." in words


def test_a_document_given_back_is_listed_to_be_taken_again(client, ada, taken, project):
    response = client.post(address("bench_leave", taken), {"reason": "Not my field"}, follow=True)
    words = words_of_main(response.content.decode())
    assert "Given back for somebody else: Rules of the house." in words
    assert "Given back by you These wait for somebody else." in words
    assert Assignment.objects.get().return_reason == "Not my field"


# One document


def test_the_document_stands_beside_its_snippets(client, taken):
    page = page_of(client, taken)
    words = words_of_main(page)
    assert "Rules of the house office.example · CC0" in words
    assert "3 snippets · 0 accepted · 0 discarded · 3 to settle" in words
    assert "1 One The first. It has more. 2 The second. 3 The third. Snippets Snippet 1" in words
    keys = [row.pk for row in taken.snippets.on_bench()]
    for key in keys:
        assert page.count(f'data-of="{key}"') == 1
    assert page.count('aria-current="true"') - page.count('<li><a aria-current="true"') >= 1


def test_what_the_address_asks_for_is_in_focus(client, taken):
    second = nth(taken, 2)
    assert f'name="from" value="{second.pk}"' in page_of(client, taken, snippet=second.pk)


@pytest.mark.parametrize("asked", ["0", "-1", "x", "9" * 30, "²", ""])
def test_a_snippet_that_is_not_there_is_the_first_one(client, taken, asked):
    assert f'name="from" value="{nth(taken, 1).pk}"' in page_of(client, taken, snippet=asked)


def test_a_document_without_a_body_or_snippets_is_shown(client, ada, project):
    words = words_of_main(page_of(client, make_document(project)))
    assert "The text of this document was not loaded" in words
    assert "There is no snippet in this document." in words


def test_without_the_lease_the_page_is_to_be_read_only(client, ada, document):
    page = page_of(client, document)
    assert "Read only: nobody is at work on it. Take this document" in words_of_main(page)
    assert "bench-tools" not in page


def test_a_document_in_other_hands_says_whose_and_until_when(client, ada, document, project):
    ben = make_member(project, Role.EXPERT)
    take(document, expert=ben, now=timezone.now())
    page = page_of(client, document)
    assert f"Read only: {ben} is at work on it" in words_of_main(page)
    assert ("bench-tools" in page, "bench_take" in page) == (False, False)
    response = client.post(address("bench_take", document), follow=True)
    assert f"{ben} is at work on this document now." in words_of_main(response.content.decode())


def test_an_older_version_can_be_opened_and_says_which_is_the_newest(client, taken, project):
    newer = "not handed out any more: version 3 is the newest."
    assert newer not in words_of_main(page_of(client, taken))
    for version in (2, 3):
        newest = make_bench(project, "Other.", source_url=taken.source_url, version=version)
    page = page_of(client, taken)
    assert newer in words_of_main(page)
    assert f'<a href="{address("bench", newest)}">version 3</a>' in page
    assert "bench-tools" in page
    assert "is the newest" not in words_of_main(page_of(client, newest))


def test_a_document_that_is_free_can_be_taken(client, ada, document):
    response = client.post(address("bench_take", document), follow=True)
    assert "bench-tools" in response.content.decode()


def test_text_of_pages_is_shown_as_text(client, ada, project):
    evil = '<script>alert(1)</script> <img src=x onerror="alert(2)">'
    document = make_bench(project, evil, f"# {evil}\n\n* {evil}", title=evil)
    page = page_of(client, document)
    assert ("<script>alert" in page, "<img" in page) == (False, False)
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 4


def test_near_duplicates_are_pointed_out_with_a_link(client, taken, project):
    other = make_snippet(make_document(project, title="Another page"), text="The first one.")
    NearDuplicate.objects.create(snippet=nth(taken, 1), other=other, cosine=0.91)
    NearDuplicate.objects.create(snippet=nth(taken, 2), other=other, cosine=0.9)
    page = page_of(client, taken)
    assert "Nearly the same as The first one. 0.91 · accepted in Another page" in words_of_main(
        page
    )
    assert f"{address('bench', other.document)}?snippet={other.pk}" in page
    assert page.count(">near-duplicate<") == 1


def test_what_was_edited_is_shown_word_by_word(client, taken):
    do(client, "edit", nth(taken, 2), text="The changed second.")
    page = page_of(client, taken, snippet=nth(taken, 2).pk)
    assert "The <ins>changed </ins>second." in page


def test_limits_are_hints(client, taken, project):
    Project.objects.update(max_words=10, max_list_items=1)
    Snippet.objects.filter(pk=nth(taken, 1).pk).update(words=11, items=2)
    assert "11 words, 2 items over 10 words over 1 items" in words_of_main(page_of(client, taken))


def test_a_snippet_that_was_sent_back_says_why(client, taken):
    Snippet.objects.filter(pk=nth(taken, 1).pk).update(sent_back_note="It is a greeting")
    words = words_of_main(page_of(client, taken))
    assert "No question could be written on it: It is a greeting" in words


def test_a_question_begun_before_a_snippet_was_sent_back_is_shown_with_the_reason(
    client, ada, project
):
    document = make_bench(project, *TEXTS)
    snippet, other = nth(document, 1), nth(document, 2)
    Snippet.objects.filter(pk__in=[snippet.pk, other.pk]).update(state="accepted")
    now = timezone.now()
    for one, text in ((snippet, "Can I <b>"), (other, "")):
        work = take_question_on(one, expert=ada, now=now)
        assert work is not None
        send_snippet_back(work, note="A greeting", text=text, key="k", now=now)
    first = words_of_main(page_of(client, document, snippet=snippet.pk))
    assert "written on it: A greeting Begun, and not finished: “Can I <b>”" in html.unescape(first)
    second = words_of_main(page_of(client, document, snippet=other.pk))
    assert ("written on it: A greeting" in second, "Begun" in second) == (True, False)


# Permissions and cost


@pytest.mark.parametrize("role", [None, Role.WORKER])
def test_strangers_and_workers_find_nothing(client, document, project, role):
    client.force_login(make_member(project if role else make_project(), role or Role.ADMIN))
    start = reverse("snippets:bench_list", args=["housing"])
    posts = [address(f"bench_{name}", document) for name in ("take", "leave", "undo", "accept_all")]
    answers = [client.get(start), client.get(address("bench", document))]
    answers += [client.post(url) for url in posts]
    answers += [do(client, action, nth(document, 1)) for action in bench.FROM]
    assert {answer.status_code for answer in answers} == {404}
    assert {row.state for row in document.snippets.all()} == {"proposed"}


def test_a_snippet_is_reached_only_inside_its_document(client, taken, project):
    other = make_bench(project, "Elsewhere.")
    url = reverse("snippets:bench_accept", args=["housing", taken.pk, nth(other, 1).pk])
    assert client.post(url, {"seen": nth(other, 1).fingerprint}).status_code == 404


def queries(client: Any, document: Document, **query: Any) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(address("bench", document), query).status_code == 200
    return len(captured)


def test_the_bench_costs_the_same_queries_at_1_3_and_300_snippets(client, ada, project):
    counts = []
    for number in (1, 3, 300):
        document = make_bench(project, *(f"Text {one}." for one in range(number)))
        take(document, expert=ada, now=timezone.now())
        counts.append(queries(client, document))
    assert counts == [13, 13, 13]


def test_the_start_costs_the_same_queries_at_1_and_3_documents(client, ada, project):
    counts = []
    for number in (1, 2):
        for _ in range(number):
            make_bench(project, "One.")
        with CaptureQueriesContext(connection) as captured:
            client.get(reverse("snippets:bench_list", args=["housing"]))
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_a_page_of_400_kb_opens_with_all_its_snippets(client, ada, project):
    file = SHARED_DATA / "documents" / "spring-budget-2017.html"
    if not file.exists():
        pytest.skip(f"the real documents are not at {file.parent}")
    head, _, tail = file.read_text().rpartition("</body>")
    twice = head + head.partition("<body")[2].partition(">")[2] + tail
    assert len(twice) > 400_000
    details = Details(source_url="https://office.example/budget")
    document = ingest_document(
        project, data=twice.encode(), text_format=Format.HTML, details=details, author=ada
    ).document
    take(document, expert=ada, now=timezone.now())
    assert f"{document.snippets.count()} snippets" in words_of_main(page_of(client, document))
