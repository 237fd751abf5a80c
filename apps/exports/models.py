"""What a dataset card says that nobody can count."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q

from apps.exports.formats.about import VERSION
from apps.projects.models import Project


class DatasetCard(models.Model):
    """Said once by an admin; every export repeats it in its card and its metadata."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="dataset_card")
    description = models.TextField(
        blank=True, max_length=2000, help_text="What it is about and whom it is for."
    )
    url = models.URLField(
        "Address", blank=True, max_length=500, help_text="Where it is, or will be, published."
    )
    licence = models.CharField(
        blank=True, max_length=200,
        help_text="Of the dataset as a whole: a name, or better its address. Left empty: those of "
        "the sources are named.",
    )  # fmt: skip
    creators = models.TextField(
        blank=True, max_length=2000, help_text="Institutions or people to be named, one a line."
    )
    citation = models.TextField(
        blank=True,
        max_length=2000,
        help_text="How to cite it. Left empty: creators, name and year.",
    )
    version = models.CharField(
        max_length=20, default=VERSION,
        validators=[RegexValidator(r"^\d+\.\d+\.\d+\Z", "Three numbers, such as 1.0.0.")],
        help_text="Three numbers: the first grows when old results no longer compare, the second "
        "when something is added, the third when mistakes are mended.",
    )  # fmt: skip
    published_on = models.DateField(
        "Day of publication", null=True, blank=True,
        help_text="Left empty: when the splits were frozen, or when the newest utterance was made.",
    )  # fmt: skip
    pay = models.TextField(
        blank=True, max_length=1000,
        help_text="What the people who did the work got for it, per hour or piece.",
    )  # fmt: skip

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(version__regex=r"^[0-9]+\.[0-9]+\.[0-9]+$"),
                name="dataset_card_version",
            ),
        ]

    def __str__(self) -> str:
        return f"card of {self.project}"
