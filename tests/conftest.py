"""Fixtures for every test; factories are plain functions in tests/factories.py."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.db import connection
from django.test import TransactionTestCase, override_settings

from sharc_studio.celery import app

pytest_plugins = ["tests.browsing"]

# How long an example takes says something about the machine, and nothing about the domain.
hypothesis.settings.register_profile(
    "sharc_studio", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("sharc_studio")

SHARED_DATA = Path(
    os.environ.get("SHARC_STUDIO_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
)


# A test that asks for none of these is refused the database by pytest-django.
DATABASE_FIXTURES = {"db", "transactional_db", "live_server"}


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A second run, on another database, leaves out what would say the same thing again.

    That is all that reaches no database, and what a browser does: the services behind the pages
    have tests of their own, and some journeys say that they go through on every database.
    """
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        reaches = item.get_closest_marker("django_db") or fixtures & DATABASE_FIXTURES
        in_browser = "browser" in fixtures and not item.get_closest_marker("every_database")
        if in_browser or not reaches:
            item.add_marker(pytest.mark.once)


@pytest.fixture
def sharc_dev() -> Path:
    """The official ShARC dev set with its lists of negatives, where this machine has it."""
    folder = SHARED_DATA / "sharc"
    if not (folder / "sharc_dev.json").exists():
        pytest.skip(f"the ShARC dev set is not at {folder}")
    return folder


@pytest.fixture(autouse=True)
def _files_in_a_folder_of_their_own(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "files"


@pytest.fixture(autouse=True)
def _passwords_hashed_at_once(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True, scope="session")
def _static_files_as_they_lie_there() -> Iterator[None]:
    """Without `collectstatic`: names are plain, and a changed file counts at once.

    For the whole session, since the live server reads these once, when it starts.
    """
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(
        WHITENOISE_AUTOREFRESH=True,
        WHITENOISE_USE_FINDERS=True,
        STORAGES={**settings.STORAGES, "staticfiles": plain},
    ):
        yield


@pytest.fixture(autouse=True, scope="session")
def _queue_of_their_own(tmp_path_factory) -> None:
    """A worker that runs beside the tests must not see their jobs, nor they its messages.

    Nor must the tests of another process, where pytest runs in several.
    """
    app.conf.task_default_queue = f"tests-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
    if app.conf.broker_url != "filesystem://":
        app.control.purge()
        return
    queue = str(tmp_path_factory.mktemp("queue"))
    app.conf.broker_transport_options = {
        "data_folder_in": queue,
        "data_folder_out": queue,
        "control_folder": f"{queue}/control",
    }


@pytest.fixture(autouse=True, scope="session")
def _audit_log_can_be_emptied() -> Iterator[None]:
    """A test with real transactions is cleaned up by DELETE on SQLite, which the log forbids.

    PostgreSQL empties tables by TRUNCATE, where the trigger does not fire.
    """
    case: Any = TransactionTestCase
    empty_tables = case._fixture_teardown

    def teardown(test: TransactionTestCase) -> None:
        if connection.vendor != "sqlite":
            empty_tables(test)
            return
        with connection.cursor() as cursor:
            cursor.execute("SELECT sql FROM sqlite_master WHERE name = 'audit_log_no_delete'")
            (definition,) = cursor.fetchone()
            cursor.execute("DROP TRIGGER audit_log_no_delete")
            empty_tables(test)
            cursor.execute(definition)

    case._fixture_teardown = teardown
    yield
    case._fixture_teardown = empty_tables
