"""Who can log in to the demo, with the password that was drawn for this installation.

The password is drawn when the demo is loaded and kept in a file that only its owner can read, so
that `make run` can print it again. No installation shares it with another.
"""

import json
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from apps.accounts.models import User
from apps.projects.models import Membership


@dataclass(frozen=True)
class DemoLogin:
    """`password` is empty when the person has chosen one of their own."""

    username: str
    role: str
    password: str


def draw_password() -> str:
    """About 62 bits, in groups that are easy to type."""
    letters = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(letters) for _ in range(4)) for _ in range(3))


def keep_logins(people: Iterable[User], password: str) -> None:
    """Writes the password, and whose it is, to a file that only its owner can read."""
    kept = {"password": password, "people": {user.username: user.password for user in people}}
    path = _path()
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(json.dumps(kept, indent=1), encoding="utf-8")


def demo_logins(project_slug: str) -> list[DemoLogin]:
    """The demo's people who still have an account, admins first; empty without the file."""
    kept = {}
    with suppress(FileNotFoundError):
        kept = json.loads(_path().read_text(encoding="utf-8"))
    hashes: dict[str, str] = kept.get("people", {})
    roles = dict(
        Membership.objects.filter(project__slug=project_slug).values_list("user__username", "role")
    )
    people = User.objects.filter(username__in=hashes, is_active=True).order_by("pk")
    return [
        DemoLogin(
            user.username,
            roles.get(user.username, ""),
            kept["password"] if _has_password(user, hashes[user.username], kept) else "",
        )
        for user in people
    ]


def _has_password(user: User, drawn: str, kept: dict[str, str]) -> bool:
    # Comparing the stored hashes is enough, and half a second faster a person, unless Django has
    # renewed the hash at a log-in.
    return user.password == drawn or user.check_password(kept["password"])


def _path() -> Path:
    return Path(settings.VAR_DIR) / "demo-logins.json"
