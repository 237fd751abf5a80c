"""The end of a walk: nodes are made of it, or it is given back; and each submit counts once."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.projects.models import AuditEvent, Project
from apps.trees.domain.tree import Answer
from apps.trees.errors import GrowingError
from apps.trees.models import Node, Tree
from apps.trees.services.paths import return_path, submit_path
from apps.trees.services.walks import Walk, agree, ask, give_final_answer
from apps.workers.models import Assignment, KeptText
from apps.workers.services.leases import expire_leases
from apps.workers.services.next_work import take_work
from apps.workers.services.submits import NotTaken, Submitted
from tests.factories import make_tree
from tests.trees.services.growing import (
    LATE,
    NOW,
    SOON,
    finish,
    grown,
    make_questions,
    nothing_for,
    places,
    states_of,
    take,
    turn,
    walk,
    worker_of,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_questions(max_depth=3)


def send(lease: Assignment, key: str = "k", now=NOW) -> Submitted | NotTaken:
    return submit_path(lease, key=key, now=now)


def test_the_turns_become_nodes_of_the_worker_and_the_lease_ends(project):
    worker = worker_of(project)
    lease = take(project, worker)
    step = ask(lease, position=0, text="Are you?", span=(2, 6), now=NOW)
    answered = finish(lease, Answer.NO, SOON)
    tree = Tree.objects.get()
    assert places(tree) == [("", "Are you?"), (step.answer[0].lower(), "No")]
    assert answered.outcome == {"turns": 1, "answer": "No", "tree_state": "growing"}
    root = tree.nodes.get(parent=None)
    assert (root.created_by, root.assignment, root.created_at) == (worker, lease, NOW)
    assert (root.span_start, root.span_end) == (2, 6)
    lease.refresh_from_db()
    assert (lease.state, lease.ended_at) == ("submitted", SOON)
    assert states_of(lease) == [" -> leased", "leased -> submitted"]
    event = AuditEvent.objects.get(action="submit path")
    assert (event.actor, event.object_id, event.details) == (worker, str(tree.pk), {"turns": 1})


def test_the_last_path_finishes_the_tree_and_work_below_a_new_node_opens_it(project):
    tree, _ = grown(project, "One?")
    assert tree.state == "growing"
    answered = walk_all(project)
    tree.refresh_from_db()
    assert (tree.state, answered) == ("finished", 1)
    assert states_of(tree)[-1] == "growing -> finished"


def walk_all(project: Project) -> int:
    """Everybody answers at once; how many it took."""
    count = 0
    while (lease := take_work(project, worker=worker_of(project), now=NOW)) is not None:
        walk(lease)
        count += 1
    return count


def test_a_tree_may_be_a_single_final_answer(project):
    finish(take(project), Answer.NO)
    tree = Tree.objects.get()
    assert (places(tree), tree.state) == ([("", "No")], "finished")


def test_the_branches_that_a_walk_did_not_take_are_open_at_once_and_others_are_not(project):
    """Case 6: the lease ends in the transaction of the submit."""
    grown(project, "One?", "Two?", "Three?")
    assert walk_all(project) == 3
    assert Node.objects.live().count() == 7


def test_a_path_without_a_final_answer_is_not_taken_and_the_lease_goes_on(project):
    """Case 24."""
    lease = take(project)
    for _ in range(2):
        with pytest.raises(GrowingError) as refusal:
            send(lease)
        assert refusal.value.code == "path_not_ended"
        turn(lease, f"Is it {Walk(lease).position}?")
    lease.refresh_from_db()
    assert lease.state == "leased"
    assert not Node.objects.exists()


def test_the_same_submit_twice_counts_once_and_answers_the_same(project):
    """Case 16."""
    lease = take(project)
    turn(lease)
    answered = finish(lease)
    assert submit_path(lease, key=f"key {lease.pk}", now=LATE) == answered
    assert Node.objects.count() == 2
    assert not KeptText.objects.exists()


def test_another_submit_of_the_same_path_is_kept_and_not_taken(project):
    lease = take(project)
    turn(lease, "Are you?")
    finish(lease)
    late = send(lease, "another window")
    assert isinstance(late, NotTaken)
    assert (late.again, late.kept.reason) == (None, "submitted")
    assert late.kept.content["turn 1"].startswith("Are you?")


@pytest.mark.parametrize("seen", [True, False])
def test_a_submit_after_the_lease_ran_out_gets_the_walk_again_as_it_stood(project, seen):
    """Case 18."""
    lease = take(project)
    answer = turn(lease, "Are you?")
    give_final_answer(lease, position=1, answer=Answer.NO, now=NOW)
    Assignment.objects.update(draft={"text": "Is"}, draft_version=4)
    lease.refresh_from_db()
    if seen:
        expire_leases(LATE)
    late = send(lease, now=LATE)
    assert isinstance(late, NotTaken)
    assert late.kept.content == {"turn 1": f"Are you? {answer}", "turn 2": "No"}
    assert late.again is not None
    again = Assignment.objects.get(pk=late.again.pk)
    assert (again.state, again.draft) == ("leased", {"text": "Is"})
    assert [step.text for step in Walk(again).steps] == ["Are you?", ""]
    assert isinstance(send(again, now=LATE), Submitted)
    assert Node.objects.count() == 2


def test_a_late_submit_sent_twice_gets_one_walk_again(project):
    lease = take(project)
    turn(lease)
    answers = [send(lease, now=LATE), send(lease, now=LATE)]
    leases = {answer.again for answer in answers if isinstance(answer, NotTaken)}
    assert len(leases) == 1
    assert None not in leases
    assert Assignment.objects.leased().get().path_steps.count() == 1


def test_a_submit_after_another_has_the_branch_only_keeps_the_text(project):
    lease = take(project)
    turn(lease, "Are you?")
    give_final_answer(lease, position=1, answer=Answer.YES, now=NOW)
    other = take(project, now=LATE)
    late = send(lease, now=LATE)
    assert isinstance(late, NotTaken)
    assert (late.again, other.part) == (None, "root")
    walk(other, now=LATE)
    late = send(lease, now=LATE)
    assert isinstance(late, NotTaken)
    assert late.again is None
    assert Node.objects.count() == 1


def test_a_branch_that_was_continued_in_another_way_ends_the_work_and_keeps_the_turns(project):
    """Nodes that an import or an expert wrote there, not a lease."""
    lease = take(project)
    turn(lease, "Are you?")
    give_final_answer(lease, position=1, answer=Answer.YES, now=NOW)
    Node.objects.create(tree_id=lease.work_id, kind="answer", answer="No")
    with pytest.raises(GrowingError) as refusal:
        send(lease)
    assert refusal.value.code == "branch_gone"
    lease.refresh_from_db()
    assert lease.state == "released"
    assert sorted(KeptText.objects.get().content) == ["turn 1", "turn 2"]
    late = send(lease)
    assert isinstance(late, NotTaken)
    assert late.again is None
    assert Node.objects.count() == 1


# Giving back


def test_what_was_given_back_is_open_for_others_and_never_again_for_the_worker(project):
    """Cases 5 and 9."""
    worker = worker_of(project)
    lease = take(project, worker)
    answer = turn(lease, "Are you?")
    assert return_path(lease, reason="too hard", now=SOON)
    assert not return_path(lease, reason="too hard", now=SOON)
    lease.refresh_from_db()
    assert (lease.state, lease.return_reason) == ("returned", "too hard")
    assert states_of(lease) == [" -> leased", "leased -> returned"]
    kept = KeptText.objects.get()
    assert (kept.reason, kept.content) == ("returned", {"turn 1": f"Are you? {answer}"})
    assert nothing_for(project, worker)
    other = take(project)
    assert (other.part, other.round, other.work_id) == ("root", 0, lease.work_id)


def test_giving_back_a_walk_without_a_turn_keeps_no_text(project):
    assert return_path(take(project), reason="", now=NOW)
    assert not KeptText.objects.exists()


def test_a_submit_of_what_was_given_back_is_kept(project):
    lease = take(project)
    turn(lease, "Are you?")
    return_path(lease, reason="", now=NOW)
    late = send(lease)
    assert isinstance(late, NotTaken)
    assert late.again is None


# Queries


def deep_tree(project: Project) -> None:
    tree = make_tree(project)
    root = Node.objects.create(tree=tree, kind="question", text="One?")
    Node.at(tree, root, "yes", kind="answer", answer="Yes").save()


def test_submitting_takes_a_constant_number_of_queries(project):
    numbers = set()
    Project.objects.update(active_trees=100)
    for trees in (1, 2, 47):
        for _ in range(trees):
            deep_tree(project)
        lease = take(project)
        if Walk(lease).needs_check:
            agree(lease, now=NOW)
        give_final_answer(lease, position=0, answer=Answer.YES, now=NOW)
        with CaptureQueriesContext(connection) as queries:
            send(lease)
        numbers.add(len(queries))
    assert len(numbers) == 1
    assert max(numbers) <= 40
