"""An expert settles documents without touching the mouse; and with nothing but the mouse."""

import re
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.snippets.domain.reshaping import Repeat
from apps.snippets.models import Document
from apps.snippets.services.bench import split_at
from apps.snippets.services.bench_leases import take
from apps.workers.models import Assignment
from tests.browsing import open_session
from tests.factories import PASSWORD, make_member, make_project, make_user
from tests.journeys.test_accessibility import faults_of
from tests.snippets.bench import make_bench, nth

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

GRANT = (
    "# Grant\n\nYou can apply if:\n\n* you are over 18 👩‍👧\n* you live here\n* you have a child"
)
# A test cuts the network, or lets another window add a row that this one has no place for.
MEANT = (
    "ERR_INTERNET_DISCONNECTED",
    "htmx:sendError",
    "htmx:afterRequest",
    "htmx:oobErrorNoTarget",
)
TEXTS = (GRANT, "Opening hours: 9 to 5.", "Apply by March.", "Late forms do not count.")


@pytest.fixture
def project() -> Project:
    return make_project("grants", name="Grants")


@pytest.fixture
def ada(project) -> User:
    return make_member(project, Role.EXPERT, make_user("ada"))


@pytest.fixture
def document(project) -> Document:
    return make_bench(project, *TEXTS, title="The grant")


@pytest.fixture
def page(browser, live_server, ada) -> Iterator[Page]:
    context = browser.new_context(base_url=live_server.url, reduced_motion="reduce")
    context.set_default_timeout(15_000)
    open_session(context, ada, live_server.url)
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    yield page
    context.close()
    assert [fault for fault in faults if not any(name in fault for name in MEANT)] == []


def open_bench(page: Page, document: Document, ada: User) -> None:
    take(document, expert=ada, now=timezone.now())
    page.goto(reverse("snippets:bench", args=["grants", document.pk]))


def focused(page: Page, number: int) -> None:
    """The snippet is in focus on both sides."""
    row = page.locator("[data-rows] > .is-focused")
    expect(row.get_by_role("heading", level=3).first).to_have_text(f"Snippet {number}")
    expect(page.locator(".passage.is-focused").first).to_contain_text(str(number))


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def states(document: Document) -> list[str]:
    return [row.state for row in document.snippets.on_bench()]


def texts(document: Document) -> list[str]:
    return [row.text for row in document.snippets.on_bench()]


@pytest.mark.every_database
def test_two_documents_by_keyboard_alone(page, project, ada, document):
    following = make_bench(project, "Dogs need a passport.", title="Dogs")
    page.goto(reverse("snippets:bench_list", args=["grants"]))
    press(page, "n")
    focused(page, 1)

    press(page, "a")  # one key accepts, and the next snippet is there
    focused(page, 2)
    press(page, "d")
    expect(page.get_by_role("button", name="1 There is no rule in it")).to_be_focused()
    press(page, "1")
    focused(page, 3)
    expect(page.locator("#bench-status")).to_contain_text("1 accepted · 1 discarded · 2 to settle")
    press(page, "m")
    expect(page.locator("#bench-status")).to_contain_text("3 snippets")
    press(page, "u")
    expect(page.locator("#bench-status")).to_contain_text("4 snippets")
    focused(page, 3)
    assert texts(document) == list(TEXTS)
    press(page, "k")
    focused(page, 2)
    press(page, "j")
    focused(page, 3)

    press(page, "e")
    expect(page.get_by_label("Text of the snippet")).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type(" Or not?")  # no letter of it is a key
    press(page, "Control+Enter")
    expect(page.locator(".difference ins")).to_have_text(" Or not?")
    focused(page, 3)
    assert texts(document)[2] == "Apply by March. Or not?"

    press(page, "Shift+A")
    expect(page.get_by_role("dialog", name="Accept all 2?")).to_be_visible()
    press(page, "a")  # is nothing while the dialog asks
    press(page, "Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Dogs")
    assert states(document) == ["accepted", "discarded", "accepted", "accepted"]
    press(page, "a")
    expect(page.get_by_role("heading", level=1)).to_have_text("Snippet bench")
    assert states(following) == ["accepted"]
    assert {one.state for one in Assignment.objects.all()} == {"submitted"}


def test_a_closed_tool_has_no_keys(page, document, ada):
    open_bench(page, document, ada)
    press(page, "1", "6")
    press(page, "j")
    focused(page, 2)
    assert states(document) == ["proposed"] * 4


def test_a_list_is_split_at_the_cursor_after_an_emoji(page, document, ada):
    open_bench(page, document, ada)
    press(page, "s")
    field = page.get_by_label("Put the cursor where the second half begins")
    expect(field).to_be_focused()
    page.keyboard.type("x")
    expect(field).to_have_value(GRANT)
    page.keyboard.press("Control+Home")
    press(page, *["ArrowDown"] * 5)  # to the item below the emoji
    press(page, "Enter")
    expect(page.locator("#bench-status")).to_contain_text("5 snippets")
    assert texts(document)[:2] == [
        "# Grant\n\nYou can apply if:\n\n* you are over 18 👩‍👧",
        "# Grant\n\nYou can apply if:\n\n* you live here\n* you have a child",
    ]


def test_the_cursor_begins_where_the_reader_has_clicked(page, document, ada):
    open_bench(page, document, ada)
    item = page.locator("[data-text] li", has_text="you have a child")
    item.click(position={"x": 1, "y": 8})
    press(page, "s")
    expect(page.get_by_label("Put the cursor where the second half begins")).to_be_focused()
    press(page, "Enter")
    expect(page.locator("#bench-status")).to_contain_text("5 snippets")
    assert texts(document)[1] == "# Grant\n\nYou can apply if:\n\n* you have a child"


def test_escape_leaves_a_tool_and_keeps_what_was_typed(page, document, ada):
    open_bench(page, document, ada)
    press(page, "e")
    expect(page.get_by_label("Text of the snippet")).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type(" and a dog")
    press(page, "Escape")
    expect(page.get_by_label("Text of the snippet")).to_be_hidden()
    press(page, "j")  # what is typed is saved before
    focused(page, 2)
    expect(page.locator("[data-rows] > li").first).to_contain_text("unfinished edit")
    press(page, "e")
    expect(page.get_by_label("Text of the snippet")).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type(" Daily.")
    expect(page.locator("[data-draft-status]")).to_contain_text("Saved")

    page.goto(reverse("snippets:bench", args=["grants", document.pk]))
    expect(page.get_by_label("Text of the snippet")).to_have_value(f"{GRANT} and a dog")
    press(page, "Control+Enter")
    expect(page.locator(".difference ins")).to_have_text(" and a dog")
    press(page, "j")
    expect(page.get_by_label("Text of the snippet")).to_have_value(f"{TEXTS[1]} Daily.")
    assert texts(document) == [f"{GRANT} and a dog", *TEXTS[1:]]


def test_what_is_typed_without_a_network_comes_back(page, document, ada):
    open_bench(page, document, ada)
    press(page, "e")
    expect(page.get_by_label("Text of the snippet")).to_be_focused()
    page.context.set_offline(True)
    page.keyboard.press("Control+End")
    page.keyboard.type(" and a dog")
    expect(page.locator("[data-draft-status]")).to_contain_text("Not saved (offline)")
    page.context.set_offline(False)
    expect(page.locator("[data-draft-status]")).to_contain_text("Saved", timeout=20_000)
    assert list(Assignment.objects.get().draft.values()) == [f"{GRANT} and a dog"]


def test_what_one_window_could_not_save_goes_with_the_next_whatever_is_in_focus(
    page, document, ada
):  # fmt: skip
    open_bench(page, document, ada)
    press(page, "e")
    expect(page.get_by_label("Text of the snippet")).to_be_focused()
    page.context.set_offline(True)
    page.keyboard.press("Control+End")
    page.keyboard.type(" and a dog")
    expect(page.locator("[data-draft-status]")).to_contain_text("Not saved (offline)")
    page.close()
    page.context.set_offline(False)

    other = page.context.new_page()
    second = nth(document, 2)
    other.goto(f"{reverse('snippets:bench', args=['grants', document.pk])}?snippet={second.pk}")
    status = other.locator("[data-draft-status]")
    expect(status).to_have_text(re.compile("Saved"))
    assert Assignment.objects.get().draft[f"{nth(document, 1).pk}-text"] == f"{GRANT} and a dog"
    press(other, "k")
    expect(other.get_by_label("Text of the snippet")).to_have_value(f"{GRANT} and a dog")


def test_a_step_that_gets_no_answer_says_so(page, document, ada):
    open_bench(page, document, ada)
    trouble = page.locator("[data-trouble]")
    page.context.set_offline(True)
    press(page, "a")
    expect(trouble).to_have_text("Not done: the network is gone. Do it again when it is back.")
    press(page, "j")
    expect(trouble).to_have_count(1)
    page.context.set_offline(False)
    press(page, "a")
    focused(page, 2)
    expect(trouble).to_have_count(0)
    assert states(document)[:2] == ["accepted", "proposed"]


def test_a_step_of_somebody_who_is_logged_out_leads_to_the_log_in_and_back(page, document, ada):
    open_bench(page, document, ada)
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    press(page, "a")
    trouble = page.locator("[data-trouble]")
    expect(trouble).to_have_text("Not done: you are logged out. Log in")
    trouble.get_by_role("link", name="Log in").click()
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Enter")
    focused(page, 1)
    assert states(document) == ["proposed"] * 4


def test_undo_and_reopen_change_the_row_in_place(page, document, ada):
    open_bench(page, document, ada)
    press(page, "a")
    focused(page, 2)
    press(page, "d")
    expect(page.get_by_role("button", name="1 There is no rule in it")).to_be_focused()
    press(page, "1")
    focused(page, 3)
    press(page, "u")
    focused(page, 2)
    expect(page.locator(".bench-row.is-focused .chip")).to_have_text("Proposed")
    expect(page.locator('.passage[data-state="discarded"]')).to_have_count(0)
    press(page, "u")
    focused(page, 1)
    expect(page.locator(".is-focused [data-focus]")).to_be_focused()
    expect(page.locator("#bench-status")).to_contain_text("4 to settle")
    press(page, "a")
    focused(page, 2)
    press(page, "k")
    focused(page, 1)
    press(page, "r")
    expect(page.locator(".bench-row.is-focused .chip")).to_have_text("Proposed")
    expect(page.locator('.passage[data-state="accepted"]')).to_have_count(0)
    focused(page, 1)
    assert states(document) == ["proposed"] * 4


def test_what_another_window_has_split_appears_when_it_is_next(page, project, ada):
    document = make_bench(project, "One.", "Two, first. Two, second.", "Three.")
    open_bench(page, document, ada)
    second = nth(document, 2)
    split_at(second, seen=second.fingerprint, at=len("Two, first."), repeat=Repeat.CONTEXT,
             expert=ada, now=timezone.now())  # fmt: skip
    press(page, "a")
    focused(page, 2)
    press(page, "a")
    focused(page, 3)
    expect(page.locator("[data-rows] > li")).to_have_count(4)
    expect(page.locator("[data-text]")).to_have_text("Two, second.")


def test_leaving_a_document_asks_first_and_takes_a_reason(page, document, ada):
    open_bench(page, document, ada)
    press(page, "n")
    dialog = page.get_by_role("dialog", name="Leave this document?")
    expect(dialog).to_contain_text("4 snippets are not settled.")
    press(page, "Escape")
    expect(dialog).to_be_hidden()
    press(page, "n")
    page.get_by_label("Why?").fill("Not my field")
    page.get_by_role("button", name="Leave it and open the next").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Snippet bench")
    assert Assignment.objects.get().return_reason == "Not my field"


def test_a_step_that_came_too_late_says_so_and_shows_how_it_is(page, document, ada):
    open_bench(page, document, ada)
    document.snippets.filter(position=1000).update(text="Changed elsewhere.")
    press(page, "a")
    expect(page.get_by_role("alert")).to_contain_text("This snippet has changed since you opened")
    expect(page.locator("[data-text]")).to_have_text("Changed elsewhere.")
    press(page, "a")
    focused(page, 2)
    assert states(document)[0] == "accepted"


@pytest.mark.every_database
def test_everything_works_with_the_mouse_and_without_scripts(
    browser, live_server, document, ada
):  # fmt: skip
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    open_session(context, ada, live_server.url)
    page = context.new_page()
    page.goto(reverse("snippets:bench_list", args=["grants"]))
    page.get_by_role("button", name="Take the next document").click()
    page.get_by_text("Split S").click()
    page.get_by_label("The second half begins with").select_option(
        label="* you live here * you have a child"
    )
    page.get_by_role("button", name="Split here").click()
    page.get_by_role("link", name="Snippet 3").click()
    page.get_by_text("Discard D").click()
    page.get_by_role("button", name="Navigation, notices").click()
    page.get_by_role("button", name="Merge with 5").click()
    page.get_by_role("button", name="Undo merge").click()
    page.get_by_text("Edit E").click()
    page.get_by_label("Text of the snippet").fill("Apply by April.")
    page.get_by_role("button", name="Save the text").click()
    assert states(document) == ["proposed", "proposed", "discarded", "proposed", "proposed"]
    assert texts(document)[3] == "Apply by April."
    page.get_by_role("button", name="Accept all").click()
    page.get_by_role("button", name="Accept 4 snippets").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Snippet bench"
    context.close()
    assert states(document) == ["accepted", "accepted", "discarded", "accepted", "accepted"]


def test_axe_finds_nothing_on_the_bench_in_any_state(page, project, ada, document):
    arabic = "# المنحة\n\nيمكنك التقدم إذا:\n\n* كان عمرك أكثر من 18 عاماً"
    mixed = make_bench(project, arabic, "請求は十五日以内に行ってください。", title="المنحة")
    open_bench(page, document, ada)
    faults = faults_of(page, "bench")
    for key, tool in (("d", "discard"), ("s", "split"), ("e", "edit")):
        press(page, key)
        page.locator(f"[data-tool={tool}][open]").wait_for()
        faults += faults_of(page, f"bench, {tool}")
        press(page, "Escape")
    press(page, "Shift+A")
    faults += faults_of(page, "bench, dialog")
    press(page, "Escape")
    page.goto(reverse("snippets:bench", args=["grants", mixed.pk]))
    faults += faults_of(page, "bench, read only")
    page.goto(reverse("snippets:bench_list", args=["grants"]))
    assert faults + faults_of(page, "bench start") == []
