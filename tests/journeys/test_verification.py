"""An expert verifies utterances by keyboard, on a phone, and without scripts."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.scenarios.models import CorrectionDraft, Utterance
from apps.scenarios.services.expansion import expand_project
from apps.scenarios.services.verification import accept
from apps.trees.domain.tree import Answer, FinalAnswer, Question, Turn
from tests.factories import make_member, make_project, make_scenario, make_tree, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

OLD, POOR = "Are you old?", "Are you poor?"
YES, NO = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
SAVED = re.compile(r"Saved \d\d:\d\d")
SHAPE = Question(OLD, Question(POOR, YES, NO), NO)


@pytest.fixture
def project() -> Project:
    project = make_project("bikes", name="Bikes")
    tree = make_tree(project, SHAPE)
    make_scenario(tree, "I am 90.", Turn(OLD, Answer.YES))
    expand_project(project, author=None, progress=lambda *step: None)
    return project


@pytest.fixture
def ada(project) -> User:
    return make_member(project, Role.EXPERT, make_user("ada"))


@pytest.fixture
def queue(ada, open_as):
    """`queue()`: the first utterance that waits, as Ada has it open."""

    def open_queue(**context) -> Page:
        page: Page = open_as(ada, reverse("scenarios:verification", args=["bikes"]), **context)
        page.get_by_role("link", name="Verify the next").click()
        page.wait_for_url("**/verification/*/")
        return page

    return open_queue


def here(page: Page) -> Utterance:
    """The utterance that is open."""
    return Utterance.objects.get(utterance_id=page.url.rstrip("/").rpartition("/")[2])


def press_to_leave(page: Page, keys: str) -> None:
    before = page.url
    page.keyboard.press(keys)
    expect(page).not_to_have_url(before)
    page.wait_for_load_state()


def test_a_tree_is_verified_by_keyboard_alone(queue):
    page = queue()
    first = here(page)
    evidence = page.locator("[data-evidence]")
    expect(evidence).not_to_have_attribute("open", "")
    page.keyboard.press("e")
    expect(evidence).to_have_attribute("open", "")
    press_to_leave(page, "Control+Enter")
    first.refresh_from_db()
    assert first.state == "accepted"
    expect(evidence).to_have_attribute("open", "")  # as it was left
    for _ in range(7):
        press_to_leave(page, "Control+Enter")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/verification/")
    expect(page.get_by_role("main")).to_contain_text("No utterance of dev and test waits")
    assert set(Utterance.objects.values_list("state", flat=True)) == {"accepted"}


def test_a_correction_by_keyboard_and_in_place(queue):
    page = queue()
    first = here(page)
    page.keyboard.press("c")
    answer = page.get_by_label("Answer", exact=True)
    expect(answer).to_have_value(OLD)
    answer.fill("Are you tall?")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("It has a question that its tree does not")
    expect(answer).to_have_value("Are you tall?")
    page.get_by_label("Why it stays").last.fill("The tree lacks it.")
    press_to_leave(page, "Control+Enter")
    first.refresh_from_db()
    assert (first.answer, first.state) == ("Are you tall?", "corrected")


# Drafts of corrections


def begin(page: Page) -> Locator:
    """The answer in the form of a correction that is open."""
    page.keyboard.press("c")
    return page.get_by_label("Answer", exact=True)


def status(page: Page) -> Locator:
    return page.locator("[data-draft-status]")


def test_what_was_typed_offline_comes_back_and_is_gone_when_it_is_corrected(queue):
    page = queue()
    first, address = here(page), page.url
    page.context.set_offline(True)
    begin(page).fill("Are you tall?")
    expect(status(page)).to_contain_text("Not saved (offline)")
    page.context.set_offline(False)
    expect(status(page)).to_have_text(SAVED, timeout=20_000)
    page.goto(address)
    answer = page.get_by_label("Answer", exact=True)
    expect(answer).to_have_value("Are you tall?")
    page.get_by_label("Why it stays").last.fill("The tree lacks it.")
    page.keyboard.press("Control+Enter")
    expect(page).not_to_have_url(address)
    first.refresh_from_db()
    assert first.answer == "Are you tall?"
    page.goto(address)
    expect(page.get_by_role("main")).not_to_contain_text("You had typed this before")
    expect(status(page)).to_have_text("Saved as you type")
    assert not CorrectionDraft.objects.exists()


def test_a_correction_that_was_begun_is_gone_to_by_its_key_and_not_accepted_over(queue):
    page = queue()
    begin(page).fill("Are you tall?")
    expect(status(page)).to_have_text(SAVED)
    page.reload()
    page.keyboard.press("c")
    expect(page.get_by_label("Answer", exact=True)).to_be_visible()
    assert page.evaluate("document.activeElement.closest('.correction-form') !== null")
    page.get_by_role("button", name="Accept and next").click()
    expect(page.get_by_role("main")).to_contain_text("You have begun to correct this utterance")


def test_of_two_windows_the_second_sees_the_newer_draft_beside_its_own(queue):
    mine = queue()
    theirs = mine.context.new_page()
    theirs.goto(mine.url)
    begin(theirs).fill("Theirs?")
    expect(status(theirs)).to_have_text(SAVED)
    mine.bring_to_front()
    begin(mine).fill("Mine?")
    expect(status(mine)).to_contain_text("Saved in another window")
    expect(mine.locator("[data-draft-theirs]")).to_have_text("Theirs?")
    mine.get_by_role("button", name="Go on with mine").click()
    expect(status(mine)).to_have_text(SAVED)
    assert CorrectionDraft.objects.get().content["part-answer"] == "Mine?"


def test_who_types_while_another_expert_decides_is_told_and_loses_nothing(queue, project):
    page = queue()
    answer = begin(page)
    ben = make_member(project, Role.EXPERT, make_user("ben"))
    accept(here(page), seen=1, by=ben, now=timezone.now())
    answer.fill("Are you tall?")
    expect(status(page)).to_contain_text("The utterance has changed meanwhile")
    page.reload()
    expect(page.get_by_role("main")).to_contain_text("has changed since you typed this")
    expect(page.get_by_label("Answer", exact=True)).to_have_value("Are you tall?")


def test_dropping_takes_two_keys_and_none_drops_by_itself(queue):
    page = queue()
    first = here(page)
    page.keyboard.press("d")
    button = page.get_by_role("button", name="The scenario does not fit the rule.")
    expect(button).to_be_focused()
    first.refresh_from_db()
    assert first.state == "to verify"
    press_to_leave(page, "Enter")
    first.refresh_from_db()
    assert (first.state, first.dropped_reason) == (
        "dropped", "The scenario does not fit the rule.",
    )  # fmt: skip


def test_keys_do_nothing_in_a_field(queue):
    page = queue()
    first = here(page)
    page.keyboard.press("c")
    page.get_by_label("Answer", exact=True).fill("")
    page.keyboard.type("adne")
    expect(page.get_by_label("Answer", exact=True)).to_have_value("adne")
    first.refresh_from_db()
    assert first.state == "to verify"


def test_one_walks_through_the_tree_and_skips(queue):
    page = queue()
    first = here(page)
    press_to_leave(page, "j")
    second = here(page)
    press_to_leave(page, "k")
    assert here(page) == first
    press_to_leave(page, "n")
    assert here(page) == second
    expect(page.locator(".mark[aria-current=page]")).to_have_text(re.compile("^2"))


def test_all_of_a_tree_is_accepted_after_a_look(queue):
    page = queue()
    press_to_leave(page, "l")
    expect(page.get_by_role("main")).to_contain_text("Have you looked at all of them?")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/verification/")
    assert set(Utterance.objects.values_list("state", flat=True)) == {"accepted"}


def test_on_a_phone_nothing_is_wider_than_the_screen(queue):
    page = queue(viewport={"width": 360, "height": 740})
    page.get_by_text("Correct…").click()
    wider = "document.documentElement.scrollWidth > window.innerWidth"
    assert page.evaluate(wider) is False
    page.get_by_text("Drop…").click()
    assert page.evaluate(wider) is False


def test_without_scripts_everything_can_be_done(queue):
    page = queue(java_script_enabled=False)
    first = here(page)
    page.get_by_text("Drop…").click()
    page.get_by_label("Another reason").fill("It is odd.")
    page.get_by_role("button", name="Drop for this reason").click()
    second = here(page)
    page.get_by_role("button", name="Accept and next").click()
    assert here(page) not in {first, second}
    states = [Utterance.objects.get(pk=one.pk).state for one in (first, second)]
    assert states == ["dropped", "accepted"]
