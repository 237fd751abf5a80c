"""A worker on their path in a browser: by keys alone, on a phone, without the network, twice."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.trees.domain.simulated_user import simulated_answer
from apps.trees.models import Cut, Node, PathStep, Tree
from apps.trees.services.cuts import take_out
from apps.workers.models import Assignment, KeptText
from tests.factories import PASSWORD, make_member, make_project, make_user
from tests.trees.path_work import RULE, growing_tree, node, path_address, take

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOME = reverse("desk:project", args=["bikes"])
SAVED = re.compile(r"Saved \d\d:\d\d")


@pytest.fixture
def project() -> Project:
    return make_project("bikes", name="Bikes")


@pytest.fixture
def ada(project) -> User:
    return make_member(project, Role.WORKER, make_user("ada"))


@pytest.fixture
def tree(project) -> Tree:
    """With one question of somebody else's: two branches are open."""
    return growing_tree(project)


@pytest.fixture
def path(ada, tree, open_as):
    """`path()`: the branch YES as Ada has it open; she has agreed with what is above it."""

    def open_path(**context: object) -> Page:
        page: Page = open_as(ada, HOME, **context)
        page.keyboard.press("w")
        page.wait_for_url("**/path/")
        page.keyboard.press("y")
        expect(field(page)).to_be_visible()
        # Until htmx has settled, keys and hints of the new part are not there.
        expect(page.locator(".htmx-settling, .htmx-request")).to_have_count(0)
        return page

    return open_path


def field(page: Page):
    return page.locator("#id_text")


def turns(page: Page) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(".said").all_inner_texts()]


def status(page: Page):
    return page.locator("[data-draft-status]")


def work() -> Assignment:
    return Assignment.objects.leased().get()


def asked() -> list[str]:
    return list(PathStep.objects.standing().exclude(text="").values_list("text", flat=True))


def count_keys(page: Page) -> list[str]:
    presses: list[str] = []
    page.expose_function("pressed", lambda key: presses.append(key))
    page.evaluate("document.addEventListener('keydown', (e) => pressed(e.key), true)")
    return presses


def copies(page: Page) -> int:
    """The drafts that this browser keeps and the server may not have."""
    kept = "Object.entries(localStorage).filter(([k, v]) => k.startsWith('draft ')"
    return int(page.evaluate(f"{kept} && JSON.parse(v).dirty).length"))


# By keys alone ------------------------------------------------------------------------------------


def test_case_56_a_whole_path_by_keys_takes_one_press_per_question_and_two_for_the_answer(
    path, tree
):
    page = path()
    presses = count_keys(page)
    expect(field(page)).to_be_focused()

    page.keyboard.type("Do you have a helmet?")
    page.keyboard.press("Enter")
    answer = simulated_answer(tree.seed, "y")
    expect(page.locator("[data-path-news]")).to_have_text(f"User: {answer}")
    assert turns(page)[-2:] == ["You Do you have a helmet?", f"User {answer}"]
    expect(field(page)).to_be_focused()
    expect(field(page)).to_have_value("")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.get_by_role("button", name="Submit and next")).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".said.is-own")).to_have_count(0)  # the next work: she agreed before
    expect(field(page)).to_be_focused()

    assert "".join(key for key in presses if len(key) == 1) == "Do you have a helmet?n"
    assert [key for key in presses if len(key) > 1 and key != "Shift"] == [
        "Enter", "Escape", "Control", "Enter",
    ]  # fmt: skip
    assert node(tree, "y").text == "Do you have a helmet?"
    assert node(tree, f"y{answer[0].lower()}").answer == "No"
    assert work().part == f"{node(tree, '').pk}-no"
    assert copies(page) == 0
    assert not KeptText.objects.exists()


def test_a_turn_is_rejected_by_keys(ada, tree, open_as):
    page = open_as(ada, HOME)
    page.keyboard.press("w")
    page.wait_for_url("**/path/")
    page.keyboard.press("n")
    expect(page.locator("input[name=reason]").first).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.type("Nothing of age in it.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".said")).to_have_count(1)  # the same tree, from its beginning
    cut = Cut.objects.get()
    assert cut.reason == "The rule text does not ask for this. Nothing of age in it."
    assert not Node.objects.live().exists()


def test_a_turn_is_taken_back_with_its_text_in_the_field(path):
    page = path()
    page.keyboard.type("Do you have a helmet?")
    page.keyboard.press("Enter")
    expect(page.locator(".said.is-own")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    expect(page.locator(".said.is-own")).to_have_count(0)
    expect(field(page)).to_have_value("Do you have a helmet?")
    expect(field(page)).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("Backspace")
    page.keyboard.type(" on?")
    page.keyboard.press("Enter")
    expect(page.locator(".said.is-own")).to_have_count(1)
    assert asked() == ["Do you have a helmet on?"]


def test_case_57_keys_are_letters_in_the_field_and_58_are_listed(path):
    page = path()
    page.keyboard.type("?ynusrg")
    expect(field(page)).to_have_value("?ynusrg")
    assert page.locator("details[data-focus-inside][open]").count() == 0
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    listed = [text.strip() for text in page.locator("dialog dt").all_inner_texts()]
    assert listed == ["S", "Y", "N", "R", "G", "Ctrl+Enter", "Esc"]
    assert asked() == []


def test_enter_twice_asks_nothing_and_answers_nothing_by_itself(path, tree):
    Tree.objects.update(max_depth=2)
    page = path()
    page.keyboard.type("Do you have a helmet?")
    page.keyboard.press("Enter")
    expect(page.locator(".path-answer legend")).to_contain_text("at its limit of 2 questions")
    page.keyboard.press("Enter")
    page.wait_for_timeout(500)
    assert [step.text for step in PathStep.objects.all()] == ["Do you have a helmet?"]


def test_hints_come_while_typing_can_be_dismissed_and_never_block(path):
    page = path()
    page.keyboard.type("Are you over 18")
    expect(page.locator(".hint")).to_have_count(2)
    page.locator(".hint button").first.click()
    expect(field(page)).to_be_focused()
    expect(page.locator(".hint")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".said.is-own")).to_have_count(1)
    assert asked() == ["Are you over 18"]


# The source of a question -------------------------------------------------------------------------


def select(page: Page, words: str) -> None:
    """By mouse, from the first of the words to the last."""
    box = page.evaluate(
        """words => {
          const walker = document.createTreeWalker(
            document.querySelector("[data-rule-text]"), NodeFilter.SHOW_TEXT);
          for (let node; (node = walker.nextNode());) {
            const at = node.data.indexOf(words);
            if (at < 0) continue;
            const range = document.createRange();
            range.setStart(node, at);
            range.setEnd(node, at + words.length);
            const { left, right, top, bottom } = range.getBoundingClientRect();
            return { left, right, y: (top + bottom) / 2 };
          }
        }""",
        words,
    )
    page.mouse.move(box["left"] + 0.5, box["y"])
    page.mouse.down()
    page.mouse.move((box["left"] + box["right"]) / 2, box["y"])
    page.mouse.move(box["right"] - 0.5, box["y"])
    page.mouse.up()


def test_case_48_words_behind_an_emoji_are_the_same_in_the_browser_and_the_database(path, tree):
    page = path()
    page.keyboard.type("Do you have a helmet?")
    select(page, "have a helmet")
    expect(page.locator("[data-span-words]")).to_have_text("have a helmet")
    expect(field(page)).to_be_focused()
    expect(status(page)).to_have_text(SAVED)
    page.reload()
    expect(page.locator("[data-span-words]")).to_have_text("have a helmet")
    expect(field(page)).to_have_value("Do you have a helmet?")
    page.keyboard.press("Enter")
    expect(page.locator(".said.is-own")).to_have_count(1)
    step = PathStep.objects.get()
    assert RULE[step.span_start : step.span_end] == "have a helmet"
    expect(page.locator("[data-span-chosen]")).to_be_hidden()


def test_words_are_selected_by_keyboard_and_taken_away(path):
    page = path()
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    expect(page.locator("[data-rule-text]")).to_be_focused()
    for _ in range(3):
        page.keyboard.press("ArrowDown")  # the first word; then a paragraph, and a list item
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("[data-span-words]")).to_have_text("you are over")
    page.keyboard.press("Enter")
    expect(field(page)).to_be_focused()
    page.keyboard.type("Are you over 18?")
    page.keyboard.press("Enter")
    expect(page.locator(".said.is-own")).to_have_count(1)
    step = PathStep.objects.get()
    assert RULE[step.span_start : step.span_end] == "you are over"
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    expect(page.locator("[data-span-words]")).to_have_text("you are over")
    page.locator("[data-span-clear]").click()
    page.keyboard.press("Enter")
    expect(page.locator(".said.is-own")).to_have_count(1)
    assert PathStep.objects.standing().get().span_start is None


# When something goes wrong ------------------------------------------------------------------------


def test_case_13_with_the_network_gone_it_says_so_keeps_all_and_sends_it_afterwards(path):
    page = path()
    page.keyboard.type("Do you ")
    expect(status(page)).to_have_text(SAVED)
    page.context.set_offline(True)
    page.keyboard.type("have a helmet?")
    expect(status(page)).to_contain_text("Not saved (offline)")
    page.keyboard.press("Enter")
    expect(page.locator("[data-path-trouble]")).to_contain_text("Not sent: you are offline.")
    expect(field(page)).to_have_value("Do you have a helmet?")
    assert work().draft["text"] == "Do you "

    page.context.set_offline(False)
    expect(status(page)).to_have_text(SAVED)
    assert work().draft["text"] == "Do you have a helmet?"
    page.keyboard.press("Enter")
    expect(page.locator(".said.is-own")).to_have_count(1)
    expect(page.locator("[data-path-trouble]")).to_be_hidden()
    assert asked() == ["Do you have a helmet?"]
    assert copies(page) == 0


def test_a_server_that_does_not_answer_is_told_and_the_text_stays(path):
    page = path()
    page.route("**/ask/", lambda route: route.fulfill(status=502), times=1)
    page.keyboard.type("Do you have a helmet?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-path-trouble]")).to_contain_text("the studio does not answer")
    expect(field(page)).to_have_value("Do you have a helmet?")
    expect(status(page)).to_have_text(SAVED)
    page.keyboard.press("Enter")
    expect(page.locator(".said.is-own")).to_have_count(1)
    assert asked() == ["Do you have a helmet?"]


def test_case_15_a_session_that_ends_on_the_way_is_told_and_all_is_there_after_log_in(path):
    page = path()
    page.keyboard.type("Do you have a helmet?")
    page.keyboard.press("Enter")
    expect(page.locator(".said.is-own")).to_have_count(1)
    page.context.clear_cookies(name="sessionid")
    page.keyboard.type("Do you have a bell?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-path-trouble]")).to_contain_text("you are logged out")
    expect(field(page)).to_have_value("Do you have a bell?")

    status(page).get_by_role("link", name="Log in").click()
    page.fill("#id_username", "ada")
    page.fill("#id_password", PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/path/")
    expect(field(page)).to_have_value("Do you have a bell?")
    page.keyboard.press("Enter")
    expect(page.locator(".said.is-own")).to_have_count(2)
    assert asked() == ["Do you have a helmet?", "Do you have a bell?"]


def test_case_16_a_double_click_and_a_second_window_ask_once(path):
    page = path()
    other = page.context.new_page()
    other.goto(page.url)
    page.bring_to_front()
    field(page).fill("Do you have a helmet?")
    page.get_by_role("button", name=re.compile("^Ask")).dblclick()
    expect(page.locator(".said.is-own")).to_have_count(1)
    other.bring_to_front()
    field(other).fill("Do you have a bell?")
    other.keyboard.press("Enter")
    expect(other.locator("#path .error-summary")).to_contain_text("in another window")
    expect(other.locator(".said.is-own")).to_have_count(1)
    expect(field(other)).to_have_value("Do you have a bell?")
    assert asked() == ["Do you have a helmet?"]


def test_case_18_after_the_time_has_run_out_the_work_comes_back_with_its_turns(path):
    page = path()
    page.keyboard.type("Do you have a helmet?")
    page.keyboard.press("Enter")
    expect(page.locator(".said.is-own")).to_have_count(1)
    past = timezone.now() - timedelta(minutes=1)
    Assignment.objects.update(leased_at=past - timedelta(hours=1), expires_at=past)
    page.keyboard.type("Do you have a bell?")
    page.keyboard.press("Enter")
    expect(page.locator(".notice").first).to_contain_text("It is yours again")
    expect(page.locator(".said.is-own")).to_have_count(2)
    expect(field(page)).to_have_value("")
    assert path_address(work()) in page.url


def test_a_branch_that_was_taken_out_meanwhile_says_so_with_what_was_typed(path, tree):
    page = path()
    take_out(node(tree, ""), kind=Cut.Kind.PRUNED, actor=None, reason="", now=timezone.now())
    page.keyboard.type("Do you have a bell?")
    page.keyboard.press("Enter")
    expect(page.locator("main h1")).to_have_text("This work is over")
    expect(page.locator("main")).to_contain_text("were taken out meanwhile")
    expect(page.locator(".typed")).to_have_text(["Do you have a bell?"])


def test_case_14_leaving_and_coming_back_loses_nothing(path):
    page = path()
    address = page.url
    page.keyboard.type("Do you have")
    page.goto(HOME)
    page.goto(address)
    expect(field(page)).to_have_value("Do you have")
    expect(status(page)).to_have_text(SAVED)


# Narrow, and without scripts ----------------------------------------------------------------------


def test_on_a_phone_the_rule_text_is_a_sheet_over_the_conversation(ada, tree, open_as):
    page = open_as(ada, HOME, viewport={"width": 375, "height": 740}, has_touch=True)
    page.get_by_role("button", name="Take work").tap()
    page.wait_for_url("**/path/")
    page.get_by_role("button", name="On to the conversation").tap()
    expect(page.locator("[data-rule-text]")).to_be_hidden()
    page.get_by_role("button", name="Yes, go on").tap()
    field(page).fill("Do you have a helmet?")
    page.get_by_role("button", name=re.compile("^Ask")).tap()
    expect(page.locator(".said.is-own")).to_have_count(1)
    place = "document.getElementById('path').offsetTop"
    before = page.evaluate(place)
    page.locator("[data-rule-sheet] > summary").tap()
    expect(page.locator("[data-rule-text]")).to_be_in_viewport()
    assert page.evaluate(place) == before  # it lies over it, and moves nothing
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    assert asked() == ["Do you have a helmet?"]


def test_no_page_of_a_path_is_wider_than_a_narrow_phone(project, ada, open_as):
    long = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung" * 2
    tree = growing_tree(project)
    Node.objects.update(text=f"{long}?")
    snippet = tree.question.snippet
    snippet.text = f"# {long}\n\n* {long}"
    snippet.save()
    page = open_as(ada, HOME, viewport={"width": 300, "height": 700})
    page.keyboard.press("w")
    page.wait_for_url("**/path/")
    page.keyboard.press("n")
    assert page.evaluate("document.documentElement.scrollWidth") == 300
    page.keyboard.press("Escape")
    page.keyboard.press("y")
    field(page).fill(f"{long}?")
    assert page.evaluate("document.documentElement.scrollWidth") == 300


def test_without_scripts_the_same_forms_do_the_same(ada, tree, open_as):
    page = open_as(ada, HOME, java_script_enabled=False)
    page.get_by_role("button", name="Take work").click()
    page.get_by_role("button", name="Yes, go on").click()
    field(page).fill("Do you have a helmet?")
    page.locator("#id_words").fill("have a helmet")
    page.get_by_role("button", name=re.compile("^Ask")).click()
    page.get_by_role("button", name="Take your last question back").click()
    expect(field(page)).to_have_value("Do you have a helmet?")
    page.get_by_role("button", name=re.compile("^Ask")).click()
    page.locator(".answers").get_by_role("button", name="Yes").click()
    page.get_by_role("button", name="Submit and next").click()
    written = node(tree, "y")
    assert RULE[written.span_start : written.span_end] == "have a helmet"
    assert work().part == f"{node(tree, '').pk}-no"


def test_time_on_task_goes_on_while_somebody_works_and_not_while_nobody_does(path):
    page = path()
    page.clock.install()
    page.reload()
    before = page.evaluate("activeSeconds()")
    page.clock.run_for(30_000)
    assert page.evaluate("activeSeconds()") - before == pytest.approx(30, abs=2)
    page.clock.run_for(600_000)
    assert page.evaluate("activeSeconds()") - before == pytest.approx(60, abs=3)
    page.mouse.move(100, 100)
    page.mouse.move(200, 200)
    page.clock.run_for(20_000)
    assert page.evaluate("activeSeconds()") - before == pytest.approx(80, abs=4)


def test_two_people_never_meet_on_one_branch(project, ada, tree, open_as):
    page = open_as(ada, HOME)
    other = take(project, make_member(project, Role.WORKER))
    page.keyboard.press("w")
    page.wait_for_url("**/path/")
    mine = Assignment.objects.get(worker=ada)
    assert (mine.work_id, mine.part) != (other.work_id, other.part)


def test_a_step_begins_the_time_anew_on_the_page_too(path):
    page = path()
    Assignment.objects.update(expires_at=timezone.now() + timedelta(seconds=90))
    page.reload()
    expect(page.locator(".time-left")).to_have_text("2 min left")
    page.keyboard.type("Do you have a helmet?")
    page.keyboard.press("Enter")
    expect(page.locator(".said.is-own")).to_have_count(1)
    expect(page.locator(".time-left")).to_have_text("1 h left")


def test_ctrl_enter_sends_no_form_that_is_folded_away(ada, tree, open_as):
    page = open_as(ada, HOME)
    page.keyboard.press("w")
    page.wait_for_url("**/path/")
    page.keyboard.press("n")
    page.keyboard.press("Space")  # the first reason
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator("details[data-focus-inside][open]")).to_have_count(0)
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(300)
    assert not Cut.objects.exists()
    expect(page.locator(".error-summary")).to_have_count(0)


def test_what_was_typed_just_before_a_reload_is_no_other_window(path):
    page = path()
    page.keyboard.type("Do you have a hel")
    page.reload()
    expect(field(page)).to_have_value("Do you have a hel")
    field(page).press("End")
    page.keyboard.type("met?")
    expect(page.locator("[data-draft-status]")).to_contain_text(SAVED)
    expect(page.locator("[data-draft-conflict]")).to_be_hidden()
    assert Assignment.objects.get().draft["text"] == "Do you have a helmet?"
