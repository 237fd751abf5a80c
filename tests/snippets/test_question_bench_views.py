"""The question bench: one snippet after the other; each refusal in one clear sentence."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Guideline, Project, Role
from apps.snippets.models import Question, Snippet
from apps.workers.models import Assignment, KeptText
from tests.factories import (
    make_document,
    make_member,
    make_project,
    make_question,
    make_snippet,
    make_user,
)
from tests.pages import words, words_of_main
from tests.snippets.question_pages import (
    LIST,
    expire,
    page,
    queries_of,
    submit,
    take,
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


# The bench ---------------------------------------------------------------------------------------


def test_the_bench_shows_rule_guidelines_and_the_last_five_questions_of_the_domain(
    client, project, expert, snippet
):
    Guideline.objects.filter(project=project, step="questions").update(text="Ask *little*.")
    for number in range(6):
        asked = make_snippet(snippet.document, position=1000 + number)
        make_question(asked, text=f"Number {number}?")
    make_question(make_snippet(make_document(project)), text="Elsewhere?")
    work = take(client, expert)
    content = client.get(work_page("question_work", work)).content.decode()
    shown = words_of_main(content)
    assert "Cargo bikes You can borrow a cargo bike if you are over 18." in shown
    assert (
        "Last questions of bikes.example Number 5? Number 4? Number 3? Number 2? Number 1? Guide"
    ) in shown
    assert "Ask <em>little</em>." in content


def test_a_question_is_submitted_and_the_next_snippet_opens_in_one_post(client, expert, snippet):
    following = make_snippet(snippet.document)
    response = submit(client, take(client, expert), "  Can I\r\n borrow one? ")
    assert snippet.questions.get().text == "Can I borrow one?"
    work = Assignment.objects.leased().get()
    assert (work.work_id, response.redirect_chain) == (
        following.pk, [(work_page("question_work", work), 302)],
    )  # fmt: skip


def test_after_the_last_one_the_list_says_that_nothing_is_free(client, expert, snippet):
    response = submit(client, take(client, expert))
    assert response.redirect_chain == [(LIST, 302)]
    assert "No snippet is free for you now; what waits stands below." in words_of_main(
        response.content.decode()
    )


@pytest.mark.parametrize("text", ["", "  ", "\u3000", "\u200b", "?!", "x" * 1001, "a\0b"])
def test_a_question_without_a_word_or_too_long_comes_back_with_its_text(
    client, expert, snippet, text
):
    work = take(client, expert)
    response = submit(client, work, text)
    assert response.status_code == 200
    assert response.context["form"].errors
    assert not Question.objects.exists()
    assert Assignment.objects.get().state == "leased"
    assert "data-draft-unsaved" in response.content.decode()


def test_a_form_that_comes_back_has_what_was_typed(client, expert, snippet):
    content = submit(client, take(client, expert), "<b>?" * 300).content.decode()
    assert "&lt;b&gt;?" * 300 in content
    assert "Question: Ensure this value has at most 1000 characters" in words(content)


def test_a_saved_draft_is_in_the_field(client, expert, snippet):
    work = take(client, expert)
    Assignment.objects.update(
        draft={"text": "Can I"}, draft_version=4, draft_saved_at=work.leased_at
    )
    content = client.get(work_page("question_work", work)).content.decode()
    assert ">\nCan I</textarea>" in content
    assert 'data-draft-version="4"' in content


def test_the_reason_of_a_question_sent_back_stands_on_its_bench(client, expert, snippet):
    make_question(
        snippet, text="May I, at 17?", created_by=expert, state="sent back",
        check_note="It says too much.", checked_by=make_user(), checked_at=timezone.now(),
    )  # fmt: skip
    shown = page(client, work_page("question_work", take(client, expert)))
    assert "Your earlier question was sent back. “May I, at 17?” It says too much. " in shown


def test_skipping_needs_a_reason_and_opens_the_next(client, expert, snippet):
    following = make_snippet(snippet.document)
    work = take(client, expert)
    address = work_page("question_skip", work)
    refused = client.post(address, {"reason": " ", "text": "Can I"})
    assert "Say why you skip it." in words(refused.content.decode())
    assert ">\nCan I</textarea>" in refused.content.decode()
    client.post(address, {"reason": "Too hard.", "text": "Can I"})
    work.refresh_from_db()
    assert (work.state, work.return_reason, work.draft) == (
        "returned", "Too hard.", {"text": "Can I"},
    )  # fmt: skip
    assert Assignment.objects.leased().get().work_id == following.pk


@pytest.mark.parametrize(
    ("note", "kept"), [("", "There is no rule in it."), ("A menu.", "A menu.")]
)
def test_a_snippet_without_a_rule_is_sent_back_with_a_reason(client, expert, snippet, note, kept):
    work = take(client, expert)
    data = {"note": note, "text": "", "key": "k"}
    response = client.post(work_page("question_no_rule", work), data, follow=True)
    snippet.refresh_from_db()
    assert (snippet.state, snippet.sent_back_note) == ("proposed", kept)
    assert "The snippet is back on the snippet bench, with your reason." in words_of_main(
        response.content.decode()
    )


def test_a_reason_that_is_too_long_keeps_the_question_in_the_field(client, expert, snippet):
    work = take(client, expert)
    data = {"note": "x" * 501, "text": "Can I", "key": "k"}
    content = client.post(work_page("question_no_rule", work), data).content.decode()
    assert ">\nCan I</textarea>" in content
    assert "x" * 501 in content


# Work that is over -------------------------------------------------------------------------------


def test_a_submit_after_expiry_takes_the_snippet_again_with_the_text_in_the_field(
    client, expert, snippet
):
    work = take(client, expert)
    expire(work)
    response = submit(client, work)
    again = Assignment.objects.leased().get()
    content = response.content.decode()
    assert response.redirect_chain == [(work_page("question_work", again), 302)]
    assert (
        "The time for this work had run out. It is yours again with what you typed: submit it now."
    ) in words_of_main(content)
    assert ">\nCan I?</textarea>" in content


def test_a_submit_after_another_took_the_snippet_says_so_and_shows_the_text(
    client, project, expert, snippet
):
    work = take(client, expert)
    expire(work)
    another = Client()
    other = make_member(project, Role.EXPERT)
    another.force_login(other)
    take(another, other)
    content = submit(client, work).content.decode()
    assert "The time for this work ran out before it was submitted." in words_of_main(content)
    assert ">Can I?</textarea>" in content


def test_a_submit_from_a_second_window_says_so_and_shows_the_text(client, expert, snippet):
    work = take(client, expert)
    submit(client, work)
    content = submit(client, work, "May I?", key="second").content.decode()
    assert "You have submitted this work already, perhaps in another window." in words_of_main(
        content
    )
    assert ">May I?</textarea>" in content
    assert KeptText.objects.get().content == {"text": "May I?"}


def test_a_snippet_that_was_reopened_meanwhile_says_so_and_shows_the_text(client, expert, snippet):
    work = take(client, expert)
    Snippet.objects.update(state="proposed")
    content = submit(client, work).content.decode()
    assert "This snippet does not wait for a question any more" in words_of_main(content)
    assert ">Can I?</textarea>" in content


def test_the_page_of_a_lease_that_ran_out_shows_the_draft_and_offers_to_take_it_again(
    client, expert, snippet
):
    work = take(client, expert)
    Assignment.objects.update(draft={"text": "Can I"})
    expire(work)
    content = client.get(work_page("question_work", work)).content.decode()
    assert ">Can I</textarea>" in content
    address = reverse("snippets:question_take", args=["bikes", snippet.pk])
    assert f'action="{address}"' in content
    client.post(address)
    assert Assignment.objects.leased().get().work_id == snippet.pk


def test_a_snippet_that_somebody_has_is_not_taken_and_says_so(client, project, expert, snippet):
    take(client, expert)
    client.force_login(make_member(project, Role.EXPERT))
    address = reverse("snippets:question_take", args=["bikes", snippet.pk])
    response = client.post(address, follow=True)
    assert "This snippet is not free" in words_of_main(response.content.decode())


# Hints -------------------------------------------------------------------------------------------


def hints(client: Client, work: Assignment, text: str, **more: object) -> list[str]:
    response = client.post(work_page("question_hints", work), {"text": text, **more})
    assert response.status_code == 200
    return [words(part) for part in response.content.decode().split("<p>")[1:]]


def test_hints_say_what_to_think_about(client, expert, snippet):
    work = take(client, expert)
    assert hints(client, work, "Can I get a bike?") == []
    assert hints(client, work, "") == []
    assert hints(client, work, "Who pays") == [
        "There is no question mark. Dismiss : There is no question mark.",
        "Yes or No cannot answer a question that begins with who "
        "Dismiss : Yes or No cannot answer a question that begins with",
    ]


def test_hints_find_the_same_question_however_it_is_spelt_and_close_ones(
    client, project, expert, snippet
):
    work = take(client, expert)
    existing = make_question(
        make_snippet(make_document(project)), text="Can I borrow a cargo bike, today?"
    )
    (same,) = hints(client, work, "can i BORROW a cargo bike today?")
    assert same.startswith(
        "The same question is there already: Can I borrow a cargo bike, today? See it"
    )
    (close,) = hints(client, work, "May I borrow a cargo bike today, and keep it?")
    assert close.startswith("Close to a question that is there already: Can I borrow a cargo bike")
    address = reverse("snippets:question", args=["bikes", existing.pk])
    data = {"text": existing.text}
    assert address in client.post(work_page("question_hints", work), data).content.decode()


def test_a_question_of_another_project_is_never_shown(client, expert, snippet):
    work = take(client, expert)
    make_question(make_snippet(make_document(make_project())), text="Can I borrow a cargo bike?")
    assert hints(client, work, "Can I borrow a cargo bike?") == []


def test_the_snippets_own_older_questions_are_no_hint(client, expert, snippet):
    make_question(snippet, text="Can I get a bike?", state="replaced")
    assert hints(client, take(client, expert), "Can I get a bike?") == []


def test_close_questions_are_found_in_japanese_too(client, project, expert):
    project.language = "ja"
    project.save()
    document = make_document(project, language="ja")
    snippet = make_snippet(document, text="市内に住む方は補助を受けられます。")
    make_question(make_snippet(document), text="保育料の補助を受けられますか?")
    work = take(client, expert)
    assert work.work_id == snippet.pk
    (close,) = hints(client, work, "私は保育料の補助を受けられますか?")
    assert close.startswith(
        "Close to a question that is there already: 保育料の補助を受けられますか?"
    )


def test_a_dismissed_hint_stays_away(client, expert, snippet):
    work = take(client, expert)
    response = client.post(work_page("question_hints", work), {"text": "Who pays"})
    first = response.context["hints"][0].key
    assert len(hints(client, work, "Who pays", dismissed=first)) == 1


def test_hints_take_the_same_queries_at_one_question_and_at_many(client, project, expert, snippet):
    work = take(client, expert)
    document = make_document(project)
    counts = []
    for more in (1, 2, 200):
        for _ in range(more):
            make_question(make_snippet(document), text="Can I borrow a cargo bike today?")
        counts.append(queries_of(client, work_page("question_hints", work), {"text": "cargo bike"}))
    assert counts == [7, 7, 7]
