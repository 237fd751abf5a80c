"""Work goes to as many people as it needs and to no more; what they type is never lost."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from apps.accounts.models import User
from apps.projects.models import AuditEvent, Project
from apps.workers.errors import LeaseEndedError, NotYourWorkError, StaleDraftError
from apps.workers.models import Assignment, KeptText, Kind
from apps.workers.services.leases import (
    Work,
    expire_leases,
    lease_first,
    release_work,
    return_work,
)
from apps.workers.services.submits import NotTaken, Submitted, keep_text, save_draft, submit
from apps.workers.services.unsubmitted import texts_left
from apps.workers.tasks import expire_leases as expire_task
from tests.factories import make_project, make_user

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=61)
WORK = Work(Kind.QUESTION, 7)


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def worker() -> User:
    return make_user()


def lease(project: Project, worker: User, *works: Work, now: datetime = NOW) -> Assignment | None:
    return lease_first(works or (WORK,), project=project, worker=worker, now=now)


def must_lease(project: Project, worker: User, **options: Any) -> Assignment:
    assignment = lease(project, worker, **options)
    assert assignment is not None
    return assignment


def send(assignment: Assignment, *, key: str = "form-1", now: datetime = NOW, **content: Any):
    return submit(
        assignment.pk, worker=assignment.worker, key=key, content=content,
        take=lambda taken: {"took": content}, now=now,
    )  # fmt: skip


# Leases


def test_the_first_open_work_is_leased_until_the_projects_minutes_are_over(project, worker):
    assignment = must_lease(project, worker)
    assert (assignment.kind, assignment.work_id, assignment.state) == ("question", 7, "leased")
    assert assignment.expires_at == NOW + timedelta(minutes=60)


def test_who_comes_second_gets_the_next_work(project, worker):
    first, second = WORK, Work(Kind.QUESTION, 8)
    lease(project, make_user(), first, second)
    taken = lease(project, worker, first, second)
    assert taken is not None
    assert taken.work_id == 8


def test_no_open_work_is_none(project, worker):
    lease(project, make_user())
    assert lease(project, worker) is None
    assert lease_first([], project=project, worker=worker, now=NOW) is None


def test_work_that_needs_two_goes_to_two_and_not_to_a_third(project):
    work = Work(Kind.QUESTION, 7, needs=2)
    taken = [lease(project, make_user(), work) for _ in range(3)]
    assert [one and one.slot for one in taken] == [0, 1, None]


def test_nobody_gets_one_piece_of_work_twice_not_even_after_returning_it(project, worker):
    """Case 9."""
    work = Work(Kind.QUESTION, 7, needs=2)
    assignment = must_lease(project, worker)
    assert lease(project, worker, work) is None
    assert return_work(assignment, reason="too hard", now=NOW)
    assert lease(project, worker, work) is None
    assert lease(project, make_user(), work) is not None


def test_work_that_was_opened_again_is_new_work(project, worker):
    send(must_lease(project, worker))
    assert lease(project, worker, Work(Kind.QUESTION, 7, round=1)) is not None


def test_returned_expired_and_released_leases_free_their_slot(project, worker):
    """Case 5."""
    admin = make_user()
    for end in (
        lambda one: return_work(one, reason="", now=NOW),
        lambda one: expire_leases(LATER),
        lambda one: release_work(one, actor=admin, now=NOW),
    ):
        assignment = must_lease(project, make_user())
        assert end(assignment)
        assert not end(assignment)
    assert lease(project, worker) is not None
    assert AuditEvent.objects.filter(action="release work", actor=admin).count() == 1


def test_an_expired_lease_is_free_for_the_next_who_asks_without_a_visit_of_its_owner(
    project, worker
):
    """Case 3."""
    old = must_lease(project, make_user())
    assert lease(project, worker, now=LATER) is not None
    old.refresh_from_db()
    assert (old.state, old.ended_at) == ("expired", LATER)


def test_the_periodic_task_expires_what_is_overdue_and_nothing_else(project, worker):
    """Case 3."""
    overdue = must_lease(project, worker)
    running = Assignment.objects.create(
        project=project, worker=worker, kind=Kind.QUESTION, work_id=8,
        leased_at=NOW, expires_at=datetime.now(UTC) + timedelta(hours=1),
    )  # fmt: skip
    assert expire_task() == 1
    overdue.refresh_from_db()
    running.refresh_from_db()
    assert (overdue.state, running.state) == ("expired", "leased")


@pytest.mark.parametrize(
    "fields",
    [
        {"slot": 0},  # somebody has it
        {"slot": 1, "same_worker": True},
        {"work_id": 9, "expires_at": NOW},
        {"work_id": 9, "state": "returned"},
        {"work_id": 9, "state": "submitted", "ended_at": NOW},
    ],
)
def test_the_database_itself_refuses_what_must_not_be(project, worker, fields):
    must_lease(project, worker)
    somebody = worker if fields.pop("same_worker", False) else make_user()
    base = {"kind": Kind.QUESTION, "work_id": 7, "leased_at": NOW, "expires_at": LATER}
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(project=project, worker=somebody, **{**base, **fields})


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("needs", [1, 3])
def test_fifty_people_at_once_get_exactly_the_open_slots(needs):
    """Case 1."""
    project = make_project()
    work = Work(Kind.QUESTION, 7, needs=needs)

    def ask(worker: User) -> int | None:
        try:
            assignment = lease(project, worker, work)
            return None if assignment is None else assignment.slot
        finally:
            connection.close()

    with ThreadPoolExecutor(25) as pool:
        slots = list(pool.map(ask, [make_user() for _ in range(50)]))
    assert sorted(slot for slot in slots if slot is not None) == list(range(needs))
    assert Assignment.objects.count() == needs


# Drafts


def draft(assignment: Assignment, version: int, text: str, now: datetime = NOW) -> None:
    save_draft(
        assignment.pk, worker=assignment.worker, version=version, content={"text": text}, now=now
    )


def test_a_newer_draft_replaces_an_older_one(project, worker):
    assignment = must_lease(project, worker)
    draft(assignment, 1, "Can")
    draft(assignment, 3, "Can I")
    assignment.refresh_from_db()
    assert (assignment.draft, assignment.draft_version) == ({"text": "Can I"}, 3)
    assert assignment.draft_saved_at == NOW


def test_an_older_draft_is_refused_and_kept_aside(project, worker):
    """Case 12."""
    assignment = must_lease(project, worker)
    draft(assignment, 3, "Can I")
    with pytest.raises(StaleDraftError) as refusal:
        draft(assignment, 2, "Could we")
    assert (refusal.value.version, refusal.value.content) == (3, {"text": "Can I"})
    assignment.refresh_from_db()
    assert assignment.draft == {"text": "Can I"}
    kept = KeptText.objects.get()
    assert (kept.content, kept.reason) == ({"text": "Could we"}, "stale draft")


def test_the_same_draft_sent_again_is_no_conflict(project, worker):
    assignment = must_lease(project, worker)
    draft(assignment, 1, "Can")
    draft(assignment, 1, "Can")
    assert not KeptText.objects.exists()


def test_a_draft_after_the_submit_changes_nothing_and_is_kept(project, worker):
    """Case 12."""
    assignment = must_lease(project, worker)
    draft(assignment, 1, "Can I?")
    send(assignment, text="Can I?")
    with pytest.raises(LeaseEndedError):
        draft(assignment, 2, "Can I? And")
    assignment.refresh_from_db()
    assert (assignment.state, assignment.draft) == ("submitted", {"text": "Can I?"})
    assert KeptText.objects.get().reason == "lease ended"


def test_a_draft_of_somebody_elses_work_is_refused_and_not_kept(project, worker):
    assignment = must_lease(project, worker)
    with pytest.raises(NotYourWorkError):
        save_draft(assignment.pk, worker=make_user(), version=1, content={}, now=NOW)
    assert not KeptText.objects.exists()


# Submits


def test_a_submit_ends_the_lease_and_says_what_came_of_it(project, worker):
    assignment = must_lease(project, worker)
    assert send(assignment, text="Can I?") == Submitted({"took": {"text": "Can I?"}})
    assignment.refresh_from_db()
    assert (assignment.state, assignment.ended_at) == ("submitted", NOW)


def test_the_same_submit_twice_counts_once_and_answers_the_same(project, worker):
    assignment = must_lease(project, worker)
    first = send(assignment, text="Can I?")
    again = submit(
        assignment.pk, worker=worker, key="form-1", content={"text": "Can I?"},
        take=lambda taken: pytest.fail("taken twice"), now=LATER,
    )  # fmt: skip
    assert again == first


def test_another_submit_of_submitted_work_is_kept_and_not_taken(project, worker):
    assignment = must_lease(project, worker)
    send(assignment, text="Can I?")
    late = send(assignment, key="form-2", text="May I?")
    assert isinstance(late, NotTaken)
    assert (late.kept.content, late.kept.reason, late.again) == (
        {"text": "May I?"}, "submitted", None,
    )  # fmt: skip


def test_a_submit_after_expiry_keeps_the_text_and_takes_the_work_again(project, worker):
    """Case 18."""
    assignment = must_lease(project, worker)
    late = send(assignment, now=LATER, text="Can I?")
    assert isinstance(late, NotTaken)
    assert late.kept.content == {"text": "Can I?"}
    assert late.again is not None
    assert (late.again.draft, late.again.state) == ({"text": "Can I?"}, "leased")
    assignment.refresh_from_db()
    assert assignment.state == "expired"
    assert isinstance(send(late.again, now=LATER, text="Can I?"), Submitted)


def test_what_was_submitted_after_all_or_is_only_a_choice_is_not_among_the_texts_left(
    project, worker
):
    """What the first, late submit held is submitted with the second lease."""
    assignment = must_lease(project, worker)
    draft(assignment, 1, "Can I?")
    late = NOW + timedelta(hours=2)
    again = send(assignment, now=late, text="Can I?").again
    mine = Assignment.objects.filter(worker=worker)
    assert texts_left(mine, now=late) == []  # it stands in the field
    send(again, now=late, text="Can I?")
    for content in ({"verdict": "wrong"}, {"text": "And I?"}):
        keep_text(again, KeptText.Reason.SUBMITTED, content, late)
    assert [one.texts for one in texts_left(mine, now=late)] == [["And I?"]]


def test_a_submit_after_expiry_of_work_that_another_has_taken_only_keeps_the_text(project, worker):
    assignment = must_lease(project, worker)
    lease(project, make_user(), now=LATER)
    late = send(assignment, now=LATER, text="Can I?")
    assert isinstance(late, NotTaken)
    assert (late.kept.content, late.again) == ({"text": "Can I?"}, None)


def test_a_submit_of_returned_work_is_kept_and_the_work_stays_returned(project, worker):
    assignment = must_lease(project, worker)
    return_work(assignment, reason="too hard", now=NOW)
    late = send(assignment, text="Can I?")
    assert isinstance(late, NotTaken)
    assert late.again is None


def test_a_submit_that_fails_writes_nothing_and_the_lease_goes_on(project, worker):
    assignment = must_lease(project, worker)

    def fail(taken: Assignment) -> dict[str, Any]:
        make_user("half-written")
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        submit(assignment.pk, worker=worker, key="k", content={}, take=fail, now=NOW)
    assignment.refresh_from_db()
    assert assignment.state == "leased"
    assert not User.objects.filter(username="half-written").exists()


def test_somebody_elses_work_cannot_be_submitted(project, worker):
    assignment = must_lease(project, worker)
    with pytest.raises(NotYourWorkError):
        submit(assignment.pk, worker=make_user(), key="k", content={}, take=lambda one: {}, now=NOW)


@pytest.mark.django_db(transaction=True)
def test_a_double_click_of_twenty_threads_counts_once():
    """Case 16."""
    project, worker = make_project(), make_user()
    assignment = must_lease(project, worker)
    taken: list[int] = []

    def take(one: Assignment) -> dict[str, Any]:
        taken.append(one.pk)
        return {"number": len(taken)}

    def click(_: int) -> Any:
        try:
            return submit(
                assignment.pk, worker=worker, key="form-1", content={},
                take=take, now=NOW,
            )  # fmt: skip
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(click, range(20)))
    assert answers == [Submitted({"number": 1})] * 20
    assert taken == [assignment.pk]
