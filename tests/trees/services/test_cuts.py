"""Subtrees are taken out and put back; leases on them end, and open work follows at once."""

import pytest

from apps.projects.models import AuditEvent, Project
from apps.trees.errors import GrowingError
from apps.trees.models import Cut, Node, Tree
from apps.trees.services.cuts import restore, take_out
from apps.trees.services.walks import agree
from apps.workers.models import Assignment
from apps.workers.services.next_work import take_work
from tests.factories import make_user
from tests.trees.services.growing import (
    NOW,
    SOON,
    grown,
    make_questions,
    open_slot,
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


def cut_out(node: Node, kind: Cut.Kind = Cut.Kind.PRUNED, **options) -> Cut:
    return take_out(node, **{"kind": kind, "actor": None, "reason": "", "now": NOW, **options})


def full(project: Project) -> tuple[Tree, list[Node]]:
    """A finished tree with one path of two questions, and the nodes along it."""
    tree, nodes = grown(project, "One?", "Two?")
    while (lease := take_work(project, worker=worker_of(project), now=NOW)) is not None:
        walk(lease)
    tree.refresh_from_db()
    assert tree.state == "finished"
    return tree, nodes


def test_a_node_and_all_below_it_go_out_with_who_why_and_when(project):
    tree, (root, second, _) = full(project)
    expert = make_user()
    cut = cut_out(second, Cut.Kind.REJECTED, actor=expert, reason="It is 16.", now=SOON)
    assert [place for place, _ in places(tree)] == ["", "n" if second.branch == "yes" else "y"]
    gone = set(cut.nodes.values_list("place", flat=True))
    assert gone == {second.place, second.place + "y", second.place + "n"}
    assert {node.taken_out_at for node in cut.nodes.all()} == {SOON}
    assert (cut.parent, cut.branch, cut.kind) == (root, second.branch, "rejected")
    assert (cut.by, cut.reason, cut.at) == (expert, "It is 16.", SOON)
    event = AuditEvent.objects.get(action="take out: rejected")
    assert (event.actor, event.details) == (expert, {"reason": "It is 16.", "nodes": 3})


def test_a_finished_tree_grows_again_and_the_branch_is_open_at_once(project):
    """Case 21: the question above stays, and its only open branch is work."""
    tree, (root, second, _) = full(project)
    cut_out(second)
    tree.refresh_from_db()
    assert (tree.state, states_of(tree)[-1]) == ("growing", "finished -> growing")
    lease = take(project)
    assert (lease.part, lease.round) == (f"{root.pk}-{second.branch}", 0)
    walk(lease)
    tree.refresh_from_db()
    assert tree.state == "finished"


def test_a_whole_tree_can_go_out_and_begins_anew(project):
    tree, (root, *_) = full(project)
    cut = cut_out(root)
    assert (cut.parent, cut.branch) == (None, "")
    assert places(tree) == []
    lease = take(project)
    assert (lease.part, lease.round, lease.work_id) == ("root", 1, tree.pk)
    walk(lease)
    tree.refresh_from_db()
    assert tree.state == "finished"


def test_leases_below_end_and_others_go_on(project):
    _, (_, second, third, _) = grown(project, "One?", "Two?", "Three?")
    above, below, lowest = take(project), take(project), take(project)
    assert lowest.part == open_slot(third)
    cut_out(second)
    found = {lease.part: lease for lease in Assignment.objects.filter(ended_at=None)}
    assert list(found) == [above.part]
    below.refresh_from_db()
    assert (below.state, states_of(below)[-1]) == ("released", "leased -> released")


def test_what_went_out_cannot_go_out_again(project):
    _, (_, second, _) = full(project)
    cut_out(second)
    with pytest.raises(GrowingError) as refusal:
        cut_out(second)
    assert refusal.value.code == "node_gone"
    assert Cut.objects.count() == 1


def test_what_went_out_can_be_put_back(project):
    tree, (_, second, _) = full(project)
    before, expert = places(tree), make_user()
    cut = cut_out(second)
    lease = take(project)
    turn_after_check(lease)
    restore(cut, actor=expert, now=SOON)
    assert places(tree) == before
    tree.refresh_from_db()
    cut.refresh_from_db()
    lease.refresh_from_db()
    assert tree.state == "finished"
    assert (cut.restored_by, cut.restored_at) == (expert, SOON)
    assert lease.state == "released"
    assert not Node.objects.filter(cut=cut).exists()
    assert AuditEvent.objects.filter(action="restore", actor=expert).count() == 1
    with pytest.raises(GrowingError) as refusal:
        restore(cut, actor=expert, now=SOON)
    assert refusal.value.code == "cut_restored"


def turn_after_check(lease: Assignment) -> None:
    agree(lease, now=NOW)
    turn(lease, "Another?")


def test_a_branch_that_was_continued_is_not_covered_by_what_stood_there(project):
    tree, (_, second, _) = full(project)
    cut = cut_out(second)
    walk(take(project))
    before = places(tree)
    with pytest.raises(GrowingError) as refusal:
        restore(cut, actor=make_user(), now=SOON)
    assert refusal.value.code == "branch_occupied"
    cut.refresh_from_db()
    assert (places(tree), cut.restored_at) == (before, None)


def test_what_hung_under_a_question_that_is_out_waits_for_that_one(project):
    tree, (_, second, third, _) = grown(project, "One?", "Two?", "Three?")
    before = places(tree)
    inner = cut_out(third)
    outer = cut_out(second)
    with pytest.raises(GrowingError) as refusal:
        restore(inner, actor=make_user(), now=SOON)
    assert refusal.value.code == "branch_occupied"
    restore(outer, actor=make_user(), now=SOON)
    restore(inner, actor=make_user(), now=SOON)
    assert places(tree) == before


def test_a_dispute_ends_when_its_turn_goes_out(project):
    _, (_, second, _) = grown(project, "One?", "Two?")
    Node.objects.filter(pk=second.pk).update(disputed_at=NOW)
    cut = cut_out(second)
    assert [node.disputed_at for node in cut.nodes.all()] == [None, None]


def test_taking_out_and_putting_back_takes_a_constant_number_of_queries(
    project, django_assert_max_num_queries
):
    _, (root, *_) = full(project)
    with django_assert_max_num_queries(30):
        cut = cut_out(root)
    with django_assert_max_num_queries(40):  # one for each level, of which there are few
        restore(cut, actor=make_user(), now=NOW)
