"""What the database itself forbids about nodes (design 4.2)."""

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question
from apps.trees.models import Node, Tree
from tests.factories import make_project, make_tree

pytestmark = pytest.mark.django_db

ASK = Question("Are you over 18?", FinalAnswer(Answer.YES), OpenBranch())


@pytest.fixture
def tree() -> Tree:
    return make_tree(make_project(), ASK)


def add(tree: Tree, *, parent: Node | None, branch: str) -> Node:
    with transaction.atomic():
        node = Node.at(tree, parent, branch, kind=Node.Kind.ANSWER, answer="No")
        node.save()
        return node


def test_an_open_branch_takes_one_node(tree):
    root = tree.nodes.get(parent=None)
    add(tree, parent=root, branch="no")
    assert tree.to_domain() == Question(
        "Are you over 18?", FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
    )


def test_two_live_nodes_on_one_branch_are_refused(tree):
    root = tree.nodes.get(parent=None)
    with pytest.raises(IntegrityError):
        add(tree, parent=root, branch="yes")


def test_a_second_live_node_is_taken_once_the_first_is_out(tree):
    root = tree.nodes.get(parent=None)
    root.children.update(taken_out_at=timezone.now())
    add(tree, parent=root, branch="yes")
    assert tree.nodes.live().count() == 2


def test_two_roots_are_refused(tree):
    with pytest.raises(IntegrityError):
        add(tree, parent=None, branch="")


def test_a_node_under_a_final_answer_is_refused(tree):
    leaf = tree.nodes.get(branch="yes")
    with pytest.raises(IntegrityError, match="hangs under a live follow-up question"):
        add(tree, parent=leaf, branch="yes")


def test_a_node_under_another_trees_node_is_refused(tree):
    other = make_tree(tree.project, ASK).nodes.get(parent=None)
    with pytest.raises(IntegrityError, match="hangs under a live follow-up question"):
        add(tree, parent=other, branch="no")


def test_a_node_under_a_taken_out_node_is_refused(tree):
    root = tree.nodes.get(parent=None)
    tree.nodes.update(taken_out_at=timezone.now())
    with pytest.raises(IntegrityError, match="hangs under a live follow-up question"):
        add(tree, parent=root, branch="no")


def test_moving_a_node_under_a_final_answer_is_refused(tree):
    root = tree.nodes.get(parent=None)
    leaf, moved = tree.nodes.get(branch="yes"), add(tree, parent=root, branch="no")
    with (
        pytest.raises(IntegrityError, match="hangs under a live follow-up question"),
        transaction.atomic(),
    ):
        Node.objects.filter(pk=moved.pk).update(parent=leaf, place="yn")


def test_a_question_with_nodes_below_does_not_become_an_answer(tree):
    with pytest.raises(IntegrityError, match="stays a follow-up question"), transaction.atomic():
        tree.nodes.filter(parent=None).update(kind="answer", text="", answer="Yes")


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "question", "text": ""},
        {"kind": "question", "text": "Yes"},
        {"kind": "question", "text": "Is it?", "answer": "Yes"},
        {"kind": "answer", "answer": ""},
        {"kind": "answer", "answer": "yes"},
        {"kind": "answer", "answer": "No", "text": "Is it?"},
        {"kind": "answer", "answer": "No", "branch": ""},
        {"kind": "answer", "answer": "No", "span_start": 3},
        {"kind": "answer", "answer": "No", "span_start": 3, "span_end": 3},
    ],
)
def test_a_node_that_is_neither_question_nor_answer_is_refused(tree, fields):
    root = tree.nodes.get(parent=None)
    with pytest.raises(IntegrityError), transaction.atomic():
        Node.objects.create(tree=tree, parent=root, **{"branch": "no", "place": "n", **fields})


@pytest.mark.parametrize("place", ["", "yy", "nn", "z"])
def test_a_place_that_does_not_follow_from_the_parents_is_refused(tree, place):
    root = tree.nodes.get(parent=None)
    leaf = {"kind": "answer", "answer": "No", "branch": "no"}
    with pytest.raises(IntegrityError, match="follows from its parent"), transaction.atomic():
        Node.objects.create(tree=tree, parent=root, place=place, **leaf)
    with pytest.raises(IntegrityError, match="follows from its parent"), transaction.atomic():
        tree.nodes.filter(branch="yes").update(place=place)


def test_a_tree_id_is_forty_hex_digits_and_stands_once_in_a_project(tree):
    with pytest.raises(IntegrityError), transaction.atomic():
        make_tree(tree.project, tree_id="not hex")
    with pytest.raises(IntegrityError), transaction.atomic():
        make_tree(tree.project, tree_id=tree.tree_id)
