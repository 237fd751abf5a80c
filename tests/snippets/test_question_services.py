"""First questions: each waiting snippet to one expert, each question taken once, nothing lost."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.projects.models import AuditEvent, Project, Role
from apps.snippets.errors import (
    SnippetNotWaitingError,
)
from apps.snippets.fields import sha1_of_folded
from apps.snippets.models import Question, Snippet
from apps.snippets.services.questions import (
    send_snippet_back,
    skip,
    take_question,
    take_question_on,
    waiting_snippets,
)
from apps.workers.models import Assignment, KeptText
from apps.workers.services.submits import NotTaken, Submitted
from tests.factories import (
    make_document,
    make_member,
    make_project,
    make_question,
    make_snippet,
)
from tests.snippets.question_work import LATER, NOW, take, texts_by_state, write

pytestmark = pytest.mark.django_db

State = Question.State


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def expert(project) -> User:
    return make_member(project, Role.EXPERT)


@pytest.fixture
def other(project) -> User:
    return make_member(project, Role.EXPERT)


@pytest.fixture
def snippet(project) -> Snippet:
    return make_snippet(make_document(project))


# Handing out


def test_accepted_snippets_without_a_question_wait_in_document_order(project, expert):
    first, second = make_document(project), make_document(project)
    late = make_snippet(second, position=1)
    middle = make_snippet(first, position=2)
    early = make_snippet(first, position=1)
    for state in ("proposed", "merged"):
        make_snippet(first, state=state)
    make_snippet(first, state="discarded", discard_reason="no rule")
    for state in ("accepted", "proposed"):
        make_question(make_snippet(first), state=state)
    again = make_snippet(second, position=2)
    make_question(again, state="replaced")
    make_question(again, state="sent back", check_note="No.")
    make_snippet(make_document(make_project()))
    assert list(waiting_snippets(project, expert=expert)) == [early, middle, late, again]
    assert take(project, expert).work_id == early.pk


def test_who_belongs_to_no_project_or_is_a_worker_gets_nothing(project, snippet):
    for person in (make_member(make_project(), Role.ADMIN), make_member(project, Role.WORKER)):
        assert take_question(project, expert=person, now=NOW) is None
        assert take_question_on(snippet, expert=person, now=NOW) is None


def test_two_experts_never_get_the_same_snippet(project, expert, other, snippet):
    take(project, expert)
    assert take_question(project, expert=other, now=NOW) is None
    assert take_question_on(snippet, expert=other, now=NOW) is None


def test_asking_again_gives_the_work_that_is_in_hand(project, expert, snippet):
    make_snippet(snippet.document)
    assert take(project, expert) == take(project, expert)
    assert Assignment.objects.count() == 1


def test_work_in_hand_that_waits_no_longer_is_passed_over(project, expert, snippet):
    other_snippet = make_snippet(snippet.document)
    take(project, expert)
    Snippet.objects.filter(pk=snippet.pk).update(state="proposed")
    assert take(project, expert).work_id == other_snippet.pk


def test_an_expired_lease_is_for_the_next_who_asks(project, expert, other, snippet):
    take(project, expert)
    assert take(project, other, LATER).work_id == snippet.pk


def test_a_skipped_snippet_comes_back_to_others_only_also_as_new_work(
    project, expert, other, snippet
):
    work = take(project, expert)
    assert skip(work, reason="Too hard.", draft={"text": ""}, now=NOW)
    work.refresh_from_db()
    assert (work.state, work.return_reason, work.draft) == ("returned", "Too hard.", {})
    assert take_question(project, expert=expert, now=NOW) is None
    assert isinstance(write(take(project, other)), Submitted)
    snippet.questions.update(state="sent back", check_note="No.")
    assert take_question(project, expert=expert, now=NOW) is None
    assert take(project, other).round == 1


def test_what_was_typed_before_skipping_stays_with_the_work(project, expert, snippet):
    work = take(project, expert)
    skip(work, reason="Too hard.", draft={"text": "Can I"}, now=NOW)
    work.refresh_from_db()
    assert (work.draft, work.draft_version, work.draft_saved_at) == ({"text": "Can I"}, 1, NOW)


@pytest.mark.parametrize("text", ["", "Can I"])
def test_a_skip_that_is_sent_twice_counts_once(project, expert, snippet, text):
    work = take(project, expert)
    sent = [skip(work, reason="Too hard.", draft={"text": text}, now=NOW) for _ in "ab"]
    assert sent == [True, True]
    assert not KeptText.objects.exists()
    assert not skip(work, reason="Another.", draft={"text": "Or not?"}, now=NOW)
    assert KeptText.objects.get().content == {"text": "Or not?"}


def test_what_was_typed_before_skipping_too_late_is_kept(project, expert, other, snippet):
    work = take(project, expert)
    take(project, other, LATER)
    assert not skip(work, reason="Too hard.", draft={"text": "Can I"}, now=LATER)
    assert KeptText.objects.get().content == {"text": "Can I"}


@pytest.mark.django_db(transaction=True)
def test_twenty_experts_at_once_get_five_snippets_each_once():
    project = make_project()
    snippets = [make_snippet(make_document(project)) for _ in range(5)]

    def ask(expert: User) -> int | None:
        try:
            work = take_question(project, expert=expert, now=NOW)
            return None if work is None else work.work_id
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        got = list(pool.map(ask, [make_member(project, Role.EXPERT) for _ in range(20)]))
    assert sorted(key for key in got if key) == sorted(one.pk for one in snippets)
    assert got.count(None) == 15


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("this_snippet", [False, True])
def test_two_clicks_at_once_take_one_snippet_and_lead_to_it(this_snippet):
    project = make_project()
    expert = make_member(project, Role.EXPERT)
    first, *_ = (make_snippet(make_document(project)) for _ in range(8))
    address = (
        reverse("snippets:question_take", args=[project.slug, first.pk])
        if this_snippet
        else reverse("snippets:question_next", args=[project.slug])
    )
    clients = [Client() for _ in range(8)]
    for one in clients:
        one.force_login(expert)

    def click(one: Client) -> str:
        try:
            return one.post(address).headers["Location"]
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        led_to = set(pool.map(click, clients))
    work = Assignment.objects.get()
    assert work.work_id == first.pk
    assert led_to == {reverse("snippets:question_work", args=[project.slug, work.pk])}


# Submitting


def test_a_question_is_accepted_at_once_with_its_author_and_work(project, expert, snippet):
    work = take(project, expert)
    answer = write(work, "Can I join?")
    question = snippet.questions.get()
    assert answer == Submitted(
        {"question": question.pk, "state": "accepted", "text": "Can I join?"}
    )
    assert (question.text, question.state) == ("Can I join?", "accepted")
    assert (question.created_by, question.assignment, question.job) == (expert, work, None)
    assert question.folded_sha1 == sha1_of_folded("can i join")
    assert AuditEvent.objects.filter(
        action="write question", actor=expert, object_id=question.pk, project=project
    ).exists()


def test_questions_of_an_import_are_found_by_their_fold_too(snippet):
    Question.objects.bulk_create([Question(snippet=snippet, text="Can I JOIN, today?")])
    assert Question.objects.filter(folded_sha1=sha1_of_folded("Can I join today")).exists()


def test_a_double_submit_counts_once_and_answers_the_same(project, expert, snippet):
    work = take(project, expert)
    assert write(work) == write(work)
    assert texts_by_state(snippet) == [("Can I?", "accepted")]
    assert not KeptText.objects.exists()


def test_another_text_under_the_same_key_is_kept_and_told(project, expert, snippet):
    work = take(project, expert)
    write(work)
    late = write(work, "May I?")
    assert isinstance(late, NotTaken)
    assert (late.kept.content, late.kept.reason) == ({"text": "May I?"}, "submitted")
    assert texts_by_state(snippet) == [("Can I?", "accepted")]


def test_a_second_window_with_its_own_key_is_not_taken(project, expert, snippet):
    work = take(project, expert)
    write(work)
    late = write(work, "May I?", key="second window")
    assert isinstance(late, NotTaken)
    assert (late.kept.content, late.again) == ({"text": "May I?"}, None)


def test_after_expiry_the_same_snippet_is_taken_again_with_the_text(project, expert, snippet):
    late = write(take(project, expert), now=LATER)
    assert isinstance(late, NotTaken)
    assert late.again is not None
    assert late.again.draft == {"text": "Can I?"}
    assert isinstance(write(late.again, now=LATER), Submitted)


def test_after_expiry_a_snippet_that_another_has_taken_stays_with_them(
    project, expert, other, snippet
):
    work = take(project, expert)
    theirs = take(project, other, LATER)
    late = write(work, now=LATER)
    assert isinstance(late, NotTaken)
    assert late.again is None
    assert isinstance(write(theirs, "May I?", now=LATER), Submitted)
    assert texts_by_state(snippet) == [("May I?", "accepted")]


@pytest.mark.parametrize("change", ["reopened", "asked", "deleted"])
def test_a_snippet_that_waits_no_longer_takes_no_question_and_keeps_the_text(
    project, expert, snippet, change
):
    work = take(project, expert)
    if change == "reopened":
        Snippet.objects.update(state="proposed")
    elif change == "asked":
        make_question(snippet, text="May I?")
    else:
        snippet.delete()
    with pytest.raises(SnippetNotWaitingError):
        write(work)
    work.refresh_from_db()
    assert (work.state, KeptText.objects.get().content) == ("released", {"text": "Can I?"})
    assert not Question.objects.filter(text="Can I?").exists()


def test_a_late_submit_does_not_take_a_snippet_again_that_waits_for_nobody(
    project, expert, snippet
):
    work = take(project, expert)
    Snippet.objects.update(state="proposed")
    late = write(work, now=LATER)
    assert isinstance(late, NotTaken)
    assert (late.kept.content, late.again) == ({"text": "Can I?"}, None)
    assert not Assignment.objects.leased().exists()


@pytest.mark.django_db(transaction=True)
def test_a_question_submitted_by_ten_clicks_at_once_is_there_once():
    project = make_project()
    snippet = make_snippet(make_document(project))
    work = take(project, make_member(project, Role.EXPERT))

    def click(_: int) -> object:
        try:
            return write(work)
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(click, range(10)))
    assert answers == answers[:1] * 10
    assert texts_by_state(snippet) == [("Can I?", "accepted")]


# No rule


def test_a_snippet_without_a_rule_goes_back_to_its_bench_with_the_reason(project, expert, snippet):
    Snippet.objects.update(settled_at=NOW, settled_by=expert)
    work = take(project, expert)
    answer = send_snippet_back(work, note="A heading only.", text="", key="k", now=NOW)
    assert answer == Submitted({"sent_back": snippet.pk, "text": ""})
    snippet.refresh_from_db()
    assert (snippet.state, snippet.sent_back_note) == ("proposed", "A heading only.")
    assert (snippet.settled_at, snippet.settled_by) == (None, None)
    event = AuditEvent.objects.get(action="send snippet back")
    assert (event.actor, event.object_id, event.details) == (
        expert, str(snippet.pk), {"note": "A heading only."},
    )  # fmt: skip


def test_what_was_typed_before_sending_back_goes_with_it_and_counts_once(project, expert, snippet):
    work = take(project, expert)
    sent = [send_snippet_back(work, note="No.", text="Can I", key="k", now=NOW) for _ in "ab"]
    assert sent == [Submitted({"sent_back": snippet.pk, "text": "Can I"})] * 2
    assert not KeptText.objects.exists()


def test_accepted_again_it_is_new_work_for_everybody(project, expert, snippet):
    send_snippet_back(take(project, expert), note="No.", text="", key="k", now=NOW)
    assert take_question(project, expert=expert, now=NOW) is None
    Snippet.objects.update(state="accepted")
    work = take(project, expert)
    assert work.round == 1
    assert isinstance(write(work), Submitted)
