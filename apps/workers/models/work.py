"""Work that was handed to a person, and where a row comes from."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Job, Project

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


class Kind(models.TextChoices):
    """The kinds of work that are handed out. `work_id` is the key of what is named here."""

    SNIPPETS = "snippets", "Snippets"  # a document, whose snippets an expert settles
    QUESTION = "question", "First question"  # a snippet that has none
    QUESTION_CHECK = "question check", "Check of a first question"  # a question of another expert
    PATH = "path", "Path of a tree"  # a tree; `part` is the branch that is continued
    NODE_CHECK = "node check", "Check of a turn"  # a follow-up question that somebody rejected
    SCENARIO = "scenario", "Scenario"  # a finished tree; `part` is the number of the scenario
    SCENARIO_CHECK = "scenario check", "Check of a scenario"  # a scenario of somebody else


WORKER_KINDS = (Kind.PATH, Kind.NODE_CHECK, Kind.SCENARIO, Kind.SCENARIO_CHECK)
"""What is handed out to whoever asks for work; experts choose the other kinds themselves."""


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def visible_to(self, user: User | AnonymousUser) -> AssignmentQuerySet:
        """Everybody's, in the projects that the user administers."""
        return self.filter(project__in=Project.objects.administered_by(user))

    def of(self, worker: User) -> AssignmentQuerySet:
        """The worker's own, in projects that they still belong to."""
        return self.filter(worker=worker, project__in=Project.objects.visible_to(worker))

    def lasting(self, now: datetime) -> AssignmentQuerySet:
        """Leases that have not run out, whether or not the periodic task has been by."""
        return self.leased().filter(expires_at__gt=now)

    def without_overdue(self, now: datetime) -> AssignmentQuerySet:
        return self.exclude(state=Assignment.State.LEASED, expires_at__lte=now)

    def with_lost_draft(self) -> AssignmentQuerySet:
        """Ended without a submit, and with something typed."""
        ended = [Assignment.State.RETURNED, Assignment.State.EXPIRED, Assignment.State.RELEASED]
        return self.filter(state__in=ended).exclude(draft={})

    def with_lost_steps(self) -> AssignmentQuerySet:
        """Paths that ended by themselves with turns of the person, each as `path_steps`, and that
        nobody went on with: no text that was kept and no later work of theirs has these turns.

        Turns belong to an app above this one, which is why they are named and not imported.
        """
        standing = Q(path_steps__undone_at__isnull=True, path_steps__text__gt="")
        later = Assignment.objects.filter(
            kind=OuterRef("kind"), work_id=OuterRef("work_id"), part=OuterRef("part"),
            worker=OuterRef("worker"), pk__gt=OuterRef("pk"),
        )  # fmt: skip
        kept = KeptText.objects.filter(assignment=OuterRef("pk"), content__has_key="turn 1")
        ended = self.filter(state__in=[Assignment.State.EXPIRED, Assignment.State.RELEASED])
        lost = ended.filter(~Exists(later), ~Exists(kept), standing).distinct()
        return lost.prefetch_related("path_steps")

    def leased(self) -> AssignmentQuerySet:
        return self.filter(state=Assignment.State.LEASED)

    def holding(self) -> AssignmentQuerySet:
        """Those that hold their slot: nobody else gets it."""
        return self.filter(state__in=[Assignment.State.LEASED, Assignment.State.SUBMITTED])

    def overdue(self, now: datetime) -> AssignmentQuerySet:
        return self.leased().filter(expires_at__lte=now)

    def of_work(self, kind: Kind, work: models.F | models.OuterRef | int) -> AssignmentQuerySet:
        return self.filter(kind=kind, work_id=work)


class Assignment(models.Model):
    """One piece of work in one person's hands, from the lease to its end (design 4.9).

    A piece of work is (kind, work_id, part, round) and needs one person or more; each holds one
    slot of it, numbered from 0. The database gives no slot to two people, and no piece of work
    to one person twice.
    """

    class State(models.TextChoices):
        LEASED = "leased", "In work"  # the person may submit until `expires_at`
        SUBMITTED = "submitted", "Submitted"  # the person's work was taken
        RETURNED = "returned", "Returned"  # the person gave it back
        EXPIRED = "expired", "Expired"  # the lease ran out; the work is free again
        RELEASED = "released", "Released"  # an admin took it back; the work is free again

    project = models.ForeignKey(Project, models.CASCADE, related_name="assignments")
    worker = models.ForeignKey(User, models.PROTECT, related_name="assignments")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    work_id = models.BigIntegerField()
    part = models.CharField(max_length=24, blank=True)  # which branch of it, where it has branches
    round = models.PositiveSmallIntegerField(default=0)  # how often it was opened again
    slot = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State.choices, default=State.LEASED)
    leased_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    return_reason = models.CharField(max_length=500, blank=True)
    draft = models.JSONField(default=dict)
    draft_version = models.PositiveIntegerField(default=0)
    draft_saved_at = models.DateTimeField(null=True)
    submit_key = models.CharField(max_length=64, blank=True)
    outcome = models.JSONField(default=dict)  # what a submit answered; a repeated one gets it too
    active_seconds = models.PositiveIntegerField(
        default=0, help_text="Time on task: without the minutes in which nothing was done."
    )

    TRANSITIONS: ClassVar = {
        State.LEASED: {State.SUBMITTED, State.RETURNED, State.EXPIRED, State.RELEASED},
    }

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "work_id", "part", "round", "slot"],
                condition=Q(state__in=["leased", "submitted"]),
                name="assignment_slot_once",
            ),
            models.UniqueConstraint(
                fields=["kind", "work_id", "part", "round", "worker"],
                condition=~Q(state__in=["expired", "released"]),
                name="assignment_once_per_worker",
            ),
            models.CheckConstraint(
                condition=Q(state="leased", ended_at__isnull=True)
                | (~Q(state="leased") & Q(ended_at__isnull=False)),
                name="assignment_ended_has_time",
            ),
            models.CheckConstraint(
                condition=Q(expires_at__gt=models.F("leased_at")), name="assignment_expires_later"
            ),
            models.CheckConstraint(
                condition=~Q(state="submitted") | ~Q(submit_key=""),
                name="assignment_submitted_has_key",
            ),
        ]
        indexes = [
            models.Index(fields=["worker", "state"], name="assignment_by_worker"),
            models.Index(fields=["state", "expires_at"], name="assignment_by_expiry"),
            models.Index(
                fields=["project", "ended_at"],
                condition=Q(state="submitted"),
                name="assignment_by_submit",
            ),
            # For whoever looks from a piece of work to its leases, row by row.
            models.Index(fields=["kind", "work_id", "part"], name="assignment_by_work"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}: {self.state}"


class KeptText(models.Model):
    """What a person typed and no form took: nothing that was typed is lost."""

    class Reason(models.TextChoices):
        STALE_DRAFT = "stale draft", "A newer draft was saved before it"
        LEASE_ENDED = "lease ended", "It came after the lease had ended"
        SUBMITTED = "submitted", "The work had been submitted before"
        RETURNED = "returned", "The work was given back"

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="kept_texts")
    reason = models.CharField(max_length=20, choices=Reason.choices)
    content = models.JSONField()
    kept_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.reason} of {self.assignment}"


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
