"""The studio starts only with settings that make sense, and names the one that does not."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sharc_studio.environment import BASE_DIR, database

GOOD_SECRET = "l8Zq-3rWvX0_yTn5Kc7JdPm2HsBf9GaQe4UoLi6RtNwVxYz1CkE"


def start(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Loads the settings in a process of its own, with these variables on top of good ones."""
    env = {
        "PATH": os.environ["PATH"],
        "SECRET_KEY": GOOD_SECRET,
        "VAR_DIR": str(tmp_path / "var"),
        **environment,
    }
    command = [sys.executable, "-c", "import sharc_studio.settings"]
    return subprocess.run(command, cwd=BASE_DIR, env=env, capture_output=True, text=True)


def refusal(tmp_path: Path, **environment: str) -> str:
    """The last line that a refused start writes."""
    result = start(tmp_path, **environment)
    assert result.returncode == 1
    return (
        result.stderr.strip()
        .splitlines()[-1]
        .removeprefix("django.core.exceptions.ImproperlyConfigured: ")
    )


def test_it_starts_with_nothing_but_a_secret(tmp_path):
    result = start(tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


def test_without_a_secret_it_does_not_start(tmp_path):
    assert refusal(tmp_path, SECRET_KEY="") == (
        "SECRET_KEY is missing in the environment. See .env.example."
    )


@pytest.mark.parametrize("secret", ["changeme", "django-insecure-" + GOOD_SECRET, "ab" * 30])
def test_a_secret_that_can_be_guessed_is_refused_and_not_repeated(tmp_path, secret):
    said = refusal(tmp_path, SECRET_KEY=secret)
    assert said == (
        "SECRET_KEY must be 50 random characters or more, and no example's. See .env.example."
    )


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("DEBUG", "maybe", "DEBUG must be true or false; it is 'maybe'."),
        ("HTTPS", "2", "HTTPS must be true or false; it is '2'."),
        (
            "JOB_LOST_AFTER_SECONDS",
            "soon",
            "JOB_LOST_AFTER_SECONDS must be a whole number; it is 'soon'. See .env.example.",
        ),
        ("JOB_LOST_AFTER_SECONDS", "4", "JOB_LOST_AFTER_SECONDS must be at least 5; it is 4."),
        ("LOGIN_FAILURE_LIMIT", "0", "LOGIN_FAILURE_LIMIT must be at least 1; it is 0."),
        ("LOGIN_COOLOFF_HOURS", "0", "LOGIN_COOLOFF_HOURS must be at least 1; it is 0."),
        ("IMPORT_MAX_MEGABYTES", "-1", "IMPORT_MAX_MEGABYTES must be at least 1; it is -1."),
        ("EXPORT_LINK_MINUTES", "0", "EXPORT_LINK_MINUTES must be at least 1; it is 0."),
        (
            "AWS_ENDPOINT_URL",
            "minio",
            "AWS_ENDPOINT_URL must begin with http:// or https:// and name a host; it is 'minio'.",
        ),
        (
            "AWS_ACCESS_KEY_ID",
            "mine",
            "AWS_SECRET_ACCESS_KEY is missing, and AWS_ACCESS_KEY_ID is there. See .env.example.",
        ),
        ("LOG_FORMAT", "xml", "LOG_FORMAT must be one of json, console; it is 'xml'."),
        (
            "LOG_LEVEL",
            "LOUD",
            "LOG_LEVEL must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL; it is 'LOUD'.",
        ),
        ("DATABASE_URL", "mysql://a/b", "DATABASE_URL must begin with sqlite:// or postgres://."),
        ("VAR_DIR", "/dev/null/var", "VAR_DIR: /dev/null/var cannot be made: Not a directory."),
        (
            "CELERY_QUEUE_DIR",
            "/dev/null/queue",
            "CELERY_QUEUE_DIR: /dev/null/queue cannot be made: Not a directory.",
        ),
    ],
)
def test_a_wrong_setting_is_named_with_what_it_must_be(tmp_path, name, value, said):
    assert refusal(tmp_path, **{name: value}) == said


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("DATABASE_URL", "hunter2", "DATABASE_URL must begin with sqlite:// or postgres://."),
        (
            "DATABASE_URL",
            "postgres://user:hunter2@host:port/name",
            "DATABASE_URL is not a database URL. See .env.example.",
        ),
        (
            "CELERY_BROKER_URL",
            "ftp://user:hunter2@host",
            "CELERY_BROKER_URL must be filesystem:// or begin with redis:// or amqp://. "
            "See .env.example.",
        ),
    ],
)
def test_a_wrong_address_is_named_without_its_password(tmp_path, name, value, said):
    assert refusal(tmp_path, **{name: value}) == said


def read_settings() -> set[str]:
    source = (BASE_DIR / "sharc_studio" / "settings.py").read_text()
    return set(re.findall(r'environment\.\w+\(\s*"([A-Z_]+)"', source))


def test_the_example_lists_every_setting_and_no_other():
    example = (BASE_DIR / ".env.example").read_text()
    listed = set(re.findall(r"^(?:# )?([A-Z_]+)=", example, flags=re.MULTILINE))
    assert listed == read_settings()


def test_the_examples_defaults_are_the_defaults(tmp_path):
    """What the example shows after the sign is what holds when nothing is said."""
    lines = re.findall(
        r"^# ([A-Z_]+)=(.*)$", (BASE_DIR / ".env.example").read_text(), flags=re.MULTILINE
    )
    shown = {name: value for name, value in lines if name not in {"CSRF_TRUSTED_ORIGINS"}}
    shown.update(VAR_DIR=str(tmp_path / "var"))
    shown.pop("DATABASE_URL"), shown.pop("CELERY_QUEUE_DIR")
    assert settings_of(tmp_path, **shown) == settings_of(tmp_path)


def settings_of(tmp_path: Path, **environment: str) -> str:
    code = (
        "from sharc_studio import settings as s; "
        "print({k: v for k, v in vars(s).items() if k.isupper() and k != 'LOGGING'})"
    )
    env = {
        "PATH": os.environ["PATH"], "SECRET_KEY": GOOD_SECRET, "VAR_DIR": str(tmp_path / "var"),
        **environment,
    }  # fmt: skip
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=BASE_DIR, env=env, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return result.stdout


@pytest.mark.parametrize(
    ("query", "options"), [("", "-c jit=off"), ("?options=-c%20jit%3Don", "-c jit=on")]
)
def test_postgresql_compiles_no_query_unless_its_url_says_so(query, options):
    found = database("NO_SUCH_URL", f"postgres://user@host/name{query}")
    assert found["OPTIONS"] == {"options": options}
