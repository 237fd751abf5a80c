"""A worker checks a turn that somebody rejected, by keyboard alone."""

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.trees.models import Cut, Node, NodeCheck, Tree
from apps.trees.services.checks import Rejection, reject_turn
from apps.workers.models import Assignment
from tests.factories import make_member, make_project, make_user
from tests.trees.path_work import growing_tree, node, take

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOME = reverse("desk:project", args=["bikes"])


@pytest.fixture
def project() -> Project:
    return make_project("bikes", name="Bikes")


@pytest.fixture
def ada(project) -> User:
    return make_member(project, Role.WORKER, make_user("ada"))


def disputed(project: Project) -> Tree:
    """Somebody has rejected its one question; two of three must say so."""
    tree = growing_tree(project, rejection_votes=2, rejection_voters=3)
    work = take(project, make_member(project, Role.WORKER))
    why = Rejection(NodeCheck.Reason.UNCLEAR, "A secret note.")
    reject_turn(work, node(tree, ""), why, key="k", now=timezone.now())
    return tree


def start(open_as, person: User) -> Page:
    page: Page = open_as(person, HOME)
    page.keyboard.press("w")
    page.wait_for_url("**/check/")
    return page


def test_a_turn_in_dispute_is_kept_by_one_key_and_the_next_is_rejected_by_keys(
    project, ada, open_as
):
    first, second = disputed(project), disputed(project)
    page = start(open_as, ada)
    expect(page.locator(".is-disputed .bubble")).to_have_text("Are you over 18?")
    expect(page.get_by_text("A secret note.")).to_have_count(0)
    one = Assignment.objects.leased().get(worker=ada)

    page.keyboard.press("y")
    page.wait_for_url(lambda url: url.endswith("/check/") and f"/{one.pk}/" not in url)
    check = NodeCheck.objects.get(checker=ada)
    assert (check.node, check.verdict) == (node(first, ""), "agrees")

    page.keyboard.press("n")
    expect(page.locator("input[name=reason]").first).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.type("Nothing of age in it, says y and n.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/path/")  # the tree is open again from its beginning
    assert Cut.objects.get().tree == second
    assert not Node.objects.live().filter(tree=second).exists()
    said = NodeCheck.objects.filter(checker=ada).latest("pk")
    assert (said.verdict, said.reason) == ("rejects", NodeCheck.Reason.values[0])
    assert said.note == "Nothing of age in it, says y and n."


def test_a_check_that_is_given_back_by_keys_goes_to_somebody_else(project, ada, open_as):
    tree = disputed(project)
    page = start(open_as, ada)
    page.keyboard.press("r")
    expect(page.get_by_role("button", name="I do not understand this rule.")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/work/")
    assert Assignment.objects.get(worker=ada).state == "returned"
    assert take(project, make_member(project, Role.WORKER)).work_id == node(tree, "").pk
