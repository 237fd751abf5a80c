"""Each turn of a walk: what is taken, and what is refused by which code."""

import pytest

from apps.projects.errors import StudioError
from apps.projects.models import Project
from apps.trees.domain.simulated_user import simulated_answer
from apps.trees.domain.tree import Answer, Turn
from apps.trees.errors import GrowingError
from apps.trees.models import Cut, NodeCheck, PathStep, Tree
from apps.trees.services.cuts import take_out
from apps.trees.services.paths import return_path
from apps.trees.services.walks import Walk, agree, ask, give_final_answer, undo
from apps.workers.errors import LeaseEndedError, WorkError
from apps.workers.models import Assignment, KeptText
from apps.workers.services.leases import expire_leases, release_work
from apps.workers.services.next_work import take_work
from apps.workers.services.submits import spend_time
from tests.factories import make_user
from tests.trees.services.growing import (
    LATE,
    NOW,
    SOON,
    grown,
    make_questions,
    other_branch,
    take,
    turn,
    worker_of,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_questions(max_depth=3)


def refused(lease: Assignment, position: int, text: str, span=None, now=NOW) -> str:
    with pytest.raises(StudioError) as refusal:
        ask(lease, position=position, text=text, span=span, now=now)
    return code_of(refusal.value)


def code_of(error: StudioError) -> str:
    assert isinstance(error, GrowingError | WorkError)
    return error.code


def texts(lease: Assignment) -> list[str]:
    return [step.text or step.answer for step in lease.path_steps.standing()]


# Asking


def test_a_question_is_answered_by_the_simulated_user_of_the_tree_and_the_place(project):
    lease = take(project)
    tree = Tree.objects.get()
    first, second = turn(lease, "Are you over 18?"), turn(lease, "  Do you live here? ")
    assert first == simulated_answer(tree.seed, "")
    assert second == simulated_answer(tree.seed, first[0].lower())
    walk = Walk(lease)
    assert walk.turns() == [Turn("Are you over 18?", first), Turn("Do you live here?", second)]
    assert walk.place == (first[0] + second[0]).lower()
    assert (walk.position, walk.questions_left, walk.may_ask, walk.final) == (2, 1, True, None)
    assert not tree.nodes.exists()


def test_taking_a_question_back_and_asking_another_draws_no_other_answer(project):
    lease = take(project)
    before = turn(lease, "Are you over 18?")
    undo(lease, position=0, now=NOW)
    assert turn(lease, "Are you over 21?") == before


def test_the_same_question_sent_twice_counts_once(project):
    lease = take(project)
    steps = [ask(lease, position=0, text="Are you?", span=None, now=NOW) for _ in range(2)]
    assert steps[0] == steps[1]
    assert texts(lease) == ["Are you?"]


def test_another_question_at_a_step_that_is_gone_by_is_refused_and_kept(project):
    lease = take(project)
    turn(lease, "Are you?")
    assert refused(lease, 0, "Is it?") == "stale_page"
    assert refused(lease, 2, "Is it so?") == "stale_page"
    assert texts(lease) == ["Are you?"]
    assert [kept.content for kept in KeptText.objects.order_by("pk")] == [
        {"question": "Is it?"}, {"question": "Is it so?"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty_question"), (" \u3000\u200b", "empty_question"), ("?!", "empty_question"),
        ("yes", "looks_like_answer"), ("No.", "looks_like_answer"),
    ],
)  # fmt: skip
def test_what_is_no_question_is_refused(project, text, code):
    lease = take(project)
    assert refused(lease, 0, text) == code
    assert texts(lease) == []


def test_no_more_questions_than_the_tree_began_with(project):
    lease = take(project)
    Project.objects.update(max_depth=9)
    for text in ("One?", "Two?", "Three?"):
        turn(lease, text)
    assert not Walk(lease).may_ask
    assert refused(lease, 3, "Four?") == "depth_reached"


def test_a_tree_of_depth_one_says_so_in_good_words(project):
    Project.objects.update(max_depth=1)
    lease = take(project)
    turn(lease, "One?")
    with pytest.raises(GrowingError, match=r"at most 1 question\."):
        ask(lease, position=1, text="Two?", span=None, now=NOW)


def test_no_question_after_the_final_answer(project):
    lease = take(project)
    give_final_answer(lease, position=0, answer=Answer.YES, now=NOW)
    assert refused(lease, 1, "Is it?") == "path_ended"


def test_spans_are_in_the_rule_text_and_wanted_where_the_tree_began_with_that(project):
    Project.objects.update(spans_required=True)
    lease = take(project)
    Project.objects.update(spans_required=False)
    length = len(Tree.objects.get().question.snippet.text)
    assert refused(lease, 0, "Is it?") == "span_missing"
    for outside in ((0, length + 1), (3, 3), (-1, 2)):
        assert refused(lease, 0, "Is it?", outside) == "span_outside"
    step = ask(lease, position=0, text="Is it?", span=(0, length), now=NOW)
    assert (step.span_start, step.span_end) == (0, length)


def test_the_final_answer_can_be_changed_and_sent_twice(project):
    lease = take(project)
    for answer in (Answer.YES, Answer.NO, Answer.NO):
        give_final_answer(lease, position=0, answer=answer, now=NOW)
    assert texts(lease) == ["No"]
    final = Walk(lease).final
    assert final is not None
    assert final.answer == "No"


def test_a_final_answer_at_the_place_of_a_question_is_of_an_old_page(project):
    lease = take(project)
    turn(lease, "Are you?")
    with pytest.raises(GrowingError) as refusal:
        give_final_answer(lease, position=0, answer=Answer.YES, now=NOW)
    assert refusal.value.code == "stale_page"


# Taking back


def test_the_last_turn_can_be_taken_back_until_none_is_left(project):
    lease = take(project)
    turn(lease, "One?")
    give_final_answer(lease, position=1, answer=Answer.YES, now=NOW)
    assert undo(lease, position=1, now=NOW).is_final
    assert undo(lease, position=0, now=SOON).text == "One?"
    assert texts(lease) == []
    assert PathStep.objects.filter(undone_at__isnull=False).count() == 2


def test_one_turn_taken_back_twice_is_one(project):
    lease = take(project)
    turn(lease, "One?")
    turn(lease, "Two?")
    assert undo(lease, position=1, now=NOW).text == "Two?"
    assert undo(lease, position=1, now=NOW).text == "Two?"
    assert texts(lease) == ["One?"]


def test_taking_back_what_is_not_the_last_turn_is_refused(project):
    lease = take(project)
    with pytest.raises(GrowingError) as refusal:
        undo(lease, position=0, now=NOW)
    assert refusal.value.code == "nothing_to_undo"
    turn(lease, "One?")
    turn(lease, "Two?")
    with pytest.raises(GrowingError) as refusal:
        undo(lease, position=0, now=NOW)
    assert refusal.value.code == "stale_page"


# Turns of others


def test_a_worker_checks_the_turns_of_others_before_they_go_on(project):
    tree, nodes = grown(project, "One?", "Two?")
    lease = take(project)
    walk = Walk(lease)
    assert (walk.history[0].node.text, walk.history[0].is_own) == ("One?", False)
    assert walk.needs_check
    assert refused(lease, 0, "Is it?") == "check_first"
    agree(lease, now=NOW)
    agree(lease, now=SOON)
    assert not Walk(lease).needs_check
    checked = {turn.node for turn in walk.history}
    assert {check.node for check in NodeCheck.objects.all()} == checked
    assert {check.at for check in NodeCheck.objects.all()} == {NOW}
    turn(lease, "Is it?")
    assert nodes[0].tree == tree


def test_a_walk_takes_the_branch_that_is_open(project):
    _, (root, *_) = grown(project, "One?")
    lease = take(project)
    walk = Walk(lease)
    assert lease.part == f"{root.pk}-{other_branch(root)}"
    assert walk.start == other_branch(root)[0]
    assert walk.turns() == [Turn("One?", Answer(other_branch(root).capitalize()))]


# Leases


def test_each_turn_begins_the_time_of_the_lease_anew(project):
    lease = take(project)
    turn(lease, "One?", SOON)
    lease.refresh_from_db()
    assert (lease.expires_at - SOON).total_seconds() == project.lease_minutes * 60


@pytest.mark.parametrize("seen", [True, False])
def test_a_lease_that_ran_out_is_taken_again_with_its_turns(project, seen):
    lease = take(project)
    turn(lease, "One?")
    turn(lease, "Two?")
    undo(lease, position=1, now=NOW)
    if seen:
        expire_leases(LATE)
    step = ask(lease, position=1, text="Three?", span=None, now=LATE)
    again = step.assignment
    assert again != lease
    assert (texts(again), again.state, again.round) == (["One?", "Three?"], "leased", 0)
    lease.refresh_from_db()
    assert lease.state == "expired"


def test_a_lease_that_was_taken_again_goes_on_with_the_time_spent_on_it(project):
    lease = take(project)
    spend_time(lease, seconds=34, now=SOON)
    again = ask(lease, position=0, text="One?", span=None, now=LATE).assignment
    assert again.active_seconds == 34
    spend_time(again, seconds=40, now=LATE)
    again.refresh_from_db()
    assert again.active_seconds == 40


def test_another_window_goes_on_with_the_lease_that_was_taken_again(project):
    lease = take(project)
    steps = [ask(lease, position=0, text="One?", span=None, now=LATE) for _ in range(2)]
    assert steps[0] == steps[1]
    ask(lease, position=1, text="Two?", span=None, now=LATE)
    assert texts(steps[0].assignment) == ["One?", "Two?"]
    assert Assignment.objects.leased().count() == 1


def test_a_lease_whose_branch_another_has_taken_is_over_and_the_text_is_kept(project):
    lease = take(project)
    turn(lease, "One?")
    other = take(project, worker_of(project), LATE)
    assert other.part == lease.part
    assert refused(lease, 1, "Two?", now=LATE) == "lease_ended"
    kept = KeptText.objects.get()
    assert (kept.content, kept.reason) == ({"question": "Two?"}, "lease ended")
    with pytest.raises(LeaseEndedError):
        give_final_answer(lease, position=1, answer=Answer.YES, now=LATE)
    assert texts(lease) == ["One?"]


def test_work_that_was_given_back_or_released_is_not_taken_again(project):
    returned = take(project)
    return_path(returned, reason="too hard", now=NOW)
    assert refused(returned, 0, "One?") == "lease_ended"
    released = take(project)
    release_work(released, actor=make_user(), now=NOW)
    assert refused(released, 0, "One?") == "lease_ended"


def test_nothing_is_attached_to_what_was_taken_out_meanwhile(project):
    """Case 23."""
    tree, (root, *_) = grown(project, "One?")
    lease = take(project)
    agree(lease, now=NOW)
    take_out(root, kind=Cut.Kind.PRUNED, actor=None, reason="", now=NOW)
    assert refused(lease, 0, "Two?") == "lease_ended"
    lease.refresh_from_db()
    assert lease.state == "released"
    assert not tree.nodes.live().exists()


def test_nothing_is_attached_to_what_was_taken_out_while_the_lease_had_run_out(project):
    tree, (root, *_) = grown(project, "One?")
    lease = take(project)
    agree(lease, now=NOW)
    expire_leases(LATE)
    take_out(root, kind=Cut.Kind.PRUNED, actor=None, reason="", now=LATE)
    assert refused(lease, 0, "Two?", now=LATE) == "lease_ended"
    assert not tree.nodes.live().exists()


def test_a_worker_meets_their_walk_again_after_a_crash(project):
    """Case 10."""
    worker = worker_of(project)
    lease = take(project, worker)
    turn(lease, "One?")
    assert take_work(project, worker=worker, now=SOON) == lease
    assert texts(lease) == ["One?"]


def test_a_walk_takes_a_constant_number_of_queries(project, django_assert_num_queries):
    grown(project, "One?", "Two?", "Three?")
    for lease in (take(project), take(project), take(project)):
        with django_assert_num_queries(5):
            walk = Walk(lease)
            assert (walk.needs_check, walk.may_ask) == (True, len(walk.history) < 3)
            assert walk.turns()
