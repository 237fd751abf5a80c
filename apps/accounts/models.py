"""The person who logs in. What they may do is said by memberships, project by project."""

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """A person with an account. A new one belongs to no project and may do nothing."""

    name = models.CharField("full name", max_length=150, blank=True)
    keys_off = models.BooleanField(
        "single-key shortcuts off",
        default=False,
        help_text="No single key does anything on any page.",
    )

    def __str__(self) -> str:
        return self.name or self.username
