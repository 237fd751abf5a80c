"""Keys, and what is told without colours (cases 56 to 59): in the templates and in a browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question
from sharc_studio.environment import BASE_DIR
from tests.factories import make_member, make_project, make_tree
from tests.trees.path_work import growing_tree

TEMPLATES = BASE_DIR / "templates"
_TAG = re.compile(r"<(?P<name>[a-z]+)\b(?P<rest>(?:\{%.*?%\}|\{\{.*?\}\}|\"[^\"]*\"|[^>\"{])*)>")
_ATTRIBUTE = re.compile(r"([a-z-]+)=\"([^\"]*)\"")

# In these browsers a single key does something of its own: find as you type, scroll, leave.
TAKEN = {"/", "'", " ", "Tab", "Enter", "Escape", "Backspace", "Delete", "F1", "F5", "?"}
# They are pressed one after the other through several questions, and listed as one.
IN_A_ROW = {"scenarios/scenario_check.html"}


def elements() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Template, name and attributes of every element."""
    for path in sorted(TEMPLATES.rglob("*.html")):
        where = str(path.relative_to(TEMPLATES))
        for tag in _TAG.finditer(path.read_text(encoding="utf-8")):
            yield where, tag["name"], dict(_ATTRIBUTE.findall(tag["rest"]))


def classes(attributes: dict[str, str]) -> set[str]:
    return set(attributes.get("class", "").split())


# The key map --------------------------------------------------------------------------------------


@pytest.mark.once
def test_case_56_wherever_yes_or_no_is_asked_y_and_n_answer():
    asked = [
        (where, "y" if "yes" in classes(one) else "n", one.get("data-key"))
        for where, name, one in elements()
        if name in {"button", "summary"} and "answer" in classes(one)
        and classes(one) & {"yes", "no"} and where not in IN_A_ROW
    ]  # fmt: skip
    assert len(asked) >= 6
    assert [(where, wanted, key) for where, wanted, key in asked if key != wanted] == []


@pytest.mark.once
def test_case_57_no_key_is_the_browsers_own_and_none_destroys_by_itself():
    keyed = [(where, one) for where, _, one in elements() if "data-key" in one]
    assert len(keyed) > 40
    keys = {one["data-key"] for _, one in keyed if "{{" not in one["data-key"]}
    assert keys & TAKEN == set()
    assert {key for key in keys if not re.fullmatch(r"[a-z0-9]", key)} == set()
    assert [where for where, one in keyed if "danger" in classes(one)] == []


@pytest.mark.once
def test_case_58_each_key_says_what_it_does():
    silent = [
        (where, one.get("data-key", one.get("data-key-info")))
        for where, _, one in elements()
        if one.keys() & {"data-key", "data-key-info"} and not one.get("data-key-label")
    ]
    assert silent == []


@pytest.mark.once
def test_case_59_every_draft_says_whether_it_is_saved():
    with_drafts = {where for where, _, one in elements() if "data-draft-owner" in one}
    assert len(with_drafts) >= 3
    for where in with_drafts:
        text = (TEMPLATES / where).read_text(encoding="utf-8")
        assert '{% include "workers/_draft.html" %}' in text, where
    draft = {key: one for where, _, one in elements() if where == "workers/_draft.html"
             for key in one}  # fmt: skip
    assert draft["role"]["role"] == "status"  # polite: it waits until the reader has finished


# In a browser -------------------------------------------------------------------------------------


@pytest.fixture
def project() -> Project:
    return make_project("bikes", name="Bikes")


def page_of_path(open_as, worker: User) -> Page:
    page: Page = open_as(worker, reverse("desk:project", args=["bikes"]))
    page.keyboard.press("w")
    page.wait_for_url("**/path/")
    return page


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_case_57_after_alt_and_tab_keys_work_as_before(project, open_as):
    admin = make_member(project, Role.ADMIN)
    page = open_as(admin, reverse("projects:people", args=["bikes"]))
    page.evaluate(
        """() => {  // Alt goes down here and up in another window
          for (const key of ["Alt", "Tab", "q"]) {
            document.body.dispatchEvent(
              new KeyboardEvent("keydown", { key, altKey: true, bubbles: true, cancelable: true }));
          }
          window.dispatchEvent(new Event("blur"));
          window.dispatchEvent(new Event("focus"));
        }"""
    )
    assert page.evaluate("document.activeElement.id") == ""
    page.keyboard.press("q")
    assert page.evaluate("document.activeElement.id") == "search"


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_case_58_keys_are_told_to_screen_readers_unless_they_are_off(project, open_as):
    growing_tree(project)
    worker = make_member(project, Role.WORKER)
    page = page_of_path(open_as, worker)
    go_on = page.get_by_role("button", name="Yes, go on")
    expect(go_on).to_have_attribute("aria-keyshortcuts", "Y")
    page.keyboard.press("y")  # what comes into the page later has its keys, too
    answer = page.locator(".answers").get_by_role("button", name="No")
    expect(answer).to_have_attribute("aria-keyshortcuts", "N")
    User.objects.update(keys_off=True)
    page.reload()
    expect(answer).to_be_visible()
    assert answer.get_attribute("aria-keyshortcuts") is None


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_case_59_yes_and_no_are_words_and_what_is_saved_is_said(project, open_as):
    growing_tree(project)
    page = page_of_path(open_as, make_member(project, Role.WORKER))
    page.keyboard.press("y")
    answers = page.locator(".answers").get_by_role("button")
    expect(answers).to_have_count(2)
    assert [words.split()[0] for words in answers.all_inner_texts()] == ["Yes", "No"]
    page.locator("#id_text").fill("Do you have a helmet?")
    news = page.locator("[data-draft-news]")
    expect(news).to_have_text(re.compile(r"Saved \d\d:\d\d"))
    expect(news).to_have_attribute("role", "status")
    page.context.set_offline(True)
    page.locator("#id_text").fill("Do you have a bell?")
    expect(news).to_contain_text("Not saved (offline)")
    page.context.set_offline(False)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_case_59_a_tree_is_told_in_words(project, open_as):
    yes, no = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
    shape = Question("Are you old?", Question("Are you ill?", yes, OpenBranch()), no)
    tree = make_tree(project, shape)
    page = open_as(make_member(project, Role.EXPERT), tree.get_absolute_url())
    told = [" ".join(item.split()) for item in page.get_by_role("treeitem").all_inner_texts()]
    assert told == [
        "(1) Are you old?", "YES (2) Are you ill?", "YES = Yes", "NO open", "NO = No",
    ]  # fmt: skip
    drawn = page.locator("svg [data-line] text").all_text_contents()
    assert sorted(drawn) == ["NO", "NO", "YES", "YES"]


def test_the_templates_are_read_as_they_are():
    names = {where for where, _, _ in elements()}
    assert {str(Path("trees") / "_path_answer.html"), "base.html"} <= names
