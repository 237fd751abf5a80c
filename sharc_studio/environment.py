"""Reads settings from the environment; a missing or wrong one ends the start with its name.

`.env` in the project's folder is read first; what the environment itself says wins.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import environ
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent

T = TypeVar("T")

_env = environ.Env()
_env.read_env(BASE_DIR / ".env", encoding="utf-8")


def _read(name: str, read: Callable[[], T], expected: str) -> T:
    try:
        return read()
    except ImproperlyConfigured:
        raise
    except (ValueError, KeyError, TypeError) as error:
        raise ImproperlyConfigured(
            f"{name} must be {expected}; it is {_env.ENVIRON.get(name)!r}. See .env.example."
        ) from error


def text(name: str, default: str | None = None, *, one_of: tuple[str, ...] = ()) -> str:
    """A string; without a default it must be there and not blank."""
    value: str = _env.str(name, default="" if default is None else default).strip()
    if not value and default is None:
        raise ImproperlyConfigured(f"{name} is missing in the environment. See .env.example.")
    if one_of and value not in one_of:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(one_of)}; it is {value!r}.")
    return value


def secret(name: str) -> str:
    """A random string that signs things; what can be guessed is refused, and never repeated."""
    value = text(name)
    if len(value) < 50 or len(set(value)) < 10 or value.startswith("django-insecure-"):
        raise ImproperlyConfigured(
            f"{name} must be 50 random characters or more, and no example's. See .env.example."
        )
    return value


def flag(name: str, default: bool) -> bool:
    """`1`, `true`, `yes`, `on` or `0`, `false`, `no`, `off`; anything else is refused."""
    value = text(name, "true" if default else "false").lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be true or false; it is {value!r}.")


def number(name: str, default: int, *, at_least: int = 0) -> int:
    """A whole number of `at_least` or more."""
    value: int = _read(name, lambda: int(_env.str(name, default=str(default))), "a whole number")
    if value < at_least:
        raise ImproperlyConfigured(f"{name} must be at least {at_least}; it is {value}.")
    return value


def address(name: str, default: str) -> str:
    """Where a server answers: http:// or https://, a host, and perhaps a port. Or empty."""
    value = text(name, default)
    if value and not (value.startswith(("http://", "https://")) and value.rpartition("//")[2]):
        raise ImproperlyConfigured(
            f"{name} must begin with http:// or https:// and name a host; it is {value!r}."
        )
    return value


def goes_with(name: str, other: str) -> None:
    """Whoever sets one must set the other. What they say is not repeated."""
    if text(name, "") and not text(other, ""):
        raise ImproperlyConfigured(f"{other} is missing, and {name} is there. See .env.example.")


def words(name: str, default: list[str]) -> list[str]:
    """A comma-separated list."""
    return [word.strip() for word in _env.list(name, default=default) if word.strip()]


def folder(name: str, default: Path) -> Path:
    """A folder; relative ones count from the project's folder. Made when it is not there."""
    path = BASE_DIR / text(name, str(default))
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"{name}: {path} cannot be made: {error.strerror}.") from error
    return path


def database(name: str, default: str) -> dict[str, Any]:
    """Django's settings for the database of a URL: SQLite or PostgreSQL."""
    try:
        config: dict[str, Any] = _env.db_url_config(text(name, default))
    except ValueError as error:  # not repeated: it may hold a password
        raise ImproperlyConfigured(f"{name} is not a database URL. See .env.example.") from error
    if config.get("ENGINE") == "django.db.backends.sqlite3":
        return _sqlite(name, config)
    if config.get("ENGINE") == "django.db.backends.postgresql":
        return _postgresql(config)
    raise ImproperlyConfigured(f"{name} must begin with sqlite:// or postgres://.")


def broker(name: str, default: str) -> str:
    """The URL of the queue: the file system, Redis or RabbitMQ."""
    value = text(name, default)
    if not value.startswith(("filesystem://", "redis://", "rediss://", "amqp://", "amqps://")):
        raise ImproperlyConfigured(
            f"{name} must be filesystem:// or begin with redis:// or amqp://. See .env.example."
        )
    return value


def _postgresql(config: dict[str, Any]) -> dict[str, Any]:
    # To compile a query takes up to 0.2 s, which no page is worth. The URL may say otherwise.
    options = {"options": "-c jit=off", **config.get("OPTIONS", {})}
    return {**config, "CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True, "OPTIONS": options}


def _sqlite(name: str, config: dict[str, Any]) -> dict[str, Any]:
    path = BASE_DIR / config["NAME"]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name}: {path.parent} cannot be made: {error.strerror}."
        ) from error
    options = {
        # A transaction that will write takes the lock at its start: a reader that turns writer
        # half-way cannot wait, and fails with "database is locked" whatever the timeout.
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    # Threads of one test share the data only through a file: in memory each has its own.
    test_file = path.with_name(f"test_{path.stem}.sqlite3")
    return {
        **config, "ENGINE": "sharc_studio.sqlite", "NAME": path, "OPTIONS": options,
        "TEST": {"NAME": test_file},
    }  # fmt: skip
