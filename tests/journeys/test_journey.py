"""One journey through the studio: look at a tree, import a file, watch the job, export it."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.desk.demo.loader import load_demo
from apps.desk.demo.logins import demo_logins
from apps.projects.models import Job, Project
from apps.projects.services.projects import create_project
from tests.browsing import log_in
from tests.celery_worker import empty_queue, running_worker
from tests.exports.records import bus_pass, write

pytestmark = [
    pytest.mark.browser, pytest.mark.every_database, pytest.mark.django_db(transaction=True)
]  # fmt: skip


@pytest.fixture
def studio(settings, tmp_path, live_server) -> Iterator[str]:
    """The demo with an empty project beside it, served here, and a real worker; its address."""
    settings.VAR_DIR = tmp_path
    load_demo(now=timezone.now())
    ada = User.objects.get(username="ada")
    create_project(Project(slug="buses", name="Bus rules"), created_by=ada)
    empty_queue()
    with running_worker(tmp_path / "worker.log", VAR_DIR=str(tmp_path)):
        yield live_server.url


@pytest.fixture
def page(browser, studio) -> Iterator[Page]:
    context = browser.new_context(base_url=studio, accept_downloads=True)
    context.set_default_timeout(15_000)
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    yield page
    context.close()
    assert faults == []


@pytest.fixture
def dev_file(tmp_path) -> Path:
    return write(tmp_path / "sharc_dev.json", bus_pass())


def test_from_log_in_to_a_downloaded_export(page, dev_file, tmp_path):
    page.goto("/")
    log_in(page, "ada", demo_logins("demo")[0].password)
    expect(page.get_by_role("link", name="Everyday rules (demo)").first).to_be_visible()

    open_a_tree(page)
    fold_it_by_keyboard(page)
    import_and_watch(page, dev_file)
    archive = export_and_download(page, tmp_path)

    with zipfile.ZipFile(archive) as files:
        (dev,) = [name for name in files.namelist() if name.endswith("sharc_dev.json")]
        assert files.read(dev) == dev_file.read_bytes()
    assert Job.objects.filter(state=Job.State.DONE, project__slug="buses").count() == 2


def open_a_tree(page: Page) -> None:
    page.goto("/")
    page.get_by_role("main").get_by_role("link", name="Everyday rules (demo)").first.click()
    page.get_by_role("navigation").get_by_role("link", name="Trees").first.click()
    page.get_by_role("main").get_by_role("link", name="Can I apply for the grant?").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Can I apply for the grant?")


def fold_it_by_keyboard(page: Page) -> None:
    tree = page.get_by_role("tree")
    root = tree.get_by_role("treeitem").first
    below = tree.get_by_role("treeitem").nth(1)
    expect(root).to_have_attribute("aria-expanded", "true")
    boxes = page.locator("svg [data-box]:visible").count()

    root.focus()
    page.keyboard.press("ArrowLeft")
    expect(root).to_have_attribute("aria-expanded", "false")
    expect(below).to_be_hidden()
    assert page.locator("svg [data-box]:visible").count() == 1

    page.keyboard.press("ArrowRight")
    expect(root).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowRight")
    expect(below).to_be_focused()
    assert page.locator("svg [data-box]:visible").count() == boxes

    page.keyboard.press("Enter")
    panel = page.locator("#node-panel")
    expect(panel).to_contain_text("Was your home built before 1995?")


def import_and_watch(page: Page, file: Path) -> None:
    page.goto("/p/buses/import/")
    page.get_by_label("Files with utterances").set_input_files(file)
    page.get_by_role("button", name="Import", exact=True).click()
    page.wait_for_url("**/p/buses/jobs/*/")
    # No reload: the page itself asks how far the job is.
    expect(page.locator("#job")).to_contain_text("9 utterances were read")
    read = len(json.loads(file.read_text()))
    assert Job.objects.get(project__slug="buses").report["read"] == read == 9


def export_and_download(page: Page, folder: Path) -> Path:
    page.goto("/p/buses/exports/")
    page.get_by_label("Dev").check()
    page.get_by_role("button", name="Start the export").click()
    page.wait_for_url("**/p/buses/jobs/*/")
    with page.expect_download() as started:
        page.get_by_role("link", name="Download").first.click()
    assert started.value.suggested_filename.startswith("buses-sharc-")
    archive = folder / "export.zip"
    started.value.save_as(archive)
    return archive
