"""The test that a project may ask of its workers, their attempts, and who has passed (design 4.10).

Nothing here is an Assignment: what people answer in a test counts towards nothing else.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q

from apps.accounts.models import User
from apps.projects.models import Project
from apps.workers.domain.qualification import Rules
from apps.workers.models.work import Kind


class AnswerClass(models.TextChoices):
    """What a question of the test can be answered with: the classes of utterances."""

    YES = "yes", "Yes"
    NO = "no", "No"
    IRRELEVANT = "irrelevant", "Irrelevant"  # the rule text has nothing to do with the question
    MORE = "more", "A follow-up question is needed"


class QualificationSettings(models.Model):
    """Which work of a project needs the qualification, and how it is got. No row: none does."""

    project = models.OneToOneField(
        Project, models.CASCADE, related_name="qualification_settings"
    )  # fmt: skip
    for_paths = models.BooleanField(default=False)
    for_node_checks = models.BooleanField(default=False)
    for_scenarios = models.BooleanField(default=False)
    for_scenario_checks = models.BooleanField(default=False)
    pass_mark = models.PositiveSmallIntegerField(
        default=100,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text="Per cent of the questions that must be answered right.",
    )
    most_tries = models.PositiveSmallIntegerField(
        default=3,
        validators=[MinValueValidator(1), MaxValueValidator(50)],
        help_text="How often one person may take the test.",
    )
    waiting_hours = models.PositiveSmallIntegerField(
        default=24,
        validators=[MaxValueValidator(8760)],
        help_text="Hours between a test that was not passed and the next try.",
    )
    expiry_days = models.PositiveSmallIntegerField(
        default=365,
        validators=[MinValueValidator(1), MaxValueValidator(3650)],
        help_text="Days that a qualification lasts.",
    )

    KINDS: ClassVar[dict[str, Kind]] = {
        "for_paths": Kind.PATH,
        "for_node_checks": Kind.NODE_CHECK,
        "for_scenarios": Kind.SCENARIO,
        "for_scenario_checks": Kind.SCENARIO_CHECK,
    }

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(pass_mark__gte=1, pass_mark__lte=100), name="qualification_pass_mark"
            ),
            models.CheckConstraint(
                condition=Q(most_tries__gte=1), name="qualification_most_tries"
            ),
            models.CheckConstraint(
                condition=Q(expiry_days__gte=1), name="qualification_expiry_days"
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"Qualification of {self.project}"

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of work that need the qualification."""
        return frozenset(kind for name, kind in self.KINDS.items() if getattr(self, name))

    def to_domain(self) -> Rules:
        return Rules(self.most_tries, self.waiting_hours)


class QualificationTest(models.Model):
    """One version of a project's test. Once it is published its questions never change."""

    class State(models.TextChoices):
        DRAFT = "draft", "Being written"  # nobody is given it
        PUBLISHED = "published", "In use"  # the one that people take
        REPLACED = "replaced", "Replaced"  # whoever has begun it goes on with it

    project = models.ForeignKey(Project, models.CASCADE, related_name="qualification_tests")
    number = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    published_at = models.DateTimeField(null=True)
    published_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")

    TRANSITIONS: ClassVar = {State.DRAFT: {State.PUBLISHED}, State.PUBLISHED: {State.REPLACED}}

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="qualification_test_number"),
            models.UniqueConstraint(
                fields=["project"], condition=Q(state="draft"), name="qualification_test_one_draft"
            ),
            models.UniqueConstraint(
                fields=["project"],
                condition=Q(state="published"),
                name="qualification_test_one_in_use",
            ),
            models.CheckConstraint(
                condition=Q(state="draft", published_at__isnull=True)
                | (~Q(state="draft") & Q(published_at__isnull=False)),
                name="qualification_test_published_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"Version {self.number} of the test of {self.project}"


class QualificationQuestion(models.Model):
    """A question of a test. A trigger refuses every change once the test is published."""

    test = models.ForeignKey(QualificationTest, models.CASCADE, related_name="questions")
    position = models.PositiveSmallIntegerField()
    rule_text = models.TextField()
    question = models.TextField()
    history = models.JSONField(default=list)  # turns, as utterances have them
    answer_class = models.CharField(max_length=10, choices=AnswerClass.choices)
    explanation = models.TextField()  # shown when the test is submitted

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["test", "position"], name="qualification_question_position"
            ),
            models.CheckConstraint(
                condition=Q(answer_class__in=AnswerClass.values),
                name="qualification_question_answer",
            ),
        ]

    def __str__(self) -> str:
        return self.question


class QualificationAttempt(models.Model):
    """One person's try, against the version of the test that they saw. `draft` is what they have
    answered so far; answers are rows of their own when they submit, all at once."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="qualification_attempts")
    worker = models.ForeignKey(User, models.PROTECT, related_name="qualification_attempts")
    test = models.ForeignKey(QualificationTest, models.PROTECT, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    pass_mark = models.PositiveSmallIntegerField()
    began_at = models.DateTimeField()
    draft = models.JSONField(default=dict)
    submitted_at = models.DateTimeField(null=True)
    submit_key = models.CharField(max_length=64, blank=True)
    right = models.PositiveSmallIntegerField(default=0)
    asked = models.PositiveSmallIntegerField(default=0)
    passed = models.BooleanField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "worker", "number"], name="qualification_attempt_number_once"
            ),
            models.UniqueConstraint(
                fields=["project", "worker"],
                condition=Q(submitted_at__isnull=True),
                name="qualification_attempt_one_open",
            ),
            models.CheckConstraint(
                condition=Q(submitted_at__isnull=True, passed__isnull=True, submit_key="")
                | Q(submitted_at__isnull=False, passed__isnull=False, submit_key__gt=""),
                name="qualification_attempt_submitted_whole",
            ),
            models.CheckConstraint(
                condition=Q(right__lte=F("asked")), name="qualification_attempt_right_of_asked"
            ),
        ]

    def __str__(self) -> str:
        return f"Try {self.number} of {self.worker}"


class QualificationAnswer(models.Model):
    """What somebody answered. A question without an answer has no row, and no test is submitted
    with one."""

    attempt = models.ForeignKey(QualificationAttempt, models.CASCADE, related_name="answers")
    question = models.ForeignKey(QualificationQuestion, models.PROTECT, related_name="answers")
    answer_class = models.CharField(max_length=10, choices=AnswerClass.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["attempt", "question"], name="qualification_answer_once"
            ),
            models.CheckConstraint(
                condition=Q(answer_class__in=AnswerClass.values), name="qualification_answer_is_one"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question}: {self.answer_class}"


class QualificationQuerySet(models.QuerySet["Qualification"]):
    def held(self) -> QualificationQuerySet:
        return self.filter(state=Qualification.State.HELD)

    def lasting(self, now: datetime) -> QualificationQuerySet:
        """Those with which people get work."""
        return self.held().filter(expires_at__gt=now)


class Qualification(models.Model):
    """That somebody may do the work of a project that needs it: by a test, or by an admin."""

    class State(models.TextChoices):
        HELD = "held", "Held"  # it counts until `expires_at`
        REVOKED = "revoked", "Revoked"  # an admin took it back
        REPLACED = "replaced", "Replaced"  # the person got a newer one

    project = models.ForeignKey(Project, models.CASCADE, related_name="qualifications")
    worker = models.ForeignKey(User, models.PROTECT, related_name="qualifications")
    state = models.CharField(max_length=10, choices=State.choices, default=State.HELD)
    given_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    attempt = models.OneToOneField(
        QualificationAttempt, models.PROTECT, null=True, related_name="qualification"
    )
    given_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")

    TRANSITIONS: ClassVar = {State.HELD: {State.REVOKED, State.REPLACED}}

    objects = QualificationQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "worker"],
                condition=Q(state="held"),
                name="qualification_held_once",
            ),
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("given_at")), name="qualification_expires_later"
            ),
            models.CheckConstraint(
                condition=Q(attempt__isnull=False, given_by__isnull=True)
                | Q(attempt__isnull=True, given_by__isnull=False),
                name="qualification_by_test_or_by_hand",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.worker} in {self.project}: {self.state}"
