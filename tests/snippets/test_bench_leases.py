"""Each document is on one expert's bench, and what was typed there comes back."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.snippets.errors import DocumentTakenError, NotOnYourBenchError, SnippetChangedError
from apps.snippets.models import Document, Snippet
from apps.snippets.services import bench
from apps.snippets.services.bench_leases import (
    document_in_hand,
    given_back,
    lease_on,
    put_down,
    take,
    take_next,
)
from apps.workers.models import Assignment
from apps.workers.services.leases import expire_leases
from apps.workers.services.submits import save_draft
from tests.factories import make_document, make_member, make_project
from tests.snippets.bench import LATER, NOW, make_bench

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def ada(project) -> User:
    return make_member(project, Role.EXPERT)


@pytest.fixture
def ben(project) -> User:
    return make_member(project, Role.EXPERT)


def next_for(expert: User, project: Project, now: Any = NOW) -> Document | None:
    return take_next(project, expert=expert, now=now)


def accept_all(document: Document, expert: User, now: Any = NOW) -> None:
    bench.accept_all(document, expert=expert, now=now)


def put_down_for(document: Document, expert: User, now: Any = NOW) -> bool:
    return put_down(document, expert=expert, reason="", now=now)


# Who gets what


def test_documents_are_handed_out_in_order_each_to_one_expert(project, ada, ben):
    first, second = make_bench(project, "One."), make_bench(project, "Two.")
    make_document(project)  # without snippets
    assert [next_for(one, project) for one in (ada, ben)] == [first, second]
    assert next_for(make_member(project, Role.EXPERT), project) is None


def test_the_document_in_hand_comes_before_another(project, ada):
    first, _ = make_bench(project, "One."), make_bench(project, "Two.")
    assert [next_for(ada, project), next_for(ada, project)] == [first, first]
    assert Assignment.objects.count() == 1


def test_a_started_document_comes_first(project, ada, ben):
    make_bench(project, "One.")
    started = make_bench(project, "Two.", "Three.")
    take(started, expert=ben, now=NOW)
    snippet = started.snippets.on_bench()[0]
    bench.accept(snippet, seen=snippet.fingerprint, expert=ben, now=NOW)
    put_down_for(started, ben)
    assert next_for(ada, project) == started


def test_a_document_of_another_project_is_not_handed_out(project, ada):
    make_bench(make_project(), "One.")
    assert next_for(ada, project) is None


def test_a_document_whose_snippets_are_settled_is_submitted_and_not_handed_out(project, ada, ben):
    document = make_bench(project, "One.", "Two.")
    next_for(ada, project)
    accept_all(document, ada)
    assert put_down_for(document, ada) is True
    lease = Assignment.objects.get()
    assert (lease.state, lease.outcome) == ("submitted", {"accepted": 2, "discarded": 0})
    assert [next_for(ada, project), next_for(ben, project)] == [None, None]


def test_a_document_with_a_snippet_that_was_sent_back_is_new_work_for_anybody(project, ada, ben):
    document = make_bench(project, "One.")
    for number, expert in enumerate([ada, ada, ben]):
        assert next_for(expert, project) == document
        accept_all(document, expert)
        put_down_for(document, expert)
        assert Assignment.objects.latest("pk").round == number
        document.snippets.update(state=Snippet.State.PROPOSED, sent_back_note="No rule")


def test_a_document_that_was_given_back_goes_to_somebody_else(project, ada, ben):
    document, other = make_bench(project, "One."), make_bench(project, "Two.")
    next_for(ada, project)
    assert put_down(document, expert=ada, reason="Not my field", now=NOW) is False
    lease = Assignment.objects.get()
    assert (lease.state, lease.return_reason) == ("returned", "Not my field")
    assert given_back(project, ada) == [document]
    assert [next_for(ada, project), next_for(ben, project)] == [other, document]
    assert given_back(project, ada) == []


def test_a_document_that_was_given_back_can_be_taken_again_by_asking_for_it(project, ada):
    document = make_bench(project, "One.")
    next_for(ada, project)
    put_down_for(document, ada)
    assert next_for(ada, project) is None
    take(document, expert=ada, now=NOW)
    assert document_in_hand(project, expert=ada, now=NOW) == document


def test_a_document_that_somebody_has_cannot_be_taken(project, ada, ben):
    document = make_bench(project, "One.")
    take(document, expert=ada, now=NOW)
    with pytest.raises(DocumentTakenError, match=f"{ada} is at work on this document now"):
        take(document, expert=ben, now=NOW)
    held = lease_on(document, NOW)
    assert held is not None
    assert held.worker == ada
    assert take(document, expert=ada, now=NOW) == held


def test_a_settled_document_can_be_taken_to_reopen_what_is_in_it(project, ada):
    document = make_bench(project, "One.")
    next_for(ada, project)
    accept_all(document, ada)
    put_down_for(document, ada)
    take(document, expert=ada, now=NOW)
    bench.undo(document, expert=ada, now=NOW)
    assert document.snippets.get().state == "proposed"


def test_of_a_page_only_the_newest_version_is_handed_out(project, ada, ben):
    url = "https://office.example/page"
    older = make_bench(project, "One.", source_url=url)
    next_for(ada, project)
    newest = make_bench(project, "Two.", source_url=url, version=2)
    make_bench(make_project(), "Three.", source_url=url, version=3)
    assert next_for(ada, project) == older  # in hand already
    put_down_for(older, ada)
    assert given_back(project, ada) == []
    assert [next_for(ben, project), next_for(ada, project)] == [newest, None]
    assert take(older, expert=ada, now=NOW).work_id == older.pk


def test_a_newer_version_takes_precedence_when_all_in_it_is_settled(project, ada):
    url = "https://office.example/page"
    make_bench(project, "One.", source_url=url)
    newest = make_bench(project, "Two.", source_url=url, version=2)
    newest.snippets.update(state=Snippet.State.ACCEPTED)
    assert next_for(ada, project) is None


# Time


def test_a_step_begins_the_time_anew(project, ada):
    document = make_bench(project, "One.", "Two.")
    next_for(ada, project)
    later = NOW + timedelta(minutes=59)
    accept_all(document, ada, now=later)
    assert Assignment.objects.get().expires_at == later + timedelta(minutes=60)


def test_a_document_whose_time_is_over_is_free_without_a_visit(project, ada, ben):
    document = make_bench(project, "One.")
    next_for(ada, project)
    assert expire_leases(LATER) == 1
    assert next_for(ben, project, LATER) == document


def test_a_step_after_the_time_is_over_takes_the_document_again_if_it_is_free(project, ada):
    document = make_bench(project, "One.")
    next_for(ada, project)
    accept_all(document, ada, now=LATER)
    assert document.snippets.get().state == "accepted"
    assert list(Assignment.objects.order_by("pk").values_list("state", "worker")) == [
        ("expired", ada.pk), ("leased", ada.pk),
    ]  # fmt: skip


def test_a_step_after_somebody_else_has_taken_the_document_is_refused(project, ada, ben):
    document = make_bench(project, "One.")
    next_for(ada, project)
    next_for(ben, project, LATER)
    with pytest.raises(DocumentTakenError):
        accept_all(document, ada, now=LATER)
    assert document.snippets.get().state == "proposed"


def test_a_document_that_an_admin_took_back_is_not_taken_again_by_a_step(project, ada):
    document = make_bench(project, "One.")
    next_for(ada, project)
    Assignment.objects.update(state="released", ended_at=NOW)
    with pytest.raises(NotOnYourBenchError):
        accept_all(document, ada)


def test_putting_down_a_document_twice_says_that_it_is_not_there(project, ada):
    document = make_bench(project, "One.")
    next_for(ada, project)
    put_down_for(document, ada)
    with pytest.raises(NotOnYourBenchError):
        put_down_for(document, ada)


def test_what_was_typed_before_the_time_was_over_comes_back_with_the_document(project, ada, ben):
    document = make_bench(project, "One.")
    next_for(ada, project)
    lease = Assignment.objects.get()
    save_draft(lease.pk, worker=ada, version=3, content={"text": "Half a sent"}, now=NOW)
    take(document, expert=ben, now=LATER)
    put_down_for(document, ben, LATER)
    again = take(document, expert=ada, now=LATER)
    assert (again.draft, again.draft_version, again.draft_saved_at) == (
        {"text": "Half a sent"}, 3, NOW,
    )  # fmt: skip


# Several at once


def in_threads(work: Any, people: list[User]) -> list[Any]:
    def one(person: User) -> Any:
        try:
            return work(person)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(people)) as pool:
        return list(pool.map(one, people))


@pytest.mark.django_db(transaction=True)
def test_twenty_experts_at_once_get_five_documents_each_once():
    project = make_project()
    documents = [make_bench(project, f"Text {number}.") for number in range(5)]
    experts = [make_member(project, Role.EXPERT) for _ in range(20)]
    taken = in_threads(lambda expert: next_for(expert, project), experts)
    assert sorted(one.pk for one in taken if one) == [one.pk for one in documents]


@pytest.mark.django_db(transaction=True)
def test_twenty_clicks_of_one_expert_take_one_document():
    project = make_project()
    first, _ = make_bench(project, "One."), make_bench(project, "Two.")
    ada = make_member(project, Role.EXPERT)
    assert in_threads(lambda expert: next_for(expert, project), [ada] * 20) == [first] * 20
    assert Assignment.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_experts_who_give_back_and_take_at_once_never_have_one_document():
    project = make_project()
    document = make_bench(project, "One.")
    experts = [make_member(project, Role.EXPERT) for _ in range(6)]
    for expert in experts[:3]:
        take(document, expert=expert, now=NOW)
        put_down_for(document, expert)

    def try_to_take(expert: User) -> bool:
        try:
            take(document, expert=expert, now=NOW)
        except DocumentTakenError:
            return False
        return True

    assert sorted(in_threads(try_to_take, experts)) == [False] * 5 + [True]
    assert Assignment.objects.leased().count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_double_click_on_accept_counts_once():
    project = make_project()
    document = make_bench(project, "One.", "Two.")
    ada = make_member(project, Role.EXPERT)
    take(document, expert=ada, now=NOW)
    snippet = document.snippets.on_bench()[0]
    seen = snippet.fingerprint

    def click(expert: User) -> str:
        try:
            bench.accept(snippet, seen=seen, expert=expert, now=NOW)
        except SnippetChangedError:
            return "changed"
        return "accepted"

    assert sorted(in_threads(click, [ada] * 8)) == ["accepted"] + ["changed"] * 7
    assert document.bench_steps.count() == 1
