"""The other pages of first questions: checks, the list, one question; and who may see them."""

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.snippets.models import Question, Snippet
from apps.workers.models import Assignment, KeptText
from tests.factories import (
    make_document,
    make_member,
    make_project,
    make_question,
    make_snippet,
    make_tree,
    make_user,
)
from tests.pages import words, words_of_main
from tests.snippets.question_pages import (
    LIST,
    page,
    queries_of,
    take,
    take_check,
    work_page,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project("bikes")


@pytest.fixture
def expert(client, project) -> User:
    user = make_member(project, Role.EXPERT)
    client.force_login(user)
    return user


@pytest.fixture
def snippet(project) -> Snippet:
    text = "# Cargo bikes\n\nYou can borrow a cargo bike if you are over 18."
    return make_snippet(make_document(project, domain="bikes.example"), text=text)


# Strangers ---------------------------------------------------------------------------------------


def test_another_experts_work_is_not_found(client, project, expert, snippet):
    work = take(client, expert)
    client.force_login(make_member(project, Role.ADMIN))
    for name in ("question_work", "question_check"):
        assert client.get(work_page(name, work)).status_code == 404
    for name in ("question_work", "question_skip", "question_no_rule", "question_hints"):
        assert client.post(work_page(name, work), {"text": "Mine?"}).status_code == 404


def test_work_is_found_only_inside_its_project_and_kind(client, expert, snippet):
    make_member(make_project("trams"), Role.EXPERT, expert)
    work = take(client, expert)
    assert client.get(reverse("snippets:question_work", args=["trams", work.pk])).status_code == 404
    assert client.get(work_page("question_check", work)).status_code == 404


def test_who_is_no_expert_any_more_finds_nothing(client, project, expert, snippet):
    work = take(client, expert)
    project.memberships.filter(user=expert).update(role=Role.WORKER)
    assert client.get(work_page("question_work", work)).status_code == 404
    assert client.get(LIST).status_code == 404


def test_strangers_and_workers_find_no_question(client, project, snippet):
    address = reverse("snippets:question", args=["bikes", make_question(snippet).pk])
    assert client.get(address).status_code == 302
    for person in (make_user(), make_member(project, Role.WORKER)):
        client.force_login(person)
        assert (client.get(address).status_code, client.get(LIST).status_code) == (404, 404)


def test_a_snippet_of_another_project_is_not_taken(client, project, expert):
    foreign = make_snippet(make_document(make_project()))
    address = reverse("snippets:question_take", args=["bikes", foreign.pk])
    assert client.post(address).status_code == 404
    assert not Assignment.objects.exists()


# Checks ------------------------------------------------------------------------------------------


@pytest.fixture
def proposed(project, snippet) -> Question:
    author = make_member(project, Role.EXPERT)
    return make_question(snippet, state="proposed", created_by=author)


def test_a_question_is_approved_and_the_next_opens(client, project, expert, proposed):
    following = make_question(
        make_snippet(proposed.snippet.document), text="Do trams run?", state="proposed"
    )
    work = take_check(client, expert)
    shown = page(client, work_page("question_check", work))
    assert "First question Can I? Approve and next A" in shown
    client.post(work_page("question_check", work), {"key": "k"})
    proposed.refresh_from_db()
    assert (proposed.state, proposed.checked_by) == ("accepted", expert)
    assert Assignment.objects.leased().get().work_id == following.pk


def test_sending_back_needs_a_reason(client, expert, proposed):
    work = take_check(client, expert)
    address = work_page("question_send_back", work)
    for note in ("", "\u200b"):
        response = client.post(address, {"key": "k", "note": note})
        assert "what its author should change" in words(response.content.decode())
    response = client.post(address, {"key": "k", "note": "Ask for less."}, follow=True)
    proposed.refresh_from_db()
    assert (proposed.state, proposed.check_note) == ("sent back", "Ask for less.")
    assert response.redirect_chain == [(LIST, 302)]


def test_a_check_can_be_skipped_and_its_note_stays(client, expert, proposed):
    work = take_check(client, expert)
    address = work_page("check_skip", work)
    assert client.post(address, {"reason": ""}).status_code == 200
    response = client.post(address, {"reason": "Not sure.", "note": "Ask"}, follow=True)
    work.refresh_from_db()
    assert (work.state, work.draft) == ("returned", {"note": "Ask"})
    assert "No question is free for you to check now." in words_of_main(response.content.decode())


def test_a_check_that_is_over_says_why(client, expert, proposed):
    work = take_check(client, expert)
    Question.objects.update(state="replaced")
    for data in ({"key": "k"}, {"key": "k", "note": "Ask for less."}):
        name = "question_send_back" if "note" in data else "question_check"
        response = client.post(work_page(name, work), data, follow=True)
        assert response.status_code == 200
    shown = words_of_main(response.content.decode())
    assert "This work is over" in shown
    assert KeptText.objects.filter(content={"note": "Ask for less."}).exists()


# The list and one question -----------------------------------------------------------------------


def test_the_list_says_what_waits_and_why_some_is_not_free(client, project, expert, snippet):
    make_snippet(snippet.document)
    take(client, expert)
    shown = page(client, LIST)
    assert (
        "2 snippets wait for a first question, 1 of them free for you. The others are in "
        "somebody’s hands, perhaps your own, or you gave them back."
    ) in shown
    assert "To check" not in shown


def test_the_list_shows_what_was_sent_back_to_its_author_only(client, project, expert, snippet):
    checker = make_member(project, Role.EXPERT)
    make_question(
        snippet, text="May I?", created_by=expert, state="sent back", check_note="Too vague.",
        checked_by=checker, checked_at=timezone.now(),
    )  # fmt: skip
    assert f"Sent back to you May I? {checker}: Too vague. Write it anew" in page(client, LIST)
    client.force_login(checker)
    assert "Sent back to you" not in page(client, LIST)


def test_the_list_is_searched_and_filtered(client, project, expert, snippet):
    make_question(snippet, text="Can I borrow one?")
    elsewhere = make_snippet(make_document(project, domain="trams.example"), text="Trams run.")
    make_question(elsewhere, text="Do I need a ticket?", state="proposed")

    def found(**filters: str) -> list[str]:
        return [one.text for one in client.get(LIST, filters).context["page"]]

    assert found() == ["Do I need a ticket?", "Can I borrow one?"]
    assert found(q="cargo") == ["Can I borrow one?"]
    assert found(state="proposed") == ["Do I need a ticket?"]
    assert found(domain="bikes.example") == ["Can I borrow one?"]
    assert found(state="x", domain="y", q="\0", page="z") == found()


def test_htmx_gets_the_results_alone(client, expert, snippet):
    make_question(snippet)
    response = client.get(LIST, headers={"HX-Request": "true", "HX-Target": "results"})
    assert response.content.decode().startswith('<section id="results"')


def test_one_row_and_three_take_the_same_queries(client, project, expert, snippet):
    def more() -> None:
        one = make_snippet(snippet.document)
        make_question(
            one, created_by=expert, state="sent back", check_note="No.",
            checked_by=make_user(), checked_at=timezone.now(),
        )  # fmt: skip
        asked = make_snippet(snippet.document)
        make_question(asked, created_by=make_user())

    more()
    bench, listed = take(client, expert), LIST
    at_one = [
        queries_of(client, address) for address in (listed, work_page("question_work", bench))
    ]
    more()
    more()
    at_three = [
        queries_of(client, address) for address in (listed, work_page("question_work", bench))
    ]
    assert at_one == at_three


def test_a_question_is_replaced_and_the_older_one_stays_in_sight(client, expert, snippet):
    old = make_question(snippet, text="Can I?")
    address = reverse("snippets:question", args=["bikes", old.pk])
    response = client.post(address, {"text": "May I?"}, follow=True)
    shown = words_of_main(response.content.decode())
    assert "The question is replaced. The older wording is kept." in shown
    assert f"May I? Accepted {expert}" in shown
    assert "Can I? Replaced" in shown


@pytest.mark.parametrize("text", ["", "\u3000", "Can I?"])
def test_no_wording_or_the_same_one_replaces_nothing(client, expert, snippet, text):
    old = make_question(snippet, text="Can I?")
    address = reverse("snippets:question", args=["bikes", old.pk])
    assert "Not replaced. Please look at:" in words(
        client.post(address, {"text": text}).content.decode()
    )
    assert snippet.questions.get().state == "accepted"


def test_a_question_with_a_tree_says_why_it_stays_and_keeps_what_was_typed(
    client, project, expert, snippet
):
    question = make_tree(project, question=make_question(snippet)).question
    address = reverse("snippets:question", args=["bikes", question.pk])
    sentence = "A tree has begun on this question, so the question stays as it is."
    shown = client.get(address).content.decode()
    assert sentence in words(shown)
    assert "<textarea" not in shown
    refused = client.post(address, {"text": "May I?"}).content.decode()
    assert sentence in words(refused)
    assert "May I?</textarea>" in refused


def test_the_page_of_a_question_takes_the_same_queries_at_one_and_at_three(client, expert, snippet):
    question = make_question(snippet, created_by=make_user())
    address = reverse("snippets:question", args=["bikes", question.pk])
    at_one = queries_of(client, address)
    for _ in range(2):
        make_question(
            snippet, state="sent back", check_note="No.", created_by=make_user(),
            checked_by=make_user(), checked_at=timezone.now(),
        )  # fmt: skip
    assert queries_of(client, address) == at_one


def test_markup_in_texts_is_text(client, expert, snippet):
    evil = "<script>alert(1)</script>"
    question = make_question(snippet, text=evil)
    for address in (LIST, reverse("snippets:question", args=["bikes", question.pk])):
        assert "<script>alert" not in client.get(address).content.decode()
