"""What is open for a worker, and each reason why nothing is."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question
from apps.trees.models import Node, NodeCheck, Tree
from apps.trees.services.checks import Rejection, reject_turn
from apps.trees.services.openings import Nothing, Openings, Why, openings, why_nothing
from apps.trees.services.paths import return_path
from apps.workers.models import Assignment
from apps.workers.services.leases import release_work
from apps.workers.services.next_work import take_work
from tests.factories import (
    make_document,
    make_member,
    make_project,
    make_question,
    make_snippet,
    make_tree,
)
from tests.trees.path_work import OVER_18, growing_tree, node, take, walk

pytestmark = pytest.mark.django_db

DONE = Question("Are you over 18?", FinalAnswer(Answer.YES), FinalAnswer(Answer.NO))


@pytest.fixture
def project() -> Project:
    return make_project("bikes")


@pytest.fixture
def worker(project) -> User:
    return make_member(project, Role.WORKER)


@pytest.fixture
def other(project) -> User:
    return make_member(project, Role.WORKER)


def waiting_question(project: Project, **fields: object) -> None:
    make_question(make_snippet(make_document(project)), **fields)


def why(project: Project, worker: User) -> Nothing | None:
    """The reason, which must agree with what taking work gives."""
    is_open = openings(project, worker=worker)
    found = None if is_open else why_nothing(project, worker=worker, now=timezone.now())
    taken = take_work(project, worker=worker, now=timezone.now())
    assert (found is None) == (taken is not None)
    return found


def test_what_is_open_is_counted_by_kind(project, worker, other):
    growing_tree(project)
    growing_tree(project, None)
    disputed = growing_tree(project, rejection_votes=2, rejection_voters=3)
    Node.objects.filter(tree=disputed).update(disputed_at=timezone.now())
    waiting_question(project)
    waiting_question(project, state="proposed")
    assert openings(project, worker=worker) == Openings(branches=3, checks=1, new_trees=1)
    take(project, other)
    assert openings(project, worker=worker) == Openings(branches=2, checks=1, new_trees=1)


def test_counting_ends_at_fifty_and_begins_nothing(project, worker):
    project.active_trees = 200
    project.save()
    for number in range(52):
        waiting_question(project, text=f"Can I {number}?")
    assert openings(project, worker=worker) == Openings(branches=0, checks=0, new_trees=51)
    assert (Tree.objects.count(), Assignment.objects.count()) == (0, 0)


def test_a_question_whose_tree_is_there_already_begins_no_other(project, worker):
    tree = make_tree(project, DONE)
    copy = make_snippet(make_document(project), text=tree.question.snippet.text)
    make_question(copy, text=tree.question.text)
    assert openings(project, worker=worker) == Openings(0, 0, 0)
    assert why(project, worker) == Nothing(Why.ALL_FINISHED)


def test_something_open_needs_no_reason(project, worker):
    growing_tree(project)
    assert why(project, worker) is None


def test_no_first_question_is_ready(project, worker):
    waiting_question(project, state="proposed")
    assert why(project, worker) == Nothing(Why.NO_FIRST_QUESTION)


def test_all_trees_are_finished(project, worker):
    make_tree(project, DONE)
    assert why(project, worker) == Nothing(Why.ALL_FINISHED)


def test_all_is_in_other_hands_until_the_first_lease_ends(project, worker, other):
    growing_tree(project, Question("Are you over 18?", FinalAnswer(Answer.YES), OpenBranch()))
    growing_tree(project, None)
    first, second = take(project, other), take(project, make_member(project, Role.WORKER))
    sooner = timezone.now() + timedelta(minutes=7)
    Assignment.objects.filter(pk=second.pk).update(expires_at=sooner)
    assert first.expires_at > sooner
    assert why(project, worker) == Nothing(Why.IN_OTHER_HANDS, sooner)


def test_leases_on_what_is_no_work_for_the_worker_are_not_waited_for(project, worker, other):
    tree = growing_tree(project, None)
    walk(take(project, worker), "Are you over 18?")
    take(project, other)
    assert why(project, worker) == Nothing(Why.NOT_FOR_YOU)
    assert tree.nodes.live().count() == 2


def test_a_branch_given_back_is_not_waited_for(project, worker, other):
    growing_tree(project, None)
    return_path(take(project, worker), reason="", now=timezone.now())
    assert why(project, worker) == Nothing(Why.NOT_FOR_YOU)
    take(project, other)
    assert why(project, worker) == Nothing(Why.NOT_FOR_YOU)


def test_a_branch_that_an_admin_released_is_open_again(project, worker):
    growing_tree(project, None)
    release_work(take(project, worker), actor=worker, now=timezone.now())
    assert why(project, worker) is None


def test_nobody_continues_the_tree_of_their_own_first_question(project, worker, other):
    waiting_question(project, created_by=worker)
    assert why(project, worker) == Nothing(Why.NOT_FOR_YOU)
    take(project, other)
    assert why(project, worker) == Nothing(Why.NOT_FOR_YOU)


def test_as_many_trees_grow_as_the_project_wants(project, worker):
    project.active_trees = 1
    project.save()
    growing_tree(project, None)
    walk(take(project, worker), "Are you over 18?")
    waiting_question(project)
    assert why(project, worker) == Nothing(Why.ENOUGH_TREES)


def test_all_that_is_open_is_under_a_turn_in_dispute(project, worker):
    tree = growing_tree(project, rejection_votes=2, rejection_voters=3)
    work = take(project, worker)
    rejection = Rejection(NodeCheck.Reason.UNCLEAR)
    reject_turn(work, node(tree, ""), rejection, key="k", now=timezone.now())
    assert why(project, worker) == Nothing(Why.IN_DISPUTE)


def test_checks_in_other_hands_are_waited_for(project, worker, other):
    tree = growing_tree(project, rejection_votes=2, rejection_voters=2)
    Node.objects.filter(tree=tree).update(disputed_at=timezone.now())
    held = take(project, other)
    assert held.kind == "node check"
    assert why(project, worker) == Nothing(Why.IN_OTHER_HANDS, held.expires_at)


def test_other_projects_count_for_nothing(project, worker):
    growing_tree(make_project())
    assert why(project, worker) == Nothing(Why.NO_FIRST_QUESTION)


@pytest.mark.parametrize("code", Why)
def test_each_reason_has_its_own_sentence(code):
    """Case 11."""
    sentences = {Nothing(one).sentence for one in Why}
    assert len(sentences) == len(Why)
    assert Nothing(code).sentence.endswith(".")


def test_the_number_of_queries_is_constant(project, worker, other):
    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            assert not openings(project, worker=worker)
            why_nothing(project, worker=worker, now=timezone.now())
        return len(caught)

    def more() -> None:
        growing_tree(project, OVER_18)
        for _ in range(2):
            take(project, make_member(project, Role.WORKER))

    more()
    at_one = queries()
    more()
    more()
    assert queries() == at_one
