"""The page of a turn in dispute."""

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question
from apps.trees.models import Cut, Node, NodeCheck, Tree
from apps.trees.services.checks import Rejection, reject_turn
from apps.trees.services.cuts import take_out
from apps.workers.models import Assignment
from tests.factories import make_member, make_project, make_user
from tests.trees.path_work import growing_tree, node, shown, take

pytestmark = pytest.mark.django_db

SHAPE = Question(
    "Are you over 18?",
    Question("Do you have a helmet?", OpenBranch(), FinalAnswer(Answer.NO)),
    FinalAnswer(Answer.NO),
)


@pytest.fixture
def project() -> Project:
    return make_project("bikes")


@pytest.fixture
def tree(project) -> Tree:
    """Somebody has said that its second question is wrong; two of three must say so."""
    tree = growing_tree(project, SHAPE, rejection_votes=2, rejection_voters=3)
    work = take(project, make_member(project, Role.WORKER))
    why = Rejection(NodeCheck.Reason.UNCLEAR, "A secret note.")
    reject_turn(work, node(tree, "y"), why, key="k", now=timezone.now())
    return tree


@pytest.fixture
def worker(client, project) -> User:
    user = make_member(project, Role.WORKER)
    client.force_login(user)
    return user


@pytest.fixture
def check(project, tree, worker) -> Assignment:
    work = take(project, worker)
    assert (work.kind, work.work_id) == ("node check", node(tree, "y").pk)
    return work


def address(work: Assignment, name: str = "node_check") -> str:
    return reverse(f"trees:{name}", args=["bikes", work.pk])


def test_the_turn_stands_in_its_conversation_without_what_others_said(client, check):
    page = shown(client.get(address(check)))
    assert (
        "User Can I borrow a cargo bike? Earlier worker Are you over 18? User Yes "
        "Earlier worker: is this right? Do you have a helmet? "
        "Is the last question right?" in page
    )
    assert "A secret note." not in page


def test_a_second_rejection_takes_the_turn_out(client, check, tree):
    data = {"key": "k", "reason": "known", "note": ""}
    client.post(address(check, "node_check_reject"), data)
    assert Cut.objects.get().kind == "rejected"
    assert not Node.objects.live().filter(tree=tree, place="y").exists()
    check.refresh_from_db()
    assert check.state == "submitted"


def test_a_turn_that_is_kept_waits_for_the_third(client, project, check, tree):
    response = client.post(address(check), {"key": "k"}, follow=True)
    assert NodeCheck.objects.get(checker=check.worker).verdict == "agrees"
    assert "Somebody has rejected a turn above all that is open for you" in shown(response)
    third = take(project, make_member(project, Role.WORKER))
    assert (third.kind, third.work_id) == ("node check", node(tree, "y").pk)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, "Choose what is wrong with it."),
        ({"reason": "x"}, "Select a valid choice."),
        ({"reason": "other"}, "Say in words what is wrong with it."),
    ],
)
def test_a_rejection_says_why(client, check, tree, data, sentence):
    page = shown(client.post(address(check, "node_check_reject"), {"key": "k", **data}))
    assert sentence in page
    assert not Cut.objects.exists()


def test_a_submit_without_its_key_is_none(client, check):
    assert "Is the last question right?" in shown(client.post(address(check)))
    check.refresh_from_db()
    assert check.state == "leased"


@pytest.mark.parametrize("name", ["node_check", "node_check_reject"])
def test_a_turn_that_is_out_by_now_says_so(client, check, tree, name):
    take_out(node(tree, "y"), kind=Cut.Kind.PRUNED, actor=None, reason="", now=timezone.now())
    data = {"key": "k", "reason": "unclear", "note": "Of what?"}
    response = client.post(address(check, name), data, follow=True)
    page = shown(response)
    assert "This work is over" in page
    assert ("Of what?" in page) == (name == "node_check_reject")


def test_only_who_has_the_check_sees_it(client, project, check):
    for person in (make_member(project, Role.ADMIN), make_user()):
        client.force_login(person)
        assert client.get(address(check)).status_code == 404
    client.force_login(check.worker)
    path = reverse("trees:path", args=["bikes", check.pk])
    assert client.get(path).status_code == 404


def test_what_was_typed_of_a_rejection_is_there_again(client, check):
    Assignment.objects.filter(pk=check.pk).update(draft={"reason": "known", "note": "Since"})
    content = client.get(address(check)).content.decode()
    assert ">\nSince</textarea>" in content
    assert 'value="known" checked' in content
    assert '<details class="path-reject" data-focus-inside open>' in content
