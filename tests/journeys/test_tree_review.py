"""An expert settles what was flagged and works on a tree: by keys, without scripts, on a phone."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.trees.domain.tree import Question
from apps.trees.models import Tree
from tests.factories import make_member, make_project, make_user
from tests.trees.rows import NEEDLESS, NO, REDUNDANT, YES, flags, grow, node

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 375, "height": 800}


@pytest.fixture
def project() -> Project:
    return make_project("bikes", name="Bikes")


@pytest.fixture
def erin(project) -> User:
    return make_member(project, Role.EXPERT, make_user("erin"))


def page_of(tree: Tree) -> str:
    return reverse("trees:detail", args=["bikes", tree.tree_id])


def is_too_wide(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))


def states(*trees: Tree) -> list[str]:
    return [flags(tree)[0][2] for tree in trees]


def test_the_queue_by_keyboard_alone(open_as, project, erin):
    """Case 56, 57: one key chooses, none does it by itself; no key fires in a field."""
    trees = [
        grow(project, Question(f"Case {number}?", Question(f"Needless {number}?", YES, YES), NO))
        for number in range(4)
    ]
    page = open_as(erin, reverse("trees:to_settle", args=["bikes"]))
    title = page.get_by_role("heading", level=2).filter(has_text="Needless")
    expect(title).to_have_text("Needless 0?")
    page.keyboard.press("l")
    expect(title).to_have_text("Needless 1?")
    page.keyboard.press("p")
    expect(page.get_by_label("Take out and annotate anew")).to_be_checked()
    assert states(*trees) == ["open"] * 4
    page.keyboard.press("Control+Enter")
    expect(title).to_have_text("Needless 2?")
    page.keyboard.press("k")
    expect(page.get_by_label("Why?")).to_be_focused()
    page.keyboard.type("play no part")  # letters that are keys elsewhere
    page.keyboard.press("Control+Enter")
    expect(title).to_have_text("Needless 3?")
    page.keyboard.press("y")
    page.keyboard.press("Control+Enter")
    expect(title).to_have_text("Needless 0?")
    assert states(*trees) == ["open", "pruned", "kept", "settled"]
    assert trees[2].flags.get().reason == "play no part"


def test_a_wording_is_changed_by_keyboard_and_what_is_wrong_is_said(open_as, project, erin):
    tree = grow(project, REDUNDANT)
    page = open_as(erin, page_of(tree))
    page.keyboard.press("w")
    field = page.get_by_label("Question", exact=True)
    expect(field).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("Yes")
    page.get_by_role("button", name="Change the wording").click()
    expect(page.get_by_role("alert")).to_contain_text("This is an answer, not a question.")
    expect(field).to_have_value("Yes")
    field.fill("Are you over 18?")
    page.get_by_role("button", name="Change the wording").click()
    expect(page.locator(".notice.success")).to_contain_text("The question is worded anew")
    assert tree.to_domain() == Question("Are you over 18?", NEEDLESS, NO)


def test_the_panel_that_htmx_brought_has_working_forms(open_as, project, erin):
    tree = grow(project, REDUNDANT)
    page = open_as(erin, page_of(tree))
    page.locator(f"[data-slot='{node(tree, 'Needless?').pk}']").click()
    expect(page.locator(".panel-title")).to_contain_text("Needless?")
    page.keyboard.press("x")
    page.get_by_label("It is needless").check()
    page.get_by_label("Why?").fill("Ask less.")
    page.get_by_role("button", name="Take this branch out").click()
    expect(page.locator(".panel-title")).to_contain_text("Open branch")
    assert flags(tree) == [("Needless?", "one answer", "pruned")]


def test_without_scripts_a_branch_goes_and_comes_back(open_as, project, erin):
    tree = grow(project, REDUNDANT)
    page = open_as(
        erin, f"{page_of(tree)}?node={node(tree, 'Needless?').pk}", java_script_enabled=False
    )
    page.locator("summary").filter(has_text="Take this branch out").click()
    page.get_by_label("It is wrong").check()
    page.get_by_label("Why?").fill("Line 2 says no.")
    page.get_by_role("button", name="Take this branch out").click()
    expect(page.locator(".notice.success")).to_contain_text("It can be restored.")
    page.locator("summary").filter(has_text="Taken out of this tree").click()
    page.get_by_role("button", name="Restore").click()
    expect(page.locator(".notice.success")).to_contain_text("back in the tree")
    assert tree.to_domain() == REDUNDANT


def test_two_experts_at_once(open_as, project, erin):
    tree = grow(project, REDUNDANT)
    emil = make_member(project, Role.EXPERT, make_user("emil"))
    address = reverse("trees:to_settle", args=["bikes"])
    first, second = open_as(erin, address), open_as(emil, address)
    for page in (first, second):
        page.get_by_label("Settle with Yes").check()
        page.get_by_role("button", name="Settle and next").click()
    expect(second.locator(".notice.warning").first).to_contain_text(
        "Somebody has settled this already"
    )
    assert tree.cuts.get().by == erin


def test_everything_fits_a_phone(open_as, project, erin):
    long = "Unreasonably" * 12
    tree = grow(project, Question(f"Is it {long}?", Question(f"Or {long}?", YES, YES), NO))
    page = open_as(erin, reverse("trees:to_settle", args=["bikes"]), viewport=PHONE)
    expect(page.get_by_role("heading", name="To settle")).to_be_visible()
    assert not is_too_wide(page)
    for name in ("detail", "history", "compare"):
        page.goto(reverse(f"trees:{name}", args=["bikes", tree.tree_id]))
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert not is_too_wide(page), name
