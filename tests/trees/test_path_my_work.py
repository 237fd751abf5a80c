"""Paths and checks among a person's own work, and the turns of walks that ended by themselves."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.trees.models import Cut, Node
from apps.trees.services.cuts import take_out
from apps.trees.services.open_work import NodeCheckWork
from apps.trees.services.path_steps import go_on_again
from apps.trees.services.walks import ask
from apps.workers.models import Assignment, Kind
from apps.workers.services.leases import expire_leases, lease_first
from tests.factories import make_member, make_project
from tests.pages import words_of_main
from tests.trees.path_work import growing_tree, node, path_address, take

pytestmark = pytest.mark.django_db

MINE = reverse("workers:mine", args=["bikes"])


@pytest.fixture
def project() -> Project:
    return make_project("bikes")


@pytest.fixture
def worker(client, project) -> User:
    user = make_member(project, Role.WORKER)
    client.force_login(user)
    return user


def walk_a_bit(project: Project, worker: User, *questions: str) -> Assignment:
    growing_tree(project, None)
    work = take(project, worker)
    for position, text in enumerate(questions):
        ask(work, position=position, text=text, span=None, now=timezone.now())
    return work


def expire(work: Assignment) -> None:
    past = timezone.now() - timedelta(minutes=1)
    Assignment.objects.filter(pk=work.pk).update(
        leased_at=past - timedelta(hours=1), expires_at=past
    )
    expire_leases(timezone.now())


def page(client) -> str:
    return words_of_main(client.get(MINE).content.decode())


def test_a_path_and_a_check_lead_to_their_pages(client, project, worker):
    work = walk_a_bit(project, worker)
    content = client.get(MINE).content.decode()
    assert f'href="{path_address(work)}">Continue' in content
    assert f'action="{path_address(work, "return")}"' in content
    turn = node(growing_tree(project), "")
    Node.objects.filter(pk=turn.pk).update(disputed_at=turn.created_at)
    check = lease_first(
        [NodeCheckWork(Kind.NODE_CHECK, turn.pk)], project=project, worker=worker,
        now=timezone.now(),
    )  # fmt: skip
    assert check is not None
    content = client.get(MINE).content.decode()
    assert f'href="{reverse("trees:node_check", args=["bikes", check.pk])}">Continue' in content
    assert f'action="{reverse("workers:return", args=["bikes", check.pk])}"' in content


def test_a_check_of_a_turn_that_was_taken_out_says_so(client, project, worker):
    turn = node(growing_tree(project), "")
    Node.objects.filter(pk=turn.pk).update(disputed_at=turn.created_at)
    check = lease_first(
        [NodeCheckWork(Kind.NODE_CHECK, turn.pk)], project=project, worker=worker,
        now=timezone.now(),
    )  # fmt: skip
    assert check is not None
    take_out(turn, kind=Cut.Kind.REJECTED, actor=None, reason="", now=timezone.now())
    over = client.get(reverse("trees:node_check", args=["bikes", check.pk])).content.decode()
    assert "This turn was taken out meanwhile, so nobody has to look at it any more." in over
    assert "you went on from" not in over


def test_turns_of_a_walk_whose_time_ran_out_are_among_the_kept_texts(client, project, worker):
    work = walk_a_bit(project, worker, "Are you over 18?", "Do you have a helmet?")
    assert "Are you over 18?" not in page(client)
    expire(work)
    assert "Expired Are you over 18? Do you have a helmet?" in page(client)


def test_turns_that_were_taken_back_are_not_among_them(client, project, worker):
    work = walk_a_bit(project, worker, "Are you over 18?", "Do you have a helmet?")
    work.path_steps.filter(position=1).update(undone_at=timezone.now())
    expire(work)
    shown = page(client)
    assert "Are you over 18?" in shown
    assert "helmet" not in shown


def test_turns_that_go_on_in_a_later_lease_are_not_lost(client, project, worker):
    work = walk_a_bit(project, worker, "Are you over 18?")
    expire(work)
    go_on_again(work, now=timezone.now())
    assert "Texts that were not submitted" not in page(client)


def test_turns_above_which_something_was_taken_out_are_there_once(client, project, worker):
    tree = growing_tree(project)
    work = take(project, worker)
    client.post(path_address(work, "agree"))
    client.post(path_address(work, "ask"), {"position": 0, "text": "Do you have a helmet?"})
    take_out(node(tree, ""), kind=Cut.Kind.REJECTED, actor=None, reason="", now=timezone.now())
    assert page(client).count("Do you have a helmet?") == 1


def test_what_was_selected_or_chosen_is_no_text(client, project, worker):
    work = walk_a_bit(project, worker)
    Assignment.objects.filter(pk=work.pk).update(
        draft={"text": "Are you", "span": "41-67", "turn": "815", "reason": "unclear"}
    )
    shown = page(client)
    assert "Path of a tree Are you" in shown
    assert not {"41-67", "815", "unclear"} & set(shown.split())


def test_walks_of_others_are_not_shown(client, project, worker):
    expire(walk_a_bit(project, make_member(project, Role.WORKER), "Are you over 18?"))
    assert "Are you over 18?" not in page(client)


def test_the_number_of_queries_is_constant(client, project, worker):
    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            client.get(MINE)
        return len(caught)

    expire(walk_a_bit(project, worker, "Are you over 18?"))
    at_one = queries()
    for _ in range(2):
        Assignment.objects.filter(state="leased").update(state="returned", ended_at=timezone.now())
        expire(walk_a_bit(project, worker, "Are you over 18?", "Do you have a helmet?"))
    assert queries() == at_one
