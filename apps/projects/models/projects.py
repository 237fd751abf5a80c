"""A project, who belongs to it in which role, and its guidelines."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from apps.accounts.models import User

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


class Role(models.TextChoices):
    """What a member may do; each may also do what those after it may."""

    ADMIN = "admin", "Admin"  # sets up, invites, imports, exports
    EXPERT = "expert", "Expert"  # reads everything, writes questions, settles, verifies
    WORKER = "worker", "Worker"  # does the work that is handed out


class Split(models.TextChoices):
    """The part of the dataset that a whole source document belongs to."""

    TRAIN = "train", "Train"
    DEV = "dev", "Dev"
    TEST = "test", "Test"


RESTORABLE = timedelta(days=30)
"""How long a deleted project can be restored."""


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, user: User | AnonymousUser) -> ProjectQuerySet:
        """Projects that the user is a member of, in any role."""
        return self._with_role(user, list(Role))

    def readable_by(self, user: User | AnonymousUser) -> ProjectQuerySet:
        """Projects whose trees and utterances the user may read: as expert or admin."""
        return self._with_role(user, [Role.ADMIN, Role.EXPERT])

    def administered_by(self, user: User | AnonymousUser) -> ProjectQuerySet:
        return self._with_role(user, [Role.ADMIN])

    def restorable_by(self, user: User | AnonymousUser, now: datetime) -> ProjectQuerySet:
        """Deleted projects that the user may put back: as admin, and not too late."""
        return self.administered_by(user).filter(deleted_at__gt=now - RESTORABLE)

    def _with_role(self, user: User | AnonymousUser, roles: list[Role]) -> ProjectQuerySet:
        if not user.is_authenticated:
            return self.none()
        memberships = Membership.objects.filter(user=user, role__in=roles)
        return self.filter(pk__in=memberships.values("project"))


class KeptProjects(models.Manager["Project"]):
    """All but those that were deleted: where nobody asks for them by name, they are not there."""

    def get_queryset(self) -> ProjectQuerySet:
        return ProjectQuerySet(self.model, using=self._db).filter(deleted_at__isnull=True)


class Project(models.Model):
    """One dataset in the making, with the limits that its work keeps to.

    A deleted project keeps all its rows. `objects` leaves it out, `with_deleted` does not.
    """

    class LongLists(models.TextChoices):
        """What becomes of a list with more items than the limit."""

        SPLIT = "split", "split into several snippets"
        KEEP = "keep", "keep as one snippet"
        SKIP = "skip", "leave out"

    slug = models.SlugField(max_length=60, unique=True, help_text="Part of every address.")
    name = models.CharField(max_length=200)
    language = models.CharField(
        max_length=35, default="en", help_text="Language tag of the rule texts, such as en or ja."
    )
    max_list_items = models.PositiveSmallIntegerField(
        default=4,
        validators=[MinValueValidator(1), MaxValueValidator(50)],
        help_text="Most list items in one snippet.",
    )
    max_words = models.PositiveSmallIntegerField(
        default=150,
        validators=[MinValueValidator(10), MaxValueValidator(5000)],
        help_text="Most words in one snippet.",
    )
    long_lists = models.CharField(
        max_length=5, choices=LongLists.choices, default=LongLists.SPLIT,
        help_text="What to do with a list that has more items.",
    )  # fmt: skip
    max_depth = models.PositiveSmallIntegerField(
        default=8,
        validators=[MinValueValidator(1), MaxValueValidator(12)],
        help_text="Most follow-up questions on one path of a tree.",
    )
    active_trees = models.PositiveSmallIntegerField(
        default=50,
        validators=[MinValueValidator(1), MaxValueValidator(10_000)],
        help_text="Most trees that grow at the same time.",
    )
    spans_required = models.BooleanField(
        default=False, help_text="Each follow-up question says where in the rule text it is from."
    )
    rejection_votes = models.PositiveSmallIntegerField(
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(9)],
        help_text="How many must reject a turn before it is taken out.",
    )
    rejection_voters = models.PositiveSmallIntegerField(
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(9)],
        help_text="How many look at a turn that somebody rejected, that person included.",
    )
    tell_rejections = models.BooleanField(
        default=True,
        help_text="The author of a rejected turn, or of a scenario that was sent back, reads why.",
    )
    near_question_threshold = models.FloatField(
        default=0.8,
        validators=[MinValueValidator(0.01), MaxValueValidator(1.0)],
        help_text="TF-IDF cosine from which on two questions of one path are pointed out as near.",
    )
    most_leases = models.PositiveSmallIntegerField(
        default=3,
        validators=[MinValueValidator(1), MaxValueValidator(50)],
        help_text="Most pieces of work in one person's hands.",
    )
    scenarios_per_finished_tree = models.PositiveSmallIntegerField(
        default=7,
        validators=[MaxValueValidator(100)],
        help_text="Scenarios that workers write for each finished tree.",
    )
    checks_per_scenario = models.PositiveSmallIntegerField(
        default=0,
        validators=[MaxValueValidator(9)],
        help_text="How many other workers look at each scenario.",
    )
    questions_per_tree = models.PositiveSmallIntegerField(
        default=2,
        validators=[MaxValueValidator(100)],
        help_text="Irrelevant questions drawn for each tree.",
    )
    scenarios_per_tree = models.PositiveSmallIntegerField(
        default=1,
        validators=[MaxValueValidator(100)],
        help_text="Irrelevant scenarios drawn for each tree.",
    )
    negative_threshold = models.FloatField(
        default=0.2,
        validators=[MinValueValidator(0.0), MaxValueValidator(1.0)],
        help_text="Highest TF-IDF cosine at which a scenario of another tree is irrelevant.",
    )
    question_checks = models.BooleanField(
        default=False, help_text="A second expert checks each first question before it counts."
    )
    near_duplicate_threshold = models.FloatField(
        default=0.8,
        validators=[MinValueValidator(0.0), MaxValueValidator(1.0)],
        help_text="TF-IDF cosine from which on two snippets are pointed out as near-duplicates.",
    )
    lease_minutes = models.PositiveSmallIntegerField(
        default=60,
        validators=[MinValueValidator(5), MaxValueValidator(1440)],
        help_text="How long a piece of work stays with the person who took it.",
    )
    splits_frozen_at = models.DateTimeField(
        null=True, help_text="From then on no document changes its split: a release needs that."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    deleted_at = models.DateTimeField(null=True)
    deleted_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")

    objects = KeptProjects.from_queryset(ProjectQuerySet)()
    with_deleted = ProjectQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        # For what Django itself asks: a short name is taken by a deleted project too.
        default_manager_name = "with_deleted"
        constraints = [
            models.CheckConstraint(condition=Q(max_list_items__gte=1), name="project_list_items"),
            models.CheckConstraint(condition=Q(max_words__gte=10), name="project_words"),
            models.CheckConstraint(
                condition=Q(max_depth__gte=1, max_depth__lte=12), name="project_depth"
            ),
            models.CheckConstraint(condition=Q(active_trees__gte=1), name="project_active_trees"),
            models.CheckConstraint(
                condition=Q(rejection_votes__gte=1, rejection_voters__gte=F("rejection_votes")),
                name="project_rejection_votes",
            ),
            models.CheckConstraint(
                condition=Q(negative_threshold__gte=0, negative_threshold__lte=1),
                name="project_negative_threshold",
            ),
            models.CheckConstraint(
                condition=Q(deleted_at__isnull=True, deleted_by__isnull=True)
                | Q(deleted_at__isnull=False, deleted_by__isnull=False),
                name="project_deleted_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("desk:project", args=[self.slug])

    @property
    def restorable_until(self) -> datetime | None:
        return None if self.deleted_at is None else self.deleted_at + RESTORABLE


class Step(models.TextChoices):
    """The kinds of work that have guidelines, in the order of the pipeline."""

    SNIPPETS = "snippets", "Snippets"
    QUESTIONS = "questions", "First questions"
    TREES = "trees", "Follow-up questions"
    CHECKS = "checks", "Checks"
    SCENARIOS = "scenarios", "Scenarios"
    VERIFICATION = "verification", "Verification"

    @classmethod
    def of_workers(cls) -> tuple[Step, ...]:
        """Those of work that workers do."""
        return (cls.TREES, cls.CHECKS, cls.SCENARIOS)


class Guideline(models.Model):
    """What people read before and while they do one kind of work; Markdown."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="guidelines")
    step = models.CharField(max_length=20, choices=Step.choices)
    text = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "step"], name="guideline_once_per_step")
        ]

    def __str__(self) -> str:
        return f"{self.project}: {self.get_step_display()}"


class Membership(models.Model):
    """One person's role in one project."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="membership_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.project}: {self.role}"
