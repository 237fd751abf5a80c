"""The frame in a real browser: keys, times, light and dark, narrow windows."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.projects.services import audit
from tests.factories import make_member, make_project, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def project() -> Project:
    return make_project("housing", name="Housing rules")


@pytest.fixture
def ada(project) -> User:
    return make_member(project, Role.ADMIN, make_user("ada"))


def _people(project: Project) -> str:
    return reverse("projects:people", args=[project.slug])


def _focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id"))


def _open_dialogs(page: Page) -> int:
    return page.locator("dialog[open]").count()


def test_a_single_key_acts_on_the_page(ada, project, open_as):
    page = open_as(ada, _people(project))

    page.keyboard.press("q")

    assert _focused(page) == "search"
    assert page.input_value("#search") == ""


def test_a_key_in_a_field_is_only_a_letter(ada, project, open_as):
    """Case 57."""
    page = open_as(ada, _people(project))
    page.focus("#id_q")

    page.keyboard.type("q?")

    assert (page.input_value("#id_q"), _focused(page), _open_dialogs(page)) == ("q?", "id_q", 0)


@pytest.mark.parametrize("keys", ["Control+q", "Alt+q", "Meta+q", "Control+Shift+?"])
def test_a_key_with_a_modifier_is_the_browsers(ada, project, open_as, keys):
    """Case 57."""
    page = open_as(ada, _people(project))

    page.keyboard.press(keys)

    assert (_focused(page), _open_dialogs(page)) == ("", 0)


def test_the_list_of_keys_opens_by_key_and_closes_by_escape(ada, project, open_as):
    """Case 58."""
    page = open_as(ada, _people(project))

    page.keyboard.press("?")
    listed = page.locator("dialog dt").all_inner_texts()
    page.keyboard.press("q")
    while_open = _focused(page)
    page.keyboard.press("Escape")

    assert [text.strip() for text in listed] == ["Q", "Esc"]
    assert (while_open, _open_dialogs(page)) == ("", 0)
    assert page.locator("[data-key-line] li").all_text_contents() == ["Q Search"]


def test_keys_that_are_switched_off_do_nothing_and_say_so(ada, project, open_as):
    """Case 58."""
    User.objects.update(keys_off=True)
    page = open_as(ada, _people(project))

    page.keyboard.press("q")
    page.keyboard.press("?")

    assert (_focused(page), _open_dialogs(page)) == ("", 0)
    page.click("[data-keys-open]")
    assert "Single keys are off; your profile switches them on." in page.inner_text("dialog")


def test_control_and_enter_submit_the_form(ada, project, open_as):
    page = open_as(ada, reverse("accounts:profile"))
    page.fill("#id_name", "Ada Ruiz")

    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".notice.success")

    ada.refresh_from_db()
    assert ada.name == "Ada Ruiz"


def test_a_time_is_the_readers_and_without_scripts_utc(ada, project, open_as):
    event = audit.record(ada, "one", project, project=project)
    log = reverse("projects:log", args=[project.slug])
    moment = event.at.isoformat(timespec="seconds")

    west = open_as(ada, log, timezone_id="America/Los_Angeles").locator("main time")
    plain = open_as(ada, log, java_script_enabled=False).locator("main time")

    assert (west.get_attribute("datetime"), plain.get_attribute("datetime")) == (moment, moment)
    assert west.inner_text().endswith(("GMT-8", "GMT-7", "PST", "PDT"))
    assert plain.inner_text() == f"{event.at.day} {event.at:%b %Y, %H:%M} UTC"


def test_dark_by_the_system_or_by_the_switch_without_scripts_is_the_same_dark(open_as):
    address = reverse("accounts:login")
    shade = "getComputedStyle(document.body).backgroundColor"
    by_system = open_as(None, address, color_scheme="dark").evaluate(shade)
    switched = open_as(None, address, color_scheme="light", java_script_enabled=False)
    light = switched.evaluate(shade)
    switched.click("button:text-is('Dark')")

    assert switched.evaluate(shade) == by_system
    assert light != by_system


@pytest.mark.parametrize("name", ["settings", "guidelines", "people", "log"])
def test_no_page_is_wider_than_a_narrow_phone(ada, project, open_as, name):
    long = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung" * 2
    Project.objects.update(name=long[:200])
    User.objects.update(name=long[:150])
    audit.record(ada, "one", project, project=project, note=long)
    page = open_as(
        ada, reverse(f"projects:{name}", args=[project.slug]),
        viewport={"width": 300, "height": 700},
    )  # fmt: skip

    assert page.evaluate("document.documentElement.scrollWidth") == 300
