"""Long work in the background."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify

from apps.accounts.models import User
from apps.projects.models.projects import Project

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


class JobQuerySet(models.QuerySet["Job"]):
    def visible_to(self, user: User | AnonymousUser) -> JobQuerySet:
        """Jobs of the projects that the user administers."""
        return self.filter(project__in=Project.objects.administered_by(user))

    def unfinished(self) -> JobQuerySet:
        return self.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING])


class Job(models.Model):
    """Long work in the background, or the same work from the command line.

    The row is the truth: brokers lose messages, workers die. See services/jobs.py.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "Waiting"  # nobody works on it yet
        RUNNING = "running", "Running"  # a worker has it, and says so by its heartbeat
        DONE = "done", "Done"  # finished, with a report
        FAILED = "failed", "Failed"  # ended with an error
        CANCELLED = "cancelled", "Cancelled"  # stopped by a person

    project = models.ForeignKey(Project, models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=40)  # what it is, in words for people
    task = models.CharField(max_length=100, help_text="Name of the Celery task that runs it.")
    parameters = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    attempt = models.PositiveSmallIntegerField(default=0)
    heartbeat_at = models.DateTimeField(null=True)
    queued_at = models.DateTimeField(default=timezone.now)
    step = models.CharField(max_length=60, blank=True, help_text="What it is doing, in words.")
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0, help_text="0: not known yet.")
    report = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    result = models.CharField(max_length=300, blank=True, help_text="Name of the file it made.")
    created_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["state", "heartbeat_at"], name="job_by_heartbeat")]
        constraints = [
            models.CheckConstraint(
                condition=Q(total=0) | Q(done__lte=F("total")), name="job_done_within_total"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running"]) | Q(finished_at__isnull=False),
                name="job_ended_has_time",
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(error=""), name="job_failed_says_why"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}: {self.state}"

    def get_absolute_url(self) -> str:
        return reverse("projects:job", args=[self.project.slug, self.pk])

    @property
    def title(self) -> str:
        return self.kind[0].upper() + self.kind[1:]

    @property
    def report_templates(self) -> list[str]:
        """For `{% include %}`: how a report of this kind is shown; none is shown without one."""
        return [f"jobs/_{slugify(self.kind)}.html", "jobs/_no_report.html"]

    @property
    def ended_templates(self) -> list[str]:
        """For `{% include %}`: what there is of a job that failed or was stopped, by kind."""
        return [f"jobs/_{slugify(self.kind)}-ended.html", "jobs/_ended.html"]

    @property
    def percent(self) -> int | None:
        return self.done * 100 // self.total if self.total else None

    @property
    def lost_at(self) -> datetime | None:
        """When a running job that says nothing more is taken from its worker."""
        if self.state != self.State.RUNNING or self.heartbeat_at is None:
            return None
        return self.heartbeat_at + timedelta(seconds=settings.JOB_LOST_AFTER_SECONDS)

    @property
    def is_silent(self) -> bool:
        """Its worker may have died: two heartbeats of five are missing."""
        silence = timedelta(seconds=settings.JOB_LOST_AFTER_SECONDS * 3 / 5)
        return self.lost_at is not None and timezone.now() > self.lost_at - silence

    @property
    def is_finished(self) -> bool:
        return self.state not in {self.State.QUEUED, self.State.RUNNING}
