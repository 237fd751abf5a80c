"""What each step on the snippet bench is answered with: the next snippet, or a refusal in words."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.snippets.models import Document
from apps.snippets.services.bench_leases import take
from apps.workers.models import Assignment, KeptText
from tests.factories import make_member, make_project, make_question
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


# Steps


def test_accepting_goes_on_with_the_next_to_settle(client, taken):
    response = do(client, "accept", nth(taken, 2))
    assert response.url == f"{address('bench', taken)}?snippet={nth(taken, 3).pk}"
    response = do(client, "accept", nth(taken, 3))
    assert response.url == f"{address('bench', taken)}?snippet={nth(taken, 1).pk}"


def test_to_htmx_a_step_answers_only_with_what_has_changed(client, taken):
    response = do(client, "accept", nth(taken, 1), headers=HTMX)
    page = response.content.decode()
    first, second, third = (row.pk for row in taken.snippets.on_bench())
    assert [f'id="row-{key}"' in page for key in (first, second, third)] == [True, True, False]
    assert page.count('hx-swap-oob="true"') == 3
    assert response.headers["HX-Replace-Url"] == f"{address('bench', taken)}?snippet={second}"
    assert "1 accepted" in page


def test_focus_moves_with_two_rows(client, taken):
    first, second = nth(taken, 1), nth(taken, 2)
    query = {"snippet": second.pk, "from": first.pk}
    page = client.get(address("bench", taken), query, headers=HTMX).content.decode()
    assert [f'id="row-{key.pk}"' in page for key in (first, second)] == [True, True]
    assert "<html" not in page


def rows_in(response: Any, document: Document) -> list[bool]:
    page = response.content.decode()
    return [f'id="row-{row.pk}"' in page for row in document.snippets.on_bench()]


def test_to_htmx_reopening_and_most_undos_answer_with_two_rows(client, taken):
    first, _, third = taken.snippets.on_bench()
    do(client, "accept", first)
    response = do(client, "reopen", nth(taken, 1), headers=HTMX, **{"from": first.pk})
    assert rows_in(response, taken) == [True, False, False]
    undo = address("bench_undo", taken)
    response = client.post(undo, {"from": third.pk}, headers=HTMX)
    assert rows_in(response, taken) == [True, False, True]
    assert response.headers["HX-Reswap"] == "none"
    assert response.headers["HX-Replace-Url"].endswith(f"?snippet={first.pk}")
    assert nth(taken, 1).state == "accepted"


@pytest.mark.parametrize("action", ["merge", "split", "accept_all"])
def test_to_htmx_the_undo_of_what_changed_several_rows_answers_with_all(client, taken, action):
    if action == "accept_all":
        client.post(address("bench_accept_all", taken))
        client.post(address("bench_take", taken))
    else:
        do(client, action, nth(taken, 1), at=20, repeat="context")
    response = client.post(address("bench_undo", taken), {"from": nth(taken, 1).pk}, headers=HTMX)
    assert rows_in(response, taken) == [True, True, True]
    assert response.headers["HX-Retarget"] == "#bench"


@pytest.mark.parametrize("action", ["merge", "split", "edit", "reopen"])
def test_other_steps_stay_with_the_snippet(client, taken, action):
    do(client, "accept", nth(taken, 1))
    sent: dict[str, dict[str, Any]] = {
        "split": {"at": 20, "repeat": "context"}, "edit": {"text": "New."},
    }  # fmt: skip
    response = do(client, action, nth(taken, 1), **sent.get(action, {}))
    assert response.url == f"{address('bench', taken)}?snippet={nth(taken, 1).pk}"
    seen = nth(taken, 1)
    assert {
        "merge": seen.text.endswith("\n\nThe second."),
        "split": taken.snippets.count() == 4,
        "edit": seen.text == "New.",
        "reopen": seen.state == "proposed",
    }[action]


def test_a_split_without_a_cursor_is_at_a_chosen_place(client, taken):
    place = TEXTS[0].index("It has")
    page = page_of(client, taken)
    assert f'<option value="{place}">It has more.</option>' in page
    do(client, "split", nth(taken, 1), place=place, repeat="context")
    assert [row.text for row in taken.snippets.on_bench()] == [
        "# One\n\nThe first.", "# One\n\nIt has more.", *TEXTS[1:],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("action", "sent", "words"),
    [
        ("discard", {"reason": "other"}, "Say in a few words which other reason."),
        ("discard", {"reason": "x"}, "Choose one of the reasons."),
        ("discard", {}, "Choose a reason."),
        ("split", {"repeat": "context"}, "Choose where the second half begins."),
        ("edit", {"text": " "}, "The text needs a word at least."),
    ],
)
def test_a_form_that_lacks_something_comes_back_open(client, taken, action, sent, words):
    response = do(client, action, nth(taken, 2), **sent)
    page = response.content.decode()
    assert words in words_of_main(page)
    assert f'data-tool="{action}" open' in page
    assert nth(taken, 2).state == "proposed"


def test_line_breaks_of_a_browser_are_one_character(client, taken):
    do(client, "edit", nth(taken, 2), text="One:\r\n\r\n* two\r\n* three\r\n")
    assert (nth(taken, 2).text, nth(taken, 2).items) == ("One:\n\n* two\n* three", 2)


def test_undo_goes_back_to_the_snippet(client, taken):
    do(client, "accept", nth(taken, 1))
    assert "Undo accept U" in words_of_main(page_of(client, taken))
    response = client.post(address("bench_undo", taken))
    assert response.url == f"{address('bench', taken)}?snippet={nth(taken, 1).pk}"
    response = client.post(address("bench_undo", taken))
    assert "There is no step of yours to undo" in words_of_main(response.content.decode())


def test_the_next_document_opens_by_itself_when_the_last_snippet_is_settled(client, taken, project):
    following = make_bench(project, "Another.")
    for number in (1, 2):
        do(client, "accept", nth(taken, number))
    response = do(client, "discard", nth(taken, 3), reason="no rule", headers=HTMX)
    assert response.headers["HX-Redirect"] == address("bench", following)
    words = words_of_main(page_of(client, following))
    assert "All its snippets are settled: Rules of the house." in words
    assert list(Assignment.objects.order_by("pk").values_list("state", flat=True)) == [
        "submitted", "leased",
    ]  # fmt: skip


def test_after_the_last_document_one_is_at_the_start(client, taken):
    response = client.post(address("bench_accept_all", taken))
    assert response.url == reverse("snippets:bench_list", args=["housing"])
    assert {row.state for row in taken.snippets.all()} == {"accepted"}


def test_with_a_question_on_it_a_snippet_has_no_tools(client, taken):
    do(client, "accept", nth(taken, 1))
    make_question(nth(taken, 1))
    page = page_of(client, taken, snippet=nth(taken, 1).pk)
    assert "A question stands on this snippet, so it stays as it is." in words_of_main(page)
    assert "bench-tools" not in page


# Refusals


def test_a_stale_page_gets_one_sentence_and_the_text_back(client, taken, ada):
    stale = nth(taken, 2)
    do(client, "edit", nth(taken, 2), text="Changed in another window.")
    response = do(client, "edit", stale, text="My long thoughts.", seen=stale.fingerprint)
    page = response.content.decode()
    assert "This snippet has changed since you opened the page" in words_of_main(page)
    assert "My long thoughts.</textarea>" in page
    assert 'data-tool="edit" open' in page
    assert nth(taken, 2).text == "Changed in another window."
    assert KeptText.objects.get().content == {"text": "My long thoughts."}
    fresh = nth(taken, 2)
    assert f'value="{fresh.fingerprint}"' in page


def test_a_step_on_a_snippet_that_was_merged_shows_the_bench_as_it_is(client, taken):
    gone = nth(taken, 2)
    do(client, "merge", nth(taken, 1))
    response = do(client, "edit", gone, text="My long thoughts.", headers=HTMX)
    page = response.content.decode()
    assert "This snippet has changed since you opened the page" in page
    assert '<textarea id="returned-text" rows="6" readonly dir="auto">My long thoughts.<' in page
    assert (response.headers["HX-Retarget"], response.headers["HX-Reswap"]) == (
        "#bench", "outerHTML",
    )  # fmt: skip


def test_text_that_comes_after_another_has_taken_the_document_is_kept(client, taken, ada, project):
    Assignment.objects.update(
        leased_at=timezone.now() - timedelta(hours=2),
        expires_at=timezone.now() - timedelta(hours=1),
    )
    ben = make_member(project, Role.EXPERT)
    take(taken, expert=ben, now=timezone.now())
    page = do(client, "edit", nth(taken, 1), text="My long thoughts.").content.decode()
    assert f"{ben} is at work on this document now." in words_of_main(page)
    assert 'readonly dir="auto">My long thoughts.</textarea>' in page
    assert KeptText.objects.get().assignment.worker == ada
    assert nth(taken, 1).text == TEXTS[0]


def test_text_of_somebody_who_never_had_the_document_comes_back(client, ada, document):
    page = do(client, "edit", nth(document, 1), text="My long thoughts.").content.decode()
    assert "This document is not on your bench. Take it first." in words_of_main(page)
    assert "My long thoughts.</textarea>" in page


def test_an_unfinished_edit_is_open_when_one_comes_back(client, taken):
    lease = Assignment.objects.get()
    second, third = nth(taken, 2), nth(taken, 3)
    lease.draft = {f"{second.pk}-text": "Half a sent", f"{third.pk}-text": third.text}
    lease.save()
    page = page_of(client, taken)
    assert "Half a sent</textarea>" in page
    assert 'data-tool="edit" open' in page
    assert f'<input type="hidden" name="{third.pk}-text" value="The third."' in page
    assert page_of(client, taken, snippet=third.pk).count(">unfinished edit<") == 1
    do(client, "edit", second, text="Half a sentence.")
    lease.refresh_from_db()
    assert lease.draft == {f"{third.pk}-text": third.text}
