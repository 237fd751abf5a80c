"""The steps of the snippet bench: what they change, refuse, and take back."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.accounts.models import User
from apps.projects.models import Role
from apps.snippets.domain.reshaping import Repeat
from apps.snippets.errors import (
    BenchError,
    EmptySnippetError,
    LastSnippetError,
    NothingToUndoError,
    NotInThisStateError,
    NotOnYourBenchError,
    QuestionStandsError,
    SnippetChangedError,
    UndoRefusedError,
)
from apps.snippets.models import BenchStep, Document, Question, Snippet
from apps.snippets.services import bench
from apps.snippets.services.bench_leases import put_down, take
from apps.workers.models import Assignment
from tests.factories import make_member, make_project, make_question
from tests.snippets.bench import LATER, NOW, make_bench, rows, take_now, texts

pytestmark = pytest.mark.django_db

TEXTS = ("One is here. It has more.", "Two is here.", "Three is here.")


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def ada(project) -> User:
    return make_member(project, Role.EXPERT)


@pytest.fixture
def document(project, ada) -> Document:
    document = make_bench(project, *TEXTS)
    take_now(document, ada)
    return document


def nth(document: Document, number: int) -> Snippet:
    return document.snippets.on_bench()[number - 1]


def do(step: Callable[..., Any], snippet: Snippet, expert: User, **details: Any) -> Any:
    return step(snippet, seen=snippet.fingerprint, expert=expert, now=NOW, **details)


STEPS: dict[str, Callable[..., Any]] = {
    "accept": partial(do, bench.accept),
    "discard": partial(do, bench.discard, reason="no rule", note=""),
    "edit": partial(do, bench.edit_text, text="New words."),
    "merge": partial(do, bench.merge_with_next),
    "split": partial(do, bench.split_at, at=12, repeat=Repeat.NOTHING),
}


def settled(snippet: Snippet) -> tuple[Any, ...]:
    snippet.refresh_from_db()
    return snippet.state, snippet.settled_by, snippet.settled_at


# Single steps


def test_an_accepted_snippet_says_who_and_when(document, ada):
    do(bench.accept, nth(document, 1), ada)
    assert settled(nth(document, 1)) == ("accepted", ada, NOW)
    assert settled(nth(document, 2)) == ("proposed", None, None)


def test_a_discarded_snippet_says_why_and_is_kept(document, ada):
    do(bench.discard, nth(document, 2), ada, reason="other", note="An advertisement")
    gone = nth(document, 2)
    assert settled(gone) == ("discarded", ada, NOW)
    assert (gone.text, gone.discard_reason, gone.discard_note) == (
        "Two is here.", "other", "An advertisement",
    )  # fmt: skip


def test_a_discarded_snippet_that_is_accepted_loses_its_reason(document, ada):
    do(bench.discard, nth(document, 2), ada, reason="other", note="An advertisement")
    do(bench.accept, nth(document, 2), ada)
    row = nth(document, 2)
    assert (row.state, row.discard_reason, row.discard_note) == ("accepted", "", "")


def test_a_reopened_snippet_is_to_be_settled_again(document, ada):
    do(bench.accept, nth(document, 1), ada)
    do(bench.reopen, nth(document, 1), ada)
    assert settled(nth(document, 1)) == ("proposed", None, None)


def test_an_edited_text_is_counted_anew_and_the_cut_one_stays(document, ada):
    do(bench.edit_text, nth(document, 2), ada, text="Now there are:\n\n* five\n* words")
    row = nth(document, 2)
    assert (row.text, row.cut_text) == ("Now there are:\n\n* five\n* words", "Two is here.")
    assert (row.words, row.items, row.state) == (5, 2, "proposed")


@pytest.mark.parametrize("text", ["", " \n", "\u3000", "\u200b", "* \n* !"])
def test_a_text_without_a_word_is_refused(document, ada, text):
    with pytest.raises(EmptySnippetError):
        do(bench.edit_text, nth(document, 2), ada, text=text)
    assert texts(document) == list(TEXTS)


def test_the_same_text_is_no_step(document, ada):
    do(bench.edit_text, nth(document, 2), ada, text="Two is here.")
    assert not BenchStep.objects.exists()


def test_the_next_snippet_goes_into_this_one(document, ada):
    first, second = nth(document, 1), nth(document, 2)
    do(bench.accept, first, ada)
    do(bench.merge_with_next, nth(document, 1), ada)
    first.refresh_from_db()
    assert (first.text, first.cut_text) == (f"{TEXTS[0]}\n\n{TEXTS[1]}",) * 2
    assert first.pieces == [[0, 25], [27, 39]]
    assert (first.words, *settled(first)) == (9, "proposed", None, None)
    assert settled(second) == ("merged", ada, NOW)
    assert second.text == TEXTS[1]


def test_a_discarded_snippet_is_passed_over_by_a_merge(document, ada):
    do(bench.discard, nth(document, 2), ada, reason="no rule", note="")
    do(bench.merge_with_next, nth(document, 1), ada)
    assert texts(document) == [f"{TEXTS[0]}\n\n{TEXTS[2]}", TEXTS[1]]


def test_the_last_snippet_has_nothing_to_merge_with(document, ada):
    with pytest.raises(LastSnippetError):
        do(bench.merge_with_next, nth(document, 3), ada)


def test_a_split_makes_two_snippets_that_are_both_to_be_settled(document, ada):
    do(bench.accept, nth(document, 1), ada)
    second = do(bench.split_at, nth(document, 1), ada, at=12, repeat=Repeat.NOTHING)
    assert texts(document) == ["One is here.", "It has more.", *TEXTS[1:]]
    assert [row.pieces for row in document.snippets.on_bench()[:2]] == [[[0, 12]], [[13, 25]]]
    assert {row.state for row in document.snippets.all()} == {"proposed"}
    lease = Assignment.objects.get()
    assert (second.created_by, second.created_at, second.assignment) == (ada, NOW, lease)
    assert (second.words, second.cut_text) == (3, "It has more.")


def test_a_split_without_words_on_both_sides_is_refused(document, ada):
    with pytest.raises(EmptySnippetError, match="Both halves need words of their own"):
        do(bench.split_at, nth(document, 1), ada, at=0, repeat=Repeat.CONTEXT)
    assert texts(document) == list(TEXTS)


def test_one_can_split_at_one_place_as_often_as_one_likes(document, ada):
    words = " ".join(f"{number}." for number in range(1, 15))
    do(bench.edit_text, nth(document, 1), ada, text=words)
    for number in range(14, 1, -1):
        text = nth(document, 1).text
        at = text.index(f"{number}.")
        do(bench.split_at, nth(document, 1), ada, at=at, repeat=Repeat.NOTHING)
    assert texts(document) == [*words.split(), *TEXTS[1:]]


def test_all_proposed_snippets_of_the_document_are_accepted_in_one_step(document, ada):
    do(bench.discard, nth(document, 2), ada, reason="no rule", note="")
    assert bench.accept_all(document, expert=ada, now=NOW) == 2
    assert [row.state for row in document.snippets.on_bench()] == [
        "accepted", "discarded", "accepted",
    ]  # fmt: skip
    assert BenchStep.objects.count() == 2
    assert bench.accept_all(document, expert=ada, now=NOW) == 0
    assert BenchStep.objects.count() == 2


# Refusals


@pytest.mark.parametrize("name", STEPS)
def test_a_step_on_a_stale_page_changes_nothing(document, ada, name):
    stale = nth(document, 1)
    do(bench.edit_text, nth(document, 1), ada, text="Somebody was faster. They were.")
    before = rows(document)
    with pytest.raises(SnippetChangedError):
        STEPS[name](stale, ada)
    assert rows(document) == before


@pytest.mark.parametrize("name", ["edit", "merge", "split", "discard"])
def test_a_discarded_snippet_is_reopened_first(document, ada, name):
    do(bench.discard, nth(document, 1), ada, reason="no rule", note="")
    with pytest.raises(NotInThisStateError, match="This snippet is discarded"):
        STEPS[name](nth(document, 1), ada)


@pytest.mark.parametrize("name", ["discard", "edit", "merge", "split"])
@pytest.mark.parametrize("state", ["proposed", "accepted"])
def test_a_snippet_that_a_question_stands_on_stays(document, ada, name, state):
    do(bench.accept, nth(document, 1), ada)
    make_question(nth(document, 1), state=state)
    with pytest.raises(QuestionStandsError):
        STEPS[name](nth(document, 1), ada)
    with pytest.raises(QuestionStandsError):
        do(bench.reopen, nth(document, 1), ada)
    assert nth(document, 1).state == "accepted"


def test_a_snippet_that_a_question_stands_on_is_not_merged_away(document, ada):
    do(bench.accept, nth(document, 2), ada)
    make_question(nth(document, 2))
    with pytest.raises(QuestionStandsError):
        do(bench.merge_with_next, nth(document, 1), ada)


def test_a_snippet_whose_question_was_sent_back_can_be_reopened(document, ada):
    do(bench.accept, nth(document, 1), ada)
    make_question(nth(document, 1), state=Question.State.SENT_BACK, check_note="No rule")
    do(bench.reopen, nth(document, 1), ada)
    assert nth(document, 1).state == "proposed"


@pytest.mark.parametrize("name", STEPS)
def test_nobody_changes_a_document_that_is_not_on_their_bench(document, project, name):
    before = rows(document)
    with pytest.raises(NotOnYourBenchError):
        STEPS[name](nth(document, 1), make_member(project, Role.EXPERT))
    assert rows(document) == before


# Undo


@pytest.mark.parametrize("name", STEPS)
def test_undo_restores_the_exact_former_rows(document, ada, name):
    before = rows(document)
    STEPS[name](nth(document, 1), ada)
    assert rows(document) != before
    assert bench.undo(document, expert=ada, now=NOW).action == name
    assert rows(document) == before


def test_undo_of_a_reopening_and_of_accepting_all(document, ada):
    do(bench.accept, nth(document, 1), ada)
    accepted = rows(document)
    do(bench.reopen, nth(document, 1), ada)
    bench.undo(document, expert=ada, now=NOW)
    assert rows(document) == accepted
    bench.accept_all(document, expert=ada, now=NOW)
    bench.undo(document, expert=ada, now=NOW)
    assert rows(document) == accepted


def test_there_is_nothing_to_undo_before_the_first_step_and_after_the_last_undo(document, ada):
    with pytest.raises(NothingToUndoError):
        bench.undo(document, expert=ada, now=NOW)
    do(bench.accept, nth(document, 1), ada)
    bench.undo(document, expert=ada, now=NOW)
    with pytest.raises(NothingToUndoError):
        bench.undo(document, expert=ada, now=NOW)


def test_the_last_twenty_steps_can_be_undone_and_no_more(document, ada):
    for number in range(21):
        do(bench.edit_text, nth(document, 1), ada, text=f"Text {number}.")
    for _ in range(20):
        bench.undo(document, expert=ada, now=NOW)
    with pytest.raises(NothingToUndoError):
        bench.undo(document, expert=ada, now=NOW)
    assert nth(document, 1).text == "Text 0."


def test_what_somebody_else_has_changed_since_is_not_undone(document, ada, project):
    do(bench.edit_text, nth(document, 1), ada, text="Mine.")
    other = make_member(project, Role.EXPERT)
    take(document, expert=other, now=LATER)
    changed = nth(document, 1)
    bench.accept(changed, seen=changed.fingerprint, expert=other, now=LATER)
    put_down(document, expert=other, reason="", now=LATER)
    take(document, expert=ada, now=LATER)
    with pytest.raises(UndoRefusedError, match="changed by somebody else since"):
        bench.undo(document, expert=ada, now=LATER)
    assert (nth(document, 1).text, nth(document, 1).state) == ("Mine.", "accepted")


def test_a_step_whose_snippet_is_gone_is_not_undone(document, ada):
    do(bench.merge_with_next, nth(document, 1), ada)
    document.snippets.filter(text=TEXTS[1]).delete()
    with pytest.raises(UndoRefusedError):
        bench.undo(document, expert=ada, now=NOW)


def test_steps_of_others_in_the_document_are_theirs_to_undo(document, ada, project):
    do(bench.accept, nth(document, 1), ada)
    other = make_member(project, Role.EXPERT)
    take(document, expert=other, now=LATER)
    with pytest.raises(NothingToUndoError):
        bench.undo(document, expert=other, now=LATER)


def test_an_acceptance_that_a_question_was_written_on_is_not_undone(document, ada):
    do(bench.accept, nth(document, 1), ada)
    make_question(nth(document, 1))
    with pytest.raises(QuestionStandsError):
        bench.undo(document, expert=ada, now=NOW)
    assert nth(document, 1).state == "accepted"


def test_undo_needs_the_document_on_ones_bench(document, ada):
    do(bench.accept, nth(document, 1), ada)
    put_down(document, expert=ada, reason="", now=NOW)
    with pytest.raises(NotOnYourBenchError):
        bench.undo(document, expert=ada, now=NOW)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.tuples(st.sampled_from([*STEPS, "accept all"]), st.integers(1, 3), st.integers(0, 40)),
        max_size=8,
    )
)
def test_any_steps_lose_no_word_and_are_undone_to_the_first_state(document, ada, steps):
    before = rows(document)
    for name, number, at in steps:
        try:
            if name == "accept all":
                bench.accept_all(document, expert=ada, now=NOW)
            elif name == "split":
                do(bench.split_at, nth(document, number), ada, at=at, repeat=Repeat.NOTHING)
            elif name != "edit":
                STEPS[name](nth(document, number), ada)
        except (BenchError, IndexError):
            continue
    words = "".join("".join(text.split()) for text in sorted(texts(document)))
    assert sorted(words) == sorted("".join("".join(TEXTS).split()))
    while BenchStep.objects.filter(undone_at=None).exists():
        bench.undo(document, expert=ada, now=NOW)
    assert rows(document) == before
    BenchStep.objects.all().delete()
