"""Logs: one JSON object a line, each with its request's id, and no secrets."""

import json
import logging
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
import structlog
from django.conf import settings
from django.urls import reverse

from sharc_studio.logs import logging_config
from tests.factories import PASSWORD, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def log() -> Iterator[StringIO]:
    """What the studio writes to its log, in the form for machines."""
    form = logging_config(level="INFO", form="json")["formatters"]["structured"]
    handler = logging.StreamHandler(StringIO())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=form["processors"], foreign_pre_chain=form["foreign_pre_chain"]
        )
    )
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield handler.stream
    root.removeHandler(handler)
    root.setLevel(level)


def lines(log: StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


def test_a_request_is_logged_as_json_under_one_id(client, log):
    client.get(reverse("accounts:login"))
    started, finished = lines(log)
    assert (started["event"], finished["event"]) == ("request_started", "request_finished")
    assert (finished["code"], finished["request"]) == (200, "GET /accounts/log-in/")
    assert started["request_id"] == finished["request_id"]
    assert finished["timestamp"].endswith("Z")


def test_two_requests_have_two_ids(client, log):
    client.get(reverse("accounts:login"))
    client.get(reverse("accounts:login"))
    assert len({line["request_id"] for line in lines(log)}) == 2


def test_a_line_of_ours_inside_a_request_has_its_id(log):
    structlog.contextvars.bind_contextvars(request_id="abc")
    structlog.get_logger("apps").info("job_stopped", job=3)
    structlog.contextvars.clear_contextvars()
    (line,) = lines(log)
    assert (line["event"], line["job"], line["request_id"]) == ("job_stopped", 3, "abc")


def test_an_exception_is_one_line_with_its_traceback(log):
    try:
        raise ValueError("no such tree")
    except ValueError:
        structlog.get_logger("apps").exception("job_failed", job=3)
    (line,) = lines(log)
    assert (line["event"], line["level"]) == ("job_failed", "error")
    assert "ValueError: no such tree" in line["exception"]


def test_passwords_sessions_and_the_secret_are_not_logged(client, log):
    make_user("ada")
    for password in ("not hers at all", PASSWORD):
        client.post(reverse("accounts:login"), {"username": "ada", "password": password})
    session = client.cookies["sessionid"].value
    client.get(reverse("desk:home"))
    written = log.getvalue()
    assert {line["event"] for line in lines(log)} >= {"request_started", "request_finished"}
    for secret in ("not hers at all", PASSWORD, session, settings.SECRET_KEY):
        assert secret not in written
