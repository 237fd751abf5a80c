"""Which work is open for whom, in which order, and how many trees grow at once."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import User
from apps.projects.models import Project
from apps.snippets.models import Question, Snippet
from apps.trees.domain.tree import Answer
from apps.trees.models import Cut, Node, Tree
from apps.trees.services import open_branches
from apps.trees.services.cuts import restore, take_out
from apps.trees.services.open_work import new_trees, started_branches, waiting_questions
from apps.workers.models import Assignment
from apps.workers.services.leases import expire_leases, release_work
from apps.workers.services.next_work import take_work
from tests.factories import (
    make_document,
    make_project,
    make_question,
    make_snippet,
    make_tree,
    make_user,
)
from tests.trees.services.growing import (
    LATE,
    NOW,
    SOON,
    finish,
    grown,
    make_questions,
    nothing_for,
    open_slot,
    take,
    walk,
    worker_of,
)
from tests.trees.services.test_checks import reject

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_questions(max_depth=3)


def cut_out(node: Node) -> Cut:
    return take_out(node, kind=Cut.Kind.PRUNED, actor=None, reason="", now=NOW)


def what(lease: Assignment) -> tuple[str, int, str, int]:
    return lease.kind, lease.work_id, lease.part, lease.round


# Order


def test_what_finishes_trees_comes_first():
    """Re-annotation, open branches, checks, new trees."""
    project = make_questions(4, max_depth=3, rejection_votes=2, rejection_voters=2)
    roots = [take(project) for _ in range(3)]
    for root_walk in roots:
        walk(root_walk, "One?")
    cut_leaf, disputed, started = Node.objects.filter(kind="question").order_by("tree")
    leases = [take(project) for _ in range(3)]
    assert [lease.part for lease in leases] == [
        open_slot(root) for root in (cut_leaf, disputed, started)
    ]
    reject(leases[1], disputed)
    release_work(leases[2], actor=make_user(), now=NOW)
    leaf = cut_leaf.children.get()
    cut_out(leaf)
    found = [what(take(project)) for _ in range(4)]
    assert found == [
        ("path", cut_leaf.tree_id, f"{cut_leaf.pk}-{leaf.branch}", 0),
        ("path", started.tree_id, leases[2].part, 0),
        ("node check", disputed.pk, "", 0),
        ("path", Tree.objects.latest("pk").pk, "root", 0),
    ]
    assert Tree.objects.count() == 4
    assert nothing_for(project, worker_of(project))


def test_open_branches_of_started_trees_come_before_new_trees_the_oldest_first():
    project = make_questions(3, max_depth=3)
    first = take(project)
    _, (second_root, *_) = grown(project, "Two?")
    walk(first, "One?", now=SOON)
    first_root = Node.objects.get(parent=None, tree=first.work_id)
    parts = [take(project).part for _ in range(3)]
    assert parts == [open_slot(first_root), open_slot(second_root), "root"]


def test_a_tree_whose_worker_went_away_is_begun_by_the_next_before_a_new_one():
    project = make_questions(2, max_depth=3)
    gone = take(project)
    expire_leases(LATE)
    assert take(project, now=LATE).work_id == gone.work_id
    assert Tree.objects.count() == 1


def test_only_the_sources_that_are_named_are_looked_at():
    project, name = make_questions(1), "apps.trees.services.open_work.started_branches"
    person = worker_of(project)
    assert take_work(project, worker=person, now=NOW, sources=[name]) is None
    assert take_work(project, worker=person, now=NOW) is not None


# Who


def test_a_worker_never_continues_what_they_wrote_above(project):
    author, other = worker_of(project), worker_of(project)
    _, (root, second, _) = grown(project, "One?", "Two?", worker=author)
    assert nothing_for(project, author)
    lease = take(project, other)
    assert lease.part == open_slot(root)
    walk(lease, "Three?")
    (third,) = Node.objects.filter(text="Three?")
    assert {take(project).part, take(project).part} == {open_slot(second), open_slot(third)}
    Assignment.objects.leased().delete()
    assert take(project, other).part == open_slot(second)


def test_who_wrote_the_first_question_grows_no_branch_of_its_tree(project):
    asker = worker_of(project)
    Question.objects.update(created_by=asker)
    assert nothing_for(project, asker)
    assert not Tree.objects.exists()
    grown(project, "One?")
    assert nothing_for(project, asker)


def test_who_wrote_what_was_taken_out_does_not_write_there_again(project):
    _, (root, _) = grown(project, "One?")
    author = worker_of(project)
    walk(take(project, author), "Two?")
    second = Node.objects.get(text="Two?")
    cut_out(second)
    assert nothing_for(project, author)
    assert take(project).part == f"{root.pk}-{second.branch}"


def test_who_had_a_branch_does_not_get_it_again_when_it_is_open_again(project):
    """A rejection is the end of a piece of work, too."""
    _, (root, _) = grown(project, "One?")
    worker = worker_of(project)
    lease = take(project, worker)
    reject(lease, root)
    assert take(project, worker).part == "root"


def test_turns_of_an_import_belong_to_nobody(project):
    tree = make_tree(project)
    root = Node.objects.create(tree=tree, kind="question", text="One?")
    Node.at(tree, root, "yes", kind="answer", answer="Yes").save()
    assert what(take(project)) == ("path", tree.pk, f"{root.pk}-no", 0)


def test_a_branch_below_a_turn_in_dispute_is_nobodys_and_one_beside_it_is():
    project = make_questions(max_depth=3, rejection_votes=2, rejection_voters=2)
    _, (root, second, _) = grown(project, "One?", "Two?")
    beside, below = take(project), take(project)
    assert below.part == open_slot(second)
    reject(below, second)
    release_work(beside, actor=make_user(), now=NOW)
    assert take(project).part == open_slot(root)
    check = take(project)
    assert (check.kind, check.work_id) == ("node check", second.pk)
    assert nothing_for(project, worker_of(project))


def test_released_and_expired_work_comes_back_even_to_the_same_worker(project):
    worker = worker_of(project)
    lease = take(project, worker)
    release_work(lease, actor=make_user(), now=NOW)
    again = take(project, worker)
    assert (what(again), again.pk == lease.pk) == (what(lease), False)
    expire_leases(LATE)
    assert what(take(project, worker, LATE)) == what(lease)


def test_nobody_gets_work_of_another_project(project):
    other = make_project()
    assert nothing_for(other, worker_of(other))
    assert not list(started_branches(other, worker=make_user()))


# Rounds


def test_a_branch_that_is_opened_again_is_new_work_each_time(project):
    grown(project, "One?")
    root = Node.objects.get(parent=None)
    rounds = []
    for number in range(3):
        lease = take(project)
        rounds.append(lease.round)
        walk(lease, answer=Answer.NO)
        cut_out(root.children.live().get(created_by=lease.worker))
        assert number == lease.round
    assert rounds == [0, 1, 2]


def test_work_that_was_looked_at_before_it_was_done_is_not_taken_again(project):
    """The last look is under the tree's lock, in the transaction that takes the slot."""
    _, (root, _) = grown(project, "One?")
    (stale,) = started_branches(project, worker=worker_of(project))
    assert stale.is_open()
    walk(take(project))
    assert not stale.is_open()
    cut_out(root.children.live().get(branch=stale.part.split("-")[1]))
    assert not stale.is_open()
    (fresh,) = started_branches(project, worker=worker_of(project))
    assert (fresh.is_open(), fresh.round) == (True, 1)


def test_a_branch_under_a_question_that_went_out_is_not_there(project):
    _, (root, _) = grown(project, "One?")
    (work,) = started_branches(project, worker=worker_of(project))
    cut_out(root)
    assert not work.is_open()


# New trees


def test_no_more_trees_grow_than_the_project_wants():
    project = make_questions(3, max_depth=3, active_trees=2)
    first, second = take(project), take(project)
    assert {first.part, second.part} == {"root"}
    assert nothing_for(project, worker_of(project))
    finish(first)
    assert take(project).part == "root"
    assert Tree.objects.count() == 3


def test_only_accepted_questions_begin_a_tree(project):
    document = make_document(project)
    for state in (Question.State.PROPOSED, Question.State.SENT_BACK, Question.State.REPLACED):
        make_question(make_snippet(document), state=state, check_note="why")
    accepted = Question.objects.get(state=Question.State.ACCEPTED)
    assert list(waiting_questions(project)) == [accepted]
    assert Tree.objects.get(pk=take(project).work_id).question == accepted
    assert nothing_for(project, worker_of(project))


def test_a_tree_keeps_the_limits_that_it_began_with():
    project = make_questions(2, max_depth=3, rejection_votes=2, rejection_voters=3)
    lease = take(project)
    Project.objects.update(
        max_depth=5, spans_required=True, rejection_votes=1, rejection_voters=1, active_trees=9
    )
    trees = [Tree.objects.get(pk=one.work_id) for one in (lease, take(project))]
    limits = [
        (tree.max_depth, tree.spans_required, tree.rejection_votes, tree.rejection_voters)
        for tree in trees
    ]
    assert limits == [(3, False, 2, 3), (5, True, 1, 1)]


def test_each_tree_has_a_seed_of_its_own():
    project = make_questions(3)
    for _ in range(3):
        take(project)
    assert len(set(Tree.objects.values_list("seed", flat=True))) == 3


def test_looking_for_new_trees_begins_none():
    project = make_questions(3, active_trees=2)
    first, second, third = new_trees(project, worker=worker_of(project))
    assert not Tree.objects.exists()
    root, other = first.for_certain(), second.for_certain()
    assert root is not None
    assert other is not None
    assert (root.kind, root.part, root.work_id != other.work_id) == ("path", "root", True)
    assert [first.for_certain(), third.for_certain()] == [None, None]  # begun; no room
    assert Tree.objects.count() == 2


def test_a_question_that_is_asked_of_the_same_rule_text_twice_begins_one_tree():
    project = make_questions(2)
    Snippet.objects.update(text="You can claim if you live here.")
    first, second = new_trees(project, worker=worker_of(project))
    assert first.for_certain() is not None
    assert second.for_certain() is None
    assert not list(new_trees(project, worker=worker_of(project)))


# Roots


def test_a_root_that_was_rejected_is_open_for_everybody_else(project):
    author, checker = worker_of(project), worker_of(project)
    _, (root, _) = grown(project, "One?", worker=author)
    reject(take(project, checker), root)
    assert nothing_for(project, author)
    lease = take(project, checker)
    assert (lease.part, lease.round) == ("root", 1)
    walk(lease, "Two?")
    cut = Cut.objects.get()
    cut_out(Node.objects.live().get(parent=None))
    restore(cut, actor=author, now=NOW)
    assert take(project).part == open_slot(root)


# Queries


def grow_many(project: Project, count: int, by: User) -> None:
    document = make_document(project)
    for _ in range(count):
        tree_question = make_question(make_snippet(document))
        tree = Tree.objects.create(
            project=project, question=tree_question, max_depth=3,
            tree_id=f"{tree_question.pk:040x}",
        )  # fmt: skip
        root = Node.objects.create(tree=tree, kind="question", text="One?", created_by=by)
        Node.at(tree, root, "yes", kind="answer", answer="Yes", created_by=by).save()


def test_taking_work_takes_a_constant_number_of_queries():
    project = make_project(active_trees=1)
    author, other = worker_of(project), worker_of(project)
    taken, idle = set(), set()
    for count in (1, 2, 47):
        grow_many(project, count, author)
        with CaptureQueriesContext(connection) as queries:
            assert take(project, other).part != "root"
        taken.add(len(queries))
        Assignment.objects.all().delete()
        with CaptureQueriesContext(connection) as queries:
            assert nothing_for(project, author)
        idle.add(len(queries))
    assert len(taken) == len(idle) == 1
    assert max(taken | idle) <= 25


def test_open_branches_go_on_after_a_chunk(monkeypatch):
    monkeypatch.setattr(open_branches, "CHUNK", 2)
    project = make_project(active_trees=1)
    grow_many(project, 5, worker_of(project))
    found = list(started_branches(project, worker=worker_of(project)))
    assert [work.work_id for work in found] == list(Tree.objects.values_list("pk", flat=True))
    assert {work.part.split("-")[1] for work in found} == {"no"}
