"""Headless Chromium for the tests that need a real browser. A plugin of tests/conftest.py."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from apps.accounts.models import User
from tests.factories import PASSWORD

NAMES = ("chromium", "chromium-browser", "google-chrome")
SWITCHES = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip

# Several browsers and servers share few processors: what comes late has still come.
expect.set_options(timeout=20_000)


def _chromium() -> str:
    """Where it is. Without it the test is skipped; a CI run fails, since it must see them all."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None and os.environ.get("CI"):
        pytest.fail("Chromium is not here, and CI leaves no test out.")
    if found is None:
        pytest.skip("Chromium is not here; install it, or say where it is in CHROMIUM")
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = _chromium()
    # Playwright runs an event loop in this thread, where Django would refuse every query.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=SWITCHES)
        yield running
        running.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


def open_session(context: BrowserContext, person: User, site: str) -> None:
    """The browser is logged in as this person at once, without the page for it."""
    client = Client()
    client.force_login(person)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": site}])


def log_in(page: Page, username: str, password: str = PASSWORD) -> None:
    page.goto(reverse("accounts:login"))
    page.locator("#id_username").fill(username)
    page.locator("#id_password").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/")


@pytest.fixture
def open_as(browser, live_server):
    """`open_as(person, address, **context)`: a page that this person has open."""
    contexts: list[BrowserContext] = []

    def open_page(person: User | None, address: str, **context: Any) -> Page:
        contexts.append(browser.new_context(base_url=live_server.url, **context))
        if person is not None:
            open_session(contexts[-1], person, live_server.url)
        page: Page = contexts[-1].new_page()
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
