"""What a dataset card says that nobody can count; and the shards of an export."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q

from apps.exports.formats.about import VERSION
from apps.exports.formats.pieces import Piece
from apps.projects.models import Job, Project


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


class ExportShardQuerySet(models.QuerySet["ExportShard"]):
    def of(self, job: Job) -> ExportShardQuerySet:
        return self.filter(job=job)

    def unfinished(self) -> ExportShardQuerySet:
        return self.exclude(state=ExportShard.State.DONE)


class ExportShard(models.Model):
    """One piece of one export. Who writes it says so here; the row is the truth about it."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"  # nobody writes it
        RUNNING = "running", "Running"  # a worker writes it, and says so by its heartbeat
        DONE = "done", "Done"  # its files are there

    job = models.ForeignKey(Job, models.CASCADE, related_name="+")
    number = models.PositiveIntegerField()
    format = models.CharField(max_length=40)
    split = models.CharField(max_length=5, blank=True)
    first = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    size = models.PositiveBigIntegerField(help_text="About how many utterances go by.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempt = models.PositiveSmallIntegerField(default=0)
    heartbeat_at = models.DateTimeField(null=True)
    done = models.PositiveBigIntegerField(default=0, help_text="Utterances that went by so far.")
    files = models.JSONField(default=list, help_text="Path, size and SHA-256 of each.")

    objects = ExportShardQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["job", "number"], name="export_shard_once"),
            models.CheckConstraint(
                condition=~Q(state="running") | Q(heartbeat_at__isnull=False),
                name="export_shard_running_beats",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.piece.name} {self.number}: {self.state}"

    @property
    def piece(self) -> Piece:
        return Piece(self.format, self.split, self.first, self.end)
