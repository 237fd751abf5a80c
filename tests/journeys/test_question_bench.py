"""An expert at the question bench, by keyboard; drafts when the network or the session goes."""

import re
from urllib.parse import urlsplit

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.snippets.models import Question, Snippet
from apps.workers.models import Assignment, KeptText
from tests.browsing import log_in
from tests.factories import make_document, make_member, make_project, make_snippet, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SAVED = re.compile(r"Saved \d\d:\d\d")


@pytest.fixture
def project() -> Project:
    return make_project("bikes", name="Bikes")


@pytest.fixture
def ada(project) -> User:
    return make_member(project, Role.EXPERT, make_user("ada"))


@pytest.fixture
def snippets(project) -> list[Snippet]:
    document = make_document(project, domain="bikes.example")
    texts = ("Cargo bikes are for people over 18.", "A tandem is for two.", "See also: trams.")
    return [make_snippet(document, text=f"# Rule\n\n{text}") for text in texts]


@pytest.fixture
def bench(ada, snippets, open_as):
    """`bench()`: the first snippet's bench, as Ada has it open."""

    def open_bench() -> Page:
        page: Page = open_as(ada, reverse("snippets:questions", args=["bikes"]))
        page.keyboard.press("w")
        page.wait_for_url("**/questions/work/*/")
        return page

    return open_bench


def status(page: Page):
    return page.locator("[data-draft-status]")


def field(page: Page):
    return page.locator("#id_text")


def work_in_hand() -> Assignment:
    return Assignment.objects.leased().get()


def rule(page: Page):
    return page.locator(".rule-text p")


def copies(page: Page) -> int:
    """The drafts that this browser keeps and the server may not have."""
    kept = "Object.entries(localStorage).filter(([k, v]) => k.startsWith('draft ')"
    return int(page.evaluate(f"{kept} && JSON.parse(v).dirty).length"))


# A day's work without the mouse


def test_a_question_takes_one_key_press_beyond_its_letters(bench, snippets):
    page = bench()
    presses = []
    page.expose_function("pressed", lambda key: presses.append(key))
    page.evaluate("document.addEventListener('keydown', (e) => pressed(e.key), true)")
    expect(field(page)).to_be_focused()

    page.keyboard.type("Can I?")
    page.keyboard.press("Control+Enter")
    expect(rule(page)).to_contain_text("tandem")

    expect(field(page)).to_be_focused()
    assert "".join(key for key in presses if len(key) == 1) == "Can I?"
    assert [key for key in presses if len(key) > 1 and key != "Shift"] == ["Control", "Enter"]
    question = Question.objects.get()
    assert (question.snippet, question.text) == (snippets[0], "Can I?")


@pytest.mark.every_database
def test_questions_a_skip_and_a_snippet_without_a_rule_by_keyboard_alone(bench, snippets):
    page = bench()
    page.keyboard.type("Can I borrow one?")
    page.keyboard.press("Control+Enter")
    expect(rule(page)).to_contain_text("tandem")

    page.keyboard.type("Can we")
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.keyboard.press("Enter")
    expect(rule(page)).to_contain_text("trams")

    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.locator(":focus")).to_have_attribute("name", re.compile("note$"))
    page.keyboard.type("A link only.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/questions/")

    snippets[2].refresh_from_db()
    assert Question.objects.get().text == "Can I borrow one?"
    assert (snippets[2].state, snippets[2].sent_back_note) == ("proposed", "A link only.")
    skipped = Assignment.objects.get(work_id=snippets[1].pk)
    assert (skipped.state, skipped.return_reason, skipped.draft) == (
        "returned", "I do not understand this rule.", {"text": "Can we"},
    )  # fmt: skip
    assert copies(page) == 0


def test_keys_are_listed_and_are_letters_in_the_field(bench):
    page = bench()
    page.keyboard.type("?sng")
    expect(field(page)).to_have_value("?sng")
    assert page.locator("details[open]").count() == 0

    page.keyboard.press("Escape")
    page.keyboard.press("?")
    listed = [text.strip() for text in page.locator("dialog dt").all_inner_texts()]
    assert listed == ["Q", "S", "N", "G", "Ctrl+Enter", "Esc"]


def test_hints_come_while_typing_can_be_dismissed_and_never_block(bench):
    page = bench()
    page.keyboard.type("Who may borrow")
    expect(page.locator(".hint")).to_have_count(2)

    page.locator(".hint button").first.click()
    expect(field(page)).to_be_focused()
    page.keyboard.type(" one")
    page.wait_for_timeout(900)
    expect(page.locator(".hint")).to_have_count(1)

    page.keyboard.press("Control+Enter")
    expect(rule(page)).to_contain_text("tandem")
    assert Question.objects.get().text == "Who may borrow one"


@pytest.mark.every_database
def test_without_scripts_the_same_forms_do_the_same(ada, snippets, open_as):
    page = open_as(
        ada, reverse("snippets:questions", args=["bikes"]), java_script_enabled=False
    )  # fmt: skip
    page.get_by_role("button", name="Write questions").click()
    field(page).fill("Can I?")
    page.get_by_role("button", name="Submit and next").click()
    assert Question.objects.get().text == "Can I?"
    page.locator("summary", has_text="Skip").click()
    page.get_by_role("button", name="I need a second opinion.").click()
    assert work_in_hand().work_id == snippets[2].pk


# Drafts


def test_what_is_typed_is_saved_and_there_again_after_leaving(bench):
    """Case 14."""
    page = bench()
    expect(status(page)).to_have_text("Saved as you type")
    page.keyboard.type("Can I")
    expect(status(page)).to_have_text("Saving…")
    expect(status(page)).to_have_text(SAVED)
    assert work_in_hand().draft == {"text": "Can I"}

    page.goto(reverse("workers:mine", args=["bikes"]))
    page.get_by_role("link", name="Continue").click()
    expect(field(page)).to_have_value("Can I")
    expect(status(page)).to_have_text(SAVED)


def test_leaving_at_once_loses_nothing(bench):
    page = bench()
    address = page.url
    page.keyboard.type("Can I leave now")
    page.goto(reverse("snippets:questions", args=["bikes"]))
    page.goto(address)
    expect(field(page)).to_have_value("Can I leave now")
    expect(status(page)).to_have_text(SAVED)
    assert work_in_hand().draft == {"text": "Can I leave now"}


def test_with_the_network_gone_it_says_so_keeps_all_and_sends_it_afterwards(bench):
    """Case 13."""
    page = bench()
    page.keyboard.type("Can ")
    expect(status(page)).to_have_text(SAVED)

    page.context.set_offline(True)
    page.keyboard.type("I borrow")
    expect(status(page)).to_contain_text("Not saved (offline)")
    page.keyboard.type(" one?")
    page.wait_for_timeout(4000)  # longer than the first tries
    expect(status(page)).to_contain_text("Not saved (offline)")
    assert work_in_hand().draft == {"text": "Can "}
    page.keyboard.press("Control+Enter")
    expect(status(page)).to_contain_text("Not submitted (offline)")

    page.context.set_offline(False)
    expect(status(page)).to_have_text(SAVED)
    assert work_in_hand().draft == {"text": "Can I borrow one?"}
    assert not Question.objects.exists()


def test_a_window_closed_while_offline_gives_its_text_to_the_next_one(bench):
    page = bench()
    address = page.url
    page.context.set_offline(True)
    page.keyboard.type("Can I?")
    expect(status(page)).to_contain_text("Not saved (offline)")
    other = page.context.new_page()
    page.close()
    other.context.set_offline(False)
    other.goto(address)
    expect(field(other)).to_have_value("Can I?")
    expect(status(other)).to_have_text(SAVED)
    assert work_in_hand().draft == {"text": "Can I?"}


@pytest.mark.every_database
@pytest.mark.parametrize(
    ("choice", "goes_on_with"),
    [("Go on with mine", "Mine, I say"), ("Go on with the newer one", "Theirs")],
)
def test_of_two_windows_the_second_sees_the_newer_draft_beside_its_own(bench, choice, goes_on_with):
    mine = bench()
    theirs = mine.context.new_page()
    theirs.goto(mine.url)
    theirs.keyboard.type("Theirs")
    expect(status(theirs)).to_have_text(SAVED)

    mine.bring_to_front()
    field(mine).focus()
    mine.keyboard.type("Mine")
    expect(status(mine)).to_contain_text("Saved in another window")
    expect(mine.locator("[data-draft-theirs]")).to_have_text("Theirs")
    mine.keyboard.type(", I say")
    mine.wait_for_timeout(1500)
    assert work_in_hand().draft == {"text": "Theirs"}
    assert KeptText.objects.get().content == {"text": "Mine"}

    mine.get_by_role("button", name=choice).click()
    expect(status(mine)).to_have_text(SAVED)
    expect(field(mine)).to_have_value(goes_on_with)
    expect(mine.locator("[data-draft-conflict]")).to_be_hidden()
    mine.wait_for_timeout(300)
    assert work_in_hand().draft == {"text": goes_on_with}


def test_an_answer_that_got_lost_on_its_way_is_no_conflict(bench):
    page = bench()
    page.route("**/draft/", lambda route: (route.fetch(), route.abort()), times=1)
    page.keyboard.type("Can I")
    expect(status(page)).to_contain_text("Not saved")
    page.keyboard.type(" go?")
    expect(status(page)).to_have_text(SAVED)
    assert work_in_hand().draft == {"text": "Can I go?"}
    assert not KeptText.objects.filter(content={"text": "Can I go?"}).exists()


def test_a_session_that_ends_while_typing_is_told_and_the_text_comes_back_after_log_in(bench):
    """Case 15."""
    page = bench()
    address = page.url
    cookies = page.context.cookies()
    page.context.clear_cookies(name="sessionid")
    page.keyboard.type("Can I?")
    expect(status(page)).to_contain_text("log in again; your text is kept")
    expect(page.locator(".hint")).to_have_count(0)

    status(page).get_by_role("link", name="Log in").click()
    page.fill("#id_username", "ada")
    page.fill("#id_password", "correct horse battery")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(address)
    expect(field(page)).to_have_value("Can I?")
    expect(status(page)).to_have_text(SAVED)
    assert work_in_hand().draft == {"text": "Can I?"}
    assert cookies != page.context.cookies()


def test_a_submit_after_the_session_has_ended_comes_back_after_log_in(bench):
    page = bench()
    address = page.url
    page.context.clear_cookies(name="sessionid")
    page.keyboard.type("Can I?")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/log-in/**")
    page.fill("#id_username", "ada")
    page.fill("#id_password", "correct horse battery")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(address)
    expect(field(page)).to_have_value("Can I?")


@pytest.mark.every_database
def test_after_a_new_log_in_in_another_window_the_old_one_still_saves_and_submits(bench):
    page = bench()
    other = page.context.new_page()
    page.context.clear_cookies()
    log_in(other, "ada")
    page.bring_to_front()
    field(page).focus()
    page.keyboard.type("Can I?")
    expect(status(page)).to_have_text(SAVED)
    page.keyboard.press("Control+Enter")
    expect(rule(page)).to_contain_text("tandem")
    assert Question.objects.get().text == "Can I?"


def test_a_lease_that_an_admin_released_is_told_while_typing(bench):
    page = bench()
    Assignment.objects.update(state="returned", ended_at=work_in_hand().leased_at)
    page.keyboard.type("Can I?")
    expect(status(page)).to_contain_text("this work was given back. Your text is kept.")
    assert KeptText.objects.get().content == {"text": "Can I?"}


def test_after_a_submit_this_browser_keeps_no_copy(bench):
    page = bench()
    page.keyboard.type("Can I?")
    page.keyboard.press("Control+Enter")
    expect(rule(page)).to_contain_text("tandem")
    expect(status(page)).to_have_text("Saved as you type")
    assert copies(page) == 0
    assert not KeptText.objects.exists()


def test_going_back_to_a_submitted_page_shows_that_it_is_over(bench):
    page = bench()
    address = page.url
    page.keyboard.type("Can I?")
    page.keyboard.press("Control+Enter")
    expect(rule(page)).to_contain_text("tandem")
    page.go_back()
    expect(page.locator("main h1")).to_have_text("This work is over")
    assert urlsplit(page.url).path == urlsplit(address).path


# Narrow windows


@pytest.mark.parametrize("name", ["questions", "work", "check", "question", "mine", "leases"])
def test_no_page_is_wider_than_a_narrow_phone(project, ada, snippets, open_as, name):
    long = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung" * 2
    Snippet.objects.update(text=f"# {long}\n\n* {long}")
    project.memberships.filter(user=ada).update(role=Role.ADMIN)
    question = Question.objects.create(snippet=snippets[0], text=long, state="proposed")
    addresses = {
        "questions": reverse("snippets:questions", args=["bikes"]),
        "question": reverse("snippets:question", args=["bikes", question.pk]),
        "mine": reverse("workers:mine", args=["bikes"]),
        "leases": reverse("workers:leases", args=["bikes"]),
    }
    start = addresses["questions"]
    page = open_as(ada, start, viewport={"width": 300, "height": 700})
    page.keyboard.press("c" if name == "check" else "w")
    page.wait_for_url("**/questions/*/*/")
    if name in addresses:
        page.goto(addresses[name])
    assert page.evaluate("document.documentElement.scrollWidth") == 300
