"""Work that was handed to a person, and where a row comes from."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Job, Project


class Assignment(models.Model):
    """One piece of work in one person's hands, from the lease to its end (design 4.9)."""

    class State(models.TextChoices):
        LEASED = "leased", "In work"  # the person may submit until `expires_at`
        SUBMITTED = "submitted", "Submitted"  # the person's work was taken
        RETURNED = "returned", "Returned"  # the person gave it back
        EXPIRED = "expired", "Expired"  # the lease ran out; the work is free again

    project = models.ForeignKey(Project, models.CASCADE, related_name="assignments")
    worker = models.ForeignKey(User, models.PROTECT, related_name="assignments")
    kind = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=State.choices, default=State.LEASED)
    leased_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state="leased", ended_at__isnull=True)
                | (~Q(state="leased") & Q(ended_at__isnull=False)),
                name="assignment_ended_has_time",
            ),
            models.CheckConstraint(
                condition=Q(expires_at__gt=models.F("leased_at")), name="assignment_expires_later"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}: {self.state}"


class Provenance(models.Model):
    """Who made a row, when, and by which assignment or import; both empty: on a page, by hand."""

    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    assignment = models.ForeignKey(
        Assignment, models.PROTECT, null=True, blank=True, related_name="+"
    )
    job = models.ForeignKey(Job, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=Q(assignment__isnull=True) | Q(job__isnull=True),
                name="%(class)s_one_origin",
            )
        ]
