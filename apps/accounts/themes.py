"""Light, dark, or what the reader's system says: kept in a cookie, also before log-in."""

from django.db import models
from django.http import HttpRequest

COOKIE = "theme"
COOKIE_AGE = 365 * 24 * 3600


class Theme(models.TextChoices):
    """How pages look."""

    AUTO = "auto", "System"  # as the reader's system says
    LIGHT = "light", "Light"
    DARK = "dark", "Dark"


def chosen_theme(request: HttpRequest) -> str:
    """What the cookie says; a cookie is anybody's to write, so only what we know counts."""
    theme = request.COOKIES.get(COOKIE, "")
    return theme if theme in Theme.values else Theme.AUTO.value
