"""A worker who writes scenarios, and one who checks them, by keyboard; drafts and a phone."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.scenarios.models import Contradiction, Scenario, ScenarioCheck
from apps.scenarios.services.scenario_work import prompt_of, say_that_it_fits, submit_scenario
from apps.workers.models import Assignment
from apps.workers.services.next_work import take_work
from tests.factories import make_member, make_user
from tests.scenarios.writing import OLD, POOR, make_writing

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOME = reverse("desk:project", args=["bikes"])
SAVED = re.compile(r"Saved \d\d:\d\d")


@pytest.fixture
def project() -> Project:
    project, _ = make_writing(2, slug="bikes", checks_per_scenario=1)
    return project


@pytest.fixture
def ada(project) -> User:
    return make_member(project, Role.WORKER, make_user("ada"))


def write(project: Project, text: str) -> Scenario:
    """By somebody else, on both turns of the path to Yes."""
    writer, now = make_member(project, Role.WORKER), timezone.now()
    lease = take_work(project, worker=writer, now=now)
    assert lease is not None
    say_that_it_fits(lease, now=now)
    submit_scenario(lease, text=text, pasted=0, key="k", now=now)
    scenario = Scenario.objects.get(text=text)
    scenario.facts.all().delete()
    for position, question in enumerate([OLD, POOR]):
        scenario.facts.create(
            position=position, follow_up_question=question, follow_up_answer="Yes"
        )
    return scenario


def start(open_as, person: User, **context: object) -> Page:
    page: Page = open_as(person, HOME, **context)
    page.keyboard.press("w")
    page.wait_for_url("**/scenario**")
    return page


def work_in_hand() -> Assignment:
    return Assignment.objects.leased().get()


def test_a_scenario_by_keyboard_alone(project, ada, open_as):
    page = start(open_as, ada)
    cards = page.locator(".turn-card")
    expect(cards).to_have_count(len(prompt_of(work_in_hand()).cards))

    page.keyboard.press("n")
    field = page.locator("#id_text")
    expect(field).to_be_focused()
    page.keyboard.type("I was born in 1930 and have hardly any money.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(f"**{HOME}")

    scenario = Scenario.objects.get(created_by=ada)
    assert scenario.text == "I was born in 1930 and have hardly any money."
    assert scenario.pasted == 0
    assert Assignment.objects.get(worker=ada).active_seconds < 60


def test_hints_mark_copied_words_and_never_block(project, ada, open_as):
    page = start(open_as, ada)
    card = prompt_of(work_in_hand()).cards[0][1].follow_up_question.strip("?")
    page.keyboard.press("n")
    expect(page.locator("#id_text")).to_be_focused()
    page.keyboard.type(f"They ask: {card}")
    expect(page.locator(".copied mark")).to_have_text(card)
    expect(page.locator(".hint").first).to_be_visible()

    page.locator(".hint button").first.click()
    expect(page.locator("#id_text")).to_be_focused()
    page.keyboard.press("Control+Enter")
    page.wait_for_url(f"**{HOME}")
    assert Scenario.objects.filter(created_by=ada).exists()


def test_a_refused_page_that_is_sent_once_more_shows_what_another_window_saved(
    project, ada, open_as
):
    page = start(open_as, ada)
    page.keyboard.press("n")
    page.locator("#id_text").fill("\u200b\u200b")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Not submitted. Please look at:")).to_be_visible()
    expect(page.locator("[data-draft-status]")).to_contain_text("Saved ")
    newer = {"text": "I am 90, and own little.", "pasted": ""}
    Assignment.objects.filter(worker=ada).update(draft=newer, draft_version=9)
    page.reload()
    expect(page.locator("[data-draft-theirs]")).to_contain_text(newer["text"])
    assert Assignment.objects.get(worker=ada).draft == newer


PASTE = """text => {
  const data = new DataTransfer(); data.setData('text', text);
  const field = document.querySelector('#id_text');
  field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
  field.setRangeText(text, field.selectionStart, field.selectionEnd, 'end');
  field.dispatchEvent(new InputEvent('input', { inputType: 'insertFromPaste', bubbles: true }));
}"""


def test_what_is_pasted_is_counted_and_pointed_out(project, ada, open_as):
    page = start(open_as, ada)
    page.keyboard.press("n")
    field = page.locator("#id_text")
    expect(field).to_be_focused()
    text = "I was born in 1930 and own hardly anything at all."
    page.evaluate(PASTE, text)
    expect(page.locator(".hints")).to_contain_text("Part of this was pasted.")
    assert page.locator("[data-pasted]").input_value() == str(len(text))
    page.keyboard.press("Control+a")
    page.keyboard.type("I")
    assert page.locator("[data-pasted]").input_value() == ""  # all of it was typed anew
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+a")
    page.evaluate(PASTE, text)
    page.keyboard.press("Control+Enter")
    page.wait_for_url(f"**{HOME}")
    assert Scenario.objects.get(created_by=ada).pasted == len(text)


def test_a_draft_comes_back_also_by_way_of_the_first_question(project, ada, open_as):
    page = start(open_as, ada)
    page.keyboard.press("n")
    expect(page.locator("#id_text")).to_be_focused()
    page.keyboard.type("I was born")
    expect(page.locator("[data-draft-status]")).to_have_text(SAVED)
    page.reload()
    expect(page.locator("#id_text")).to_have_value("I was born")

    page.keyboard.press("Escape")
    page.keyboard.press("u")
    page.wait_for_selector("#step-title")
    page.keyboard.press("y")
    expect(page.locator("#id_note")).to_be_visible()
    page.locator("#id_note").fill("Nobody is.")
    expect(page.locator("[data-draft-status]")).to_have_text(SAVED)
    page.keyboard.press("Escape")
    page.locator("summary", has_text="Yes, two do").click()
    page.keyboard.press("n")
    expect(page.locator("#id_text")).to_have_value("I was born")


def test_a_contradiction_is_reported_by_keyboard(project, ada, open_as):
    page = start(open_as, ada)
    page.keyboard.press("y")
    boxes = page.locator("input[type=checkbox]")
    expect(boxes.first).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.locator("#id_note").focus()
    page.keyboard.type("Nobody is both.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(f"**{HOME}")
    assert Contradiction.objects.get().reason == "Nobody is both."


def test_a_check_by_keyboard(project, ada, open_as):
    scenario = write(project, "I was born in 1930.")
    page = start(open_as, ada)
    expect(page.locator(".scenario-text")).to_have_text("I was born in 1930.")
    for key in "ydynyy":
        page.keyboard.press(key)
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: "-check" not in url)

    check = ScenarioCheck.objects.get()
    assert check.says == {OLD: "Yes", POOR: "not stated"}
    assert (check.own_words, check.verdict) == (True, "approves")
    scenario.refresh_from_db()
    assert scenario.state == "disputed"


def test_an_expert_decides_on_the_sheet(project, ada, open_as):
    scenario = write(project, "I was born in 1930.")
    Scenario.objects.filter(pk=scenario.pk).update(state="disputed")
    expert = make_member(project, Role.EXPERT)
    page = open_as(expert, reverse("scenarios:scenario_sheet", args=["bikes", scenario.pk]))
    page.locator("input[name=says-1][value='not stated']").check()
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/scenarios/")
    assert [str(fact) for fact in scenario.facts.all()] == [f"{OLD} Yes"]


@pytest.mark.parametrize("step", ["cards", "text", "check"])
def test_nothing_is_wider_than_a_phone(project, ada, open_as, step):
    if step == "check":
        write(project, "I was born in 1930. " + "W" * 80)
    page = start(open_as, ada, viewport={"width": 360, "height": 740}, has_touch=True)
    if step == "text":
        page.get_by_role("button", name="No, go on").click()
        expect(page.locator("#id_text")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_without_scripts_the_forms_do_the_same(project, ada, open_as):
    page = open_as(ada, HOME, java_script_enabled=False)
    page.get_by_role("button", name="Take work").click()
    page.get_by_role("button", name="No, go on").click()
    page.locator("#id_text").fill("I was born in 1930 and have hardly any money.")
    page.get_by_role("button", name="Submit and next").click()
    assert Scenario.objects.filter(created_by=ada).count() == 1
