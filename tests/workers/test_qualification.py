"""Who has passed gets the work, who has not does not, and a try counts once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import IntegrityError, connection, transaction

from apps.accounts.models import User
from apps.projects.models import AuditEvent, Membership, Project, Role
from apps.trees.domain.tree import Answer
from apps.trees.models import Node
from apps.trees.services.paths import submit_path
from apps.trees.services.walks import give_final_answer, undo
from apps.workers.errors import LeaseEndedError, NotAMemberError, NotToBeTakenError, UnansweredError
from apps.workers.models import (
    Assignment,
    Kind,
    Qualification,
    QualificationAnswer,
    QualificationAttempt,
    QualificationQuestion,
    QualificationTest,
)
from apps.workers.services.attempts import begin_attempt, keep_answers, submit_attempt
from apps.workers.services.next_work import take_another
from apps.workers.services.qualification import (
    barred_kinds,
    give_by_hand,
    revoke,
    save_settings,
    settings_of,
    standing,
)
from apps.workers.services.qualification_tests import (
    begin_draft,
    change_question,
    discard_draft,
    publish,
)
from apps.workers.services.submits import NotTaken
from tests.factories import make_member, make_user
from tests.trees.path_work import growing_tree
from tests.trees.services.growing import LATE, make_questions, nothing_for, take, turn, walk
from tests.workers.qualifying import (
    DAY,
    MORE,
    NO,
    NOW,
    RIGHT,
    YES,
    answer,
    make_test,
    need_it,
    try_it,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """Three first questions wait; paths need the qualification."""
    project = make_questions(3, max_depth=2)
    make_test(project)
    need_it(project)
    return project


@pytest.fixture
def worker(project) -> User:
    return make_member(project, Role.WORKER)


def code(project: Project, worker: User, now=NOW) -> str:
    return standing(project, worker=worker, now=now).code


# What work needs it -------------------------------------------------------------------------------


def test_without_the_qualification_there_is_no_such_work_and_with_it_there_is(project, worker):
    assert barred_kinds(project, worker=worker, now=NOW) == {Kind.PATH}
    assert nothing_for(project, worker)
    assert take_another(project, worker=worker, now=NOW) is None
    assert try_it(project, worker).passed
    assert take(project, worker).kind == Kind.PATH
    assert take_another(project, worker=worker, now=NOW) is not None


def test_experts_admins_and_projects_that_want_none_are_as_before(project):
    for role in (Role.EXPERT, Role.ADMIN):
        assert take(project, make_member(project, role))
    other = make_questions(1)
    make_test(other)
    assert take(other).kind == Kind.PATH


def test_only_the_kinds_that_need_it_are_kept_back(project):
    tree = growing_tree(project, rejection_votes=2, rejection_voters=3)
    Node.objects.filter(tree=tree).update(disputed_at=NOW)
    assert take(project).kind == Kind.NODE_CHECK
    need_it(project, for_paths=False, for_node_checks=True)
    assert take(project).kind == Kind.PATH


def test_who_lost_it_does_not_take_work_again_whose_time_ran_out(project, worker):
    try_it(project, worker)
    lease = take(project, worker)
    turn(lease, "One?")
    revoke(project.memberships.get(user=worker), actor=make_user(), now=NOW)
    give_final_answer(lease, position=1, answer=Answer.YES, now=NOW)  # in hand, it may be finished

    with pytest.raises(LeaseEndedError):
        undo(lease, position=1, now=LATE)
    late = submit_path(lease, key="k", now=LATE)

    assert isinstance(late, NotTaken)
    assert late.again is None
    assert [text.split("?")[0] for text in late.kept.content.values()] == ["One", "Yes"]
    assert not Assignment.objects.leased().exists()


def test_it_expires_and_work_that_was_taken_before_counts(project, worker):
    need_it(project, expiry_days=1)
    try_it(project, worker)
    before = NOW + DAY - timedelta(minutes=1)
    lease = take(project, worker, before)
    after = NOW + DAY
    assert code(project, worker, after) == "expired"
    walk(lease, now=after)
    lease.refresh_from_db()
    assert (lease.state, Node.objects.filter(assignment=lease).count()) == ("submitted", 1)
    assert nothing_for(project, worker, after)
    assert try_it(project, worker, now=after).passed
    assert take(project, worker, after)
    states = Qualification.objects.filter(worker=worker).values_list("state", flat=True)
    assert list(states) == ["replaced", "held"]


# Tries --------------------------------------------------------------------------------------------


def test_tries_are_limited_and_wait_for_each_other(project, worker):
    assert code(project, worker) == "not taken"
    failed = try_it(project, worker, YES, NO)
    assert (failed.passed, failed.right, failed.asked) == (False, 1, 2)
    assert code(project, worker) == "waiting"
    with pytest.raises(NotToBeTakenError, match="try again later"):
        begin_attempt(project, worker=worker, now=NOW + DAY - timedelta(seconds=1))
    assert code(project, worker, NOW + DAY) == "failed"
    assert try_it(project, worker, NO, NO, now=NOW + DAY).number == 2
    with pytest.raises(NotToBeTakenError, match="no tries are left"):
        begin_attempt(project, worker=worker, now=NOW + 9 * DAY)
    assert nothing_for(project, worker, NOW + 9 * DAY)


def test_the_pass_mark_is_that_of_the_beginning(project, worker):
    need_it(project, pass_mark=50)
    attempt = begin_attempt(project, worker=worker, now=NOW)
    need_it(project, pass_mark=100)
    assert submit_attempt(attempt, answer(attempt, YES, NO), key="k", now=NOW).passed


def test_a_try_is_on_the_version_that_the_person_saw(project, worker):
    attempt = begin_attempt(project, worker=worker, now=NOW)
    expert = make_user()
    draft = begin_draft(project, actor=expert, now=NOW)
    question = draft.questions.get(position=1)
    change_question(question, question="Other words?", answer_class=NO)
    new = publish(project, actor=expert, now=NOW)
    assert begin_attempt(project, worker=worker, now=NOW) == attempt
    assert [one.question for one in attempt.test.questions.all()] == [
        "Can I borrow bike 0?", "Can I borrow bike 1?",
    ]  # fmt: skip
    assert submit_attempt(attempt, answer(attempt, *RIGHT), key="k", now=NOW).passed
    later = begin_attempt(project, worker=make_member(project, Role.WORKER), now=NOW)
    assert (later.test, later.test.number) == (new, 2)
    assert later.test.questions.get(position=1).answer_class == NO
    assert not begin_draft(project, actor=expert, now=NOW).questions.filter(pk=question.pk)
    discard_draft(project)
    assert QualificationTest.objects.filter(project=project).count() == 2


def test_case_25_a_question_without_an_answer_is_not_stored_as_one(project, worker):
    attempt = begin_attempt(project, worker=worker, now=NOW)
    first = attempt.test.questions.get(position=1).pk
    keep_answers(attempt, {first: YES})
    with pytest.raises(UnansweredError):
        submit_attempt(attempt, {first: YES}, key="k", now=NOW)
    attempt.refresh_from_db()
    assert (attempt.submitted_at, attempt.draft) == (None, {str(first): "yes"})
    assert not QualificationAnswer.objects.exists()


def test_strangers_take_no_test(project):
    with pytest.raises(NotAMemberError):
        begin_attempt(project, worker=make_user(), now=NOW)


# At the same moment -------------------------------------------------------------------------------


def _at_once(*acts):
    barrier = Barrier(len(acts))

    def run(act):
        try:
            barrier.wait()
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return [done.result() for done in [pool.submit(run, act) for act in acts]]


@pytest.mark.django_db(transaction=True)
def test_case_16_of_two_submits_at_once_one_counts_and_of_two_clicks_one_begins(project, worker):
    begun = _at_once(*[lambda: begin_attempt(project, worker=worker, now=NOW)] * 4)
    (attempt,) = QualificationAttempt.objects.all()
    assert {one.pk for one in begun} == {attempt.pk}
    ways = [answer(attempt, *RIGHT), answer(attempt, NO, NO)] * 2
    told = _at_once(
        *(
            lambda key=key, way=way: submit_attempt(attempt, way, key=str(key), now=NOW)
            for key, way in enumerate(ways)
        )
    )
    attempt.refresh_from_db()
    assert {(one.submit_key, one.passed) for one in told} == {(attempt.submit_key, attempt.passed)}
    assert QualificationAnswer.objects.count() == 2
    assert Qualification.objects.count() == int(bool(attempt.passed))


# What the database forbids ------------------------------------------------------------------------


def refused(name: str, write) -> None:
    with pytest.raises(IntegrityError) as refusal, transaction.atomic():
        write()
    if connection.vendor == "postgresql" or "UNIQUE" not in str(refusal.value):
        assert name in str(refusal.value)


def test_the_database_forbids_what_must_not_be(project, worker):
    test = QualificationTest.objects.get()
    fields = {"project": project, "worker": worker, "test": test, "began_at": NOW, "pass_mark": 100}
    attempts = QualificationAttempt.objects
    attempts.create(**fields, number=1)
    refused("qualification_attempt_one_open", lambda: attempts.create(**fields, number=2))
    done = {"submitted_at": NOW, "submit_key": "k", "passed": False}
    refused("attempt_number_once", lambda: attempts.create(**fields, number=1, **done))
    refused("submitted_whole", lambda: attempts.update(submitted_at=NOW))
    refused("right_of_asked", lambda: attempts.update(right=2, asked=1))
    member = Membership.objects.get(user=worker)
    held = give_by_hand(member, actor=make_user(), now=NOW)
    again = {"project": project, "worker": worker, "given_at": NOW, "expires_at": NOW + DAY}
    create = Qualification.objects.create
    refused("held_once", lambda: create(**again, given_by=worker))
    refused("by_test_or_by_hand", lambda: create(**again, state="revoked"))
    refused(
        "expires_later", lambda: Qualification.objects.filter(pk=held.pk).update(expires_at=NOW)
    )
    refused("one_in_use", lambda: QualificationTest.objects.create(
        project=project, number=9, state="published", published_at=NOW
    ))  # fmt: skip


def test_the_database_keeps_a_published_test_as_it_is(project):
    test = QualificationTest.objects.get()
    questions, frozen = QualificationQuestion.objects.filter(test=test), "a published test stays"
    refused(frozen, lambda: questions.update(question="Other words?"))
    refused(frozen, lambda: test.questions.create(
        position=9, rule_text="R", question="Q?", answer_class=MORE, explanation="E"
    ))  # fmt: skip


# By hand ------------------------------------------------------------------------------------------


def test_an_admin_gives_it_and_takes_it_back_and_the_log_says_so(project, worker):
    admin, member = make_member(project, Role.ADMIN), Membership.objects.get(user=worker)
    give_by_hand(member, actor=admin, now=NOW)
    assert code(project, worker) == "qualified"
    lease = take(project, worker)
    assert revoke(member, actor=admin, now=NOW)
    assert not revoke(member, actor=admin, now=NOW)
    assert code(project, worker) == "revoked"
    with pytest.raises(NotToBeTakenError, match="took your qualification back"):
        begin_attempt(project, worker=worker, now=NOW)
    walk(lease, now=NOW)
    assert nothing_for(project, worker)
    give_by_hand(member, actor=admin, now=NOW)
    assert take(project, worker)
    log = AuditEvent.objects.filter(action__endswith="qualification").order_by("pk")
    assert [(one.action, one.actor, one.details["user"]) for one in log] == [
        (f"{what} qualification", admin, worker.pk) for what in ("give", "revoke", "give")
    ]  # fmt: skip


def test_whoever_lost_it_does_not_get_it_back_by_a_test_that_was_begun_before(project, worker):
    attempt = begin_attempt(project, worker=worker, now=NOW)
    admin, member = make_member(project, Role.ADMIN), Membership.objects.get(user=worker)
    give_by_hand(member, actor=admin, now=NOW)
    revoke(member, actor=admin, now=NOW)
    for act in (
        lambda: begin_attempt(project, worker=worker, now=NOW),
        lambda: submit_attempt(attempt, answer(attempt, *RIGHT), key="k", now=NOW),
    ):
        with pytest.raises(NotToBeTakenError, match="took your qualification back"):
            act()
    give_by_hand(member, actor=admin, now=NOW)
    assert submit_attempt(attempt, answer(attempt, *RIGHT), key="k", now=NOW).passed


def test_tries_from_before_a_qualification_count_no_more(project, worker):
    need_it(project, most_tries=1, waiting_hours=0, expiry_days=1)
    try_it(project, worker, NO, NO)
    assert code(project, worker) == "no tries left"
    give_by_hand(Membership.objects.get(user=worker), actor=make_user(), now=NOW + DAY)
    assert code(project, worker, NOW + 2 * DAY) == "expired"


def test_settings_are_saved_with_what_changed(project):
    admin, wanted = make_member(project, Role.ADMIN), settings_of(project)
    assert not save_settings(wanted, actor=admin)
    wanted.pass_mark = 80
    assert save_settings(wanted, actor=admin)
    assert AuditEvent.objects.get(actor=admin).details["changes"] == {"pass_mark": [100, 80]}
    fresh = settings_of(make_questions())
    fresh.most_tries = 9
    assert save_settings(fresh, actor=admin)
    assert settings_of(fresh.project).most_tries == 9
