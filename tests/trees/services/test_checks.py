"""Rejections, and the votes that a project may want before one counts."""

from datetime import timedelta

import pytest

from apps.projects.models import Project
from apps.trees.errors import GrowingError
from apps.trees.models import Cut, Node, NodeCheck, Tree
from apps.trees.services.checks import reject_turn, vote_to_keep, vote_to_reject
from apps.trees.services.cuts import restore, take_out
from apps.trees.services.paths import return_path
from apps.trees.services.walks import Walk, agree
from apps.workers.models import Assignment, KeptText
from apps.workers.services.leases import return_work
from apps.workers.services.next_work import take_work
from apps.workers.services.submits import NotTaken, Submitted
from tests.factories import make_document, make_question, make_snippet, make_user
from tests.trees.services.growing import (
    LATE,
    NOW,
    SOON,
    WRONG,
    grown,
    make_questions,
    nothing_for,
    open_slot,
    take,
    turn,
    walk,
    worker_of,
)

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


def reject(lease: Assignment, node: Node, now=NOW) -> Submitted | NotTaken:
    return reject_turn(lease, node, WRONG, key=f"key {lease.pk}", now=now)


def refusal_of(lease: Assignment, node: Node, now=NOW) -> str:
    with pytest.raises(GrowingError) as refusal:
        reject(lease, node, now)
    return refusal.value.code


# One is enough


@pytest.fixture
def project() -> Project:
    return make_questions(max_depth=3)


def test_a_rejected_turn_goes_out_with_its_reason_and_its_branch_is_open_for_others(project):
    author, checker = worker_of(project), worker_of(project)
    tree, (_, second, _) = grown(project, "One?", "Two?", worker=author)
    lease = take(project)
    assert lease.part.split("-")[0] == str(tree.nodes.get(parent=None).pk)
    deeper = take(project, checker)
    assert deeper.part == open_slot(second)
    assert reject(deeper, second, SOON) == Submitted({"rejected": second.pk, "taken_out": True})
    second.refresh_from_db()
    assert second.cut is not None
    assert (second.cut.kind, second.cut.by) == ("rejected", checker)
    assert second.cut.reason == "It says something else than the rule text. It is 16."
    check = NodeCheck.objects.get(node=second)
    assert (check.checker, check.author, check.verdict) == (checker, author, "rejects")
    assert (check.reason, check.note, check.assignment) == ("wrong", "It is 16.", deeper)
    deeper.refresh_from_db()
    assert deeper.state == "submitted"
    assert nothing_for(project, author)
    assert take(project, checker).part == f"{second.parent_id}-{second.branch}"


def test_a_rejection_without_a_note_says_its_reason_alone(project):
    _, (root, _) = grown(project, "One?")
    lease = take(project)
    reject_turn(lease, root, type(WRONG)(NodeCheck.Reason.UNCLEAR), key="k", now=NOW)
    assert Cut.objects.get().reason == "It cannot be understood."


def test_the_same_rejection_twice_counts_once_and_answers_the_same(project):
    _, (root, _) = grown(project, "One?")
    lease = take(project)
    assert reject(lease, root) == reject(lease, root)
    assert NodeCheck.objects.count() == Cut.objects.count() == 1


def test_only_turns_of_others_on_the_path_can_be_rejected(project):
    _, (root, second, third, leaf) = grown(project, "One?", "Two?", "Three?")
    lease = take(project)
    assert lease.part == open_slot(root)
    for below in (second, third, leaf):
        assert refusal_of(lease, below) == "not_yours_to_reject"
    Node.objects.filter(pk=root.pk).update(created_by=lease.worker)
    root.refresh_from_db()
    assert refusal_of(lease, root) == "not_yours_to_reject"
    lease.refresh_from_db()
    assert (lease.state, NodeCheck.objects.count()) == ("leased", 0)


def test_at_the_root_there_is_nothing_to_reject(project):
    tree, (root, _) = grown(project, "One?")
    make_question(make_snippet(tree.question.snippet.document))
    others = [take(project), take(project)]
    assert others[1].part == "root"
    assert refusal_of(others[1], root) == "not_yours_to_reject"


def test_who_agreed_before_may_still_reject(project):
    _, (root, _) = grown(project, "One?")
    lease = take(project)
    agree(lease, now=NOW)
    assert reject(lease, root, SOON) == Submitted({"rejected": root.pk, "taken_out": True})
    assert NodeCheck.objects.get().verdict == "rejects"


def test_a_turn_that_is_out_already_ends_the_work_and_keeps_the_note(project):
    """Its nodes went out in a way that ended no lease."""
    _, (root, _) = grown(project, "One?")
    lease = take(project)
    Node.objects.filter(children=None).update(taken_out_at=NOW)
    Node.objects.update(taken_out_at=NOW)
    assert refusal_of(lease, root) == "branch_gone"
    lease.refresh_from_db()
    assert lease.state == "released"
    assert KeptText.objects.get().content == {"note": "It is 16."}


def test_a_rejection_after_the_lease_ran_out_gets_the_walk_again(project):
    """Case 18."""
    _, (root, _) = grown(project, "One?")
    lease = take(project)
    agree(lease, now=NOW)
    turn(lease, "Two?")
    late = reject(lease, root, LATE)
    assert isinstance(late, NotTaken)
    assert late.again is not None
    assert [step.text for step in Walk(late.again).steps] == ["Two?"]
    assert late.kept.content == {"note": "It is 16."}
    assert reject(late.again, root, LATE) == Submitted({"rejected": root.pk, "taken_out": True})


def test_a_rejection_after_the_branch_is_gone_takes_no_work_again(project):
    _, (root, _) = grown(project, "One?")
    lease = take(project)
    take_out(root, kind=Cut.Kind.PRUNED, actor=None, reason="", now=NOW)
    late = reject(lease, root)
    assert isinstance(late, NotTaken)
    assert late.again is None
    assert not Assignment.objects.leased().exists()


# Votes


@pytest.fixture
def voting() -> Project:
    return make_questions(max_depth=3, rejection_votes=2, rejection_voters=3)


def disputed(project: Project, now=NOW) -> tuple[Node, list[Node]]:
    """A root that one worker rejected, where that alone does not count."""
    _, nodes = grown(project, "One?", "Two?")
    lease = take(project)
    answer = reject(lease, nodes[0], now)
    assert answer == Submitted({"rejected": nodes[0].pk, "taken_out": False})
    return nodes[0], nodes


def check_of(project: Project, node: Node, now=NOW) -> Assignment:
    lease = take(project, now=now)
    assert (lease.kind, lease.work_id) == ("node check", node.pk)
    return lease


def is_disputed(node: Node) -> bool:
    node.refresh_from_db()
    return node.disputed_at is not None


def test_a_rejection_waits_for_others_and_nobody_goes_on_below_meanwhile(voting):
    root, _ = disputed(voting)
    assert is_disputed(root)
    first, second = check_of(voting, root), check_of(voting, root)
    assert (first.slot, second.slot) == (0, 1)
    assert nothing_for(voting, worker_of(voting))


def test_a_second_rejection_takes_the_turn_out(voting):
    root, _ = disputed(voting)
    lease, waiting = check_of(voting, root), check_of(voting, root)
    answer = vote_to_reject(lease, WRONG, key="k", now=SOON)
    assert answer == Submitted({"rejected": root.pk, "taken_out": True})
    root.refresh_from_db()
    assert root.cut is not None
    assert (root.cut.by, root.disputed_at) == (lease.worker, None)
    waiting.refresh_from_db()
    assert waiting.state == "released"


def test_enough_who_keep_it_let_it_stand_and_the_branches_are_open_again(voting):
    root, _ = disputed(voting)
    first, second = check_of(voting, root), check_of(voting, root)
    answer = vote_to_keep(first, key="k", now=SOON)
    assert answer == Submitted({"kept": root.pk, "taken_out": False})
    assert is_disputed(root)
    vote_to_keep(second, key="k", now=SOON)
    assert not is_disputed(root)
    lease = take(voting, now=SOON)
    assert (lease.part, lease.round) == (open_slot(root), 1)
    assert {check.verdict for check in root.checks.all()} == {"agrees", "rejects"}


def test_a_vote_that_cannot_change_it_is_not_asked_for(voting):
    Project.objects.update(rejection_votes=3)
    root, _ = disputed(voting)
    first, waiting = check_of(voting, root), check_of(voting, root)
    vote_to_keep(first, key="k", now=SOON)
    assert not is_disputed(root)
    waiting.refresh_from_db()
    assert waiting.state == "released"


def test_the_votes_that_count_are_those_that_the_tree_began_with(voting):
    grown(voting, "One?")
    Project.objects.update(rejection_votes=1, rejection_voters=1)
    lease = take(voting)
    root = Node.objects.get(parent=None)
    assert reject(lease, root) == Submitted({"rejected": root.pk, "taken_out": False})
    assert (Tree.objects.get().rejection_votes, is_disputed(root)) == (2, True)


def test_a_second_walker_who_rejects_votes_too(voting):
    _, (root, second, _) = grown(voting, "One?", "Two?")
    one, two = take(voting), take(voting)
    reject(one, root)
    assert reject(two, root, SOON) == Submitted({"rejected": root.pk, "taken_out": True})
    assert second.parent == root


def test_a_walk_that_had_begun_below_a_turn_in_dispute_goes_on(voting):
    _, (root, *_) = grown(voting, "One?", "Two?")
    one, two = take(voting), take(voting)
    reject(one, root)
    walk(two, "Three?", now=SOON)
    assert is_disputed(root)


def test_to_go_on_below_is_not_a_vote(voting):
    """Three are asked, however many agree on their way."""
    _, (root, *_) = grown(voting, "One?", "Two?")
    one, two = take(voting), take(voting)
    reject(one, root)
    agree(two, now=SOON)
    lease, last = check_of(voting, root, SOON), check_of(voting, root, SOON)
    vote_to_keep(lease, key="k", now=SOON)
    assert is_disputed(root)
    vote_to_reject(last, WRONG, key="k", now=SOON)
    root.refresh_from_db()
    assert root.taken_out_at == SOON


def test_neither_author_nor_rejecter_nor_voter_votes_again(voting):
    author = worker_of(voting)
    grown(voting, "One?", worker=author)
    lease = take(voting)
    root = Node.objects.get(parent=None)
    reject(lease, root)
    vote = check_of(voting, root)
    vote_to_keep(vote, key="k", now=SOON)
    for nobody in (author, lease.worker, vote.worker):
        assert nothing_for(voting, nobody, SOON)
    assert check_of(voting, root, SOON).slot == 1


def test_who_gave_a_check_back_does_not_get_it_again(voting):
    root, _ = disputed(voting)
    worker = worker_of(voting)
    lease = take(voting, worker)
    assert return_work(lease, reason="", now=NOW)
    assert nothing_for(voting, worker)
    assert check_of(voting, root).slot == 0


def test_a_turn_that_stood_can_be_disputed_again_by_the_same_people(voting):
    root, _ = disputed(voting)
    voters = []
    for lease in (check_of(voting, root), check_of(voting, root)):
        vote_to_keep(lease, key="k", now=NOW + MINUTE)
        voters.append(lease.worker)
    walker = take(voting, now=NOW + 2 * MINUTE)
    reject(walker, root, NOW + 3 * MINUTE)
    assert is_disputed(root)
    again = take(voting, voters[0], NOW + 4 * MINUTE)
    assert (again.kind, again.work_id, again.round, again.slot) == ("node check", root.pk, 2, 0)
    vote_to_reject(again, WRONG, key="k2", now=NOW + 5 * MINUTE)
    root.refresh_from_db()
    assert root.taken_out_at == NOW + 5 * MINUTE


def test_who_has_no_say_about_a_turn_is_asked_for_it_first(voting):
    make_question(make_snippet(make_document(voting)))
    roots = [take(voting), take(voting)]
    for root_walk in roots:
        walk(root_walk, "One?")
    first, second = Node.objects.filter(parent=None).order_by("tree")
    worker = worker_of(voting)
    first_walk, second_walk = take(voting, worker), take(voting)
    agree(first_walk, now=NOW)
    return_path(first_walk, reason="", now=NOW)
    reject(take(voting), first, SOON)
    reject(second_walk, second, SOON + MINUTE)
    assert take(voting, worker, SOON + MINUTE).work_id == second.pk


# What becomes of checks


def test_a_vote_after_the_lease_ran_out_is_wanted_again_while_the_dispute_lasts(voting):
    root, _ = disputed(voting)
    lease = check_of(voting, root)
    late = vote_to_keep(lease, key="k", now=LATE)
    assert isinstance(late, NotTaken)
    assert late.again is not None
    assert (late.again.kind, late.again.slot) == ("node check", 0)
    assert isinstance(vote_to_keep(late.again, key="k", now=LATE), Submitted)


def test_a_vote_after_the_dispute_is_settled_takes_no_work_again(voting):
    root, _ = disputed(voting)
    late, one, two = (check_of(voting, root), check_of(voting, root), None)
    take_work(voting, worker=one.worker, now=LATE)
    one = take(voting, one.worker, LATE)
    two = take(voting, now=LATE)
    for lease in (one, two):
        vote_to_keep(lease, key="k", now=LATE)
    assert not is_disputed(root)
    answer = vote_to_reject(late, WRONG, key="k", now=LATE)
    assert isinstance(answer, NotTaken)
    assert (answer.again, answer.kept.content) == (None, {"note": "It is 16."})
    assert not Assignment.objects.leased().exists()


def test_a_check_of_what_was_taken_out_and_put_back_is_over(voting):
    root, _ = disputed(voting)
    lease = check_of(voting, root)
    cut = take_out(root, kind=Cut.Kind.PRUNED, actor=None, reason="", now=SOON)
    restore(cut, actor=make_user(), now=SOON)
    assert not is_disputed(root)
    answer = vote_to_keep(lease, key="k", now=SOON)
    assert isinstance(answer, NotTaken)
    assert answer.again is None
    assert take(voting, now=SOON).part == open_slot(root)
