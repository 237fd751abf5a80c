"""What was derived from a tree and proven, and what a release must wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Exists, OuterRef, Q

from apps.accounts.models import User
from apps.projects.models import Project, Split
from apps.scenarios.domain.consistency import InconsistencyReason
from apps.scenarios.domain.facts import FactFault
from apps.scenarios.models.scenarios import Scenario
from apps.scenarios.models.utterances import EXPANSION, Utterance
from apps.trees.models import Tree

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


class Derived(models.Model):
    """What a tree looked like when its utterances were made, and when they were proven.

    Fingerprints of all that the result depends on: while they stay, nothing is computed anew.
    """

    tree = models.OneToOneField(Tree, models.CASCADE, related_name="derived")
    expanded = models.CharField(max_length=40, blank=True)
    given = models.PositiveIntegerField(default=0, help_text="Utterances that the rule gives.")
    same_id = models.JSONField(
        default=list, help_text="Ids of those that are not here: one with the same id is."
    )
    proven = models.CharField(max_length=40, blank=True)
    proven_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"derived from {self.tree}"


class FindingQuerySet(models.QuerySet["Finding"]):
    def visible_to(self, user: User | AnonymousUser) -> FindingQuerySet:
        return self.filter(utterance__project__in=Project.objects.readable_by(user))

    def waived(self) -> FindingQuerySet:
        return self.filter(_is_waived())

    def open(self) -> FindingQuerySet:
        """Those that nobody has waived."""
        return self.filter(~_is_waived())

    def as_imported(self) -> FindingQuerySet:
        """Those of utterances that came in a file, and that nobody here has touched."""
        return self.filter(_is_as_imported())

    def blocking(self) -> FindingQuerySet:
        """Those that a release waits for: not what it leaves out, since nobody has verified it
        or its tree grows again."""
        held_back = Utterance.objects.to_verify().in_splits([Split.DEV, Split.TEST])
        made_here = Q(utterance__job__kind=EXPANSION)
        grows = made_here & Q(utterance__tree__state=Tree.State.GROWING)
        found = self.open().exclude(_is_as_imported()).exclude(grows)
        return found.exclude(Exists(held_back.order_by().filter(pk=OuterRef("utterance"))))

    def in_split(self, split: str) -> FindingQuerySet:
        return self.filter(utterance__tree__in=Tree.objects.in_split(split))


def _is_as_imported() -> Q:
    came = Q(utterance__job__isnull=False) & ~Q(utterance__job__kind=EXPANSION)
    return came & Q(utterance__state=Utterance.State.TO_VERIFY)


def _is_waived() -> Exists:
    in_force = Waived.objects.filter(ended_at__isnull=True, utterance=OuterRef("utterance"))
    return Exists(in_force.filter(waiver__reason=OuterRef("reason")))


class Finding(models.Model):
    """An utterance whose answer does not follow from its tree, and why (domain/consistency.py)."""

    class Reason(models.TextChoices):
        CONTRADICTS = InconsistencyReason.CONTRADICTS.value, "Contradicts the tree"
        DECIDES_EARLY = InconsistencyReason.DECIDES_EARLY.value, "Decides early"
        ASKS_KNOWN_FACT = InconsistencyReason.ASKS_KNOWN_FACT.value, "Asks a known fact"
        UNKNOWN_QUESTION = InconsistencyReason.UNKNOWN_QUESTION.value, "Unknown question"
        OPEN_BRANCH = InconsistencyReason.OPEN_BRANCH.value, "The tree is open here"
        NO_SCENARIO = InconsistencyReason.NO_SCENARIO.value, "Evidence without a scenario"

    utterance = models.OneToOneField(Utterance, models.CASCADE, related_name="finding")
    reason = models.CharField(max_length=20, choices=Reason.choices)
    expected = models.TextField(blank=True, help_text="What the tree says instead, if anything.")

    objects = FindingQuerySet.as_manager()

    class Meta:
        ordering = ["utterance__utterance_id"]

    def __str__(self) -> str:
        return f"{self.utterance}: {self.reason}"


class Waiver(models.Model):
    """Why utterances stay whose answer does not follow: who says so, when, and of which reason.

    It covers the utterances that were there when it was written, and none that comes later.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="waivers")
    reason = models.CharField(max_length=20, choices=Finding.Reason.choices)
    why = models.CharField(max_length=500)
    by = models.ForeignKey(User, models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(why=""), name="waiver_says_why"),
        ]

    def __str__(self) -> str:
        return f"{self.reason}: {self.why}"


class Waived(models.Model):
    """An utterance that a waiver covers, until it is corrected or the waiver is withdrawn."""

    waiver = models.ForeignKey(Waiver, models.CASCADE, related_name="covered")
    utterance = models.ForeignKey(Utterance, models.CASCADE, related_name="waived")
    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["utterance"], condition=Q(ended_at__isnull=True), name="waived_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.utterance}: {self.waiver}"


class ScenarioFaultQuerySet(models.QuerySet["ScenarioFault"]):
    def visible_to(self, user: User | AnonymousUser) -> ScenarioFaultQuerySet:
        return self.filter(scenario__tree__project__in=Project.objects.readable_by(user))


class ScenarioFault(models.Model):
    """A scenario whose facts give no utterances, and why (domain/facts.py)."""

    class Reason(models.TextChoices):
        CONTRADICTORY = FactFault.CONTRADICTORY.value, "Says both Yes and No"
        NOT_ASKED = FactFault.NOT_ASKED.value, "A fact that the tree does not ask"
        NOT_ON_ONE_PATH = FactFault.NOT_ON_ONE_PATH.value, "Facts that are not on one path"
        NO_FACTS = FactFault.NO_FACTS.value, "No facts"

    scenario = models.OneToOneField(Scenario, models.CASCADE, related_name="fault")
    reason = models.CharField(max_length=20, choices=Reason.choices)
    facts = models.JSONField(default=list, help_text="The turns that do not fit.")

    objects = ScenarioFaultQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.scenario}: {self.reason}"


class AuditLimit(models.Model):
    """What a project's release may reach in one figure of the audit, or why it may reach more."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="audit_limits")
    figure = models.CharField(max_length=40)
    most = models.FloatField(null=True, help_text="Empty: the usual limit.")
    waiver = models.CharField(max_length=500, blank=True, help_text="Why it may be passed.")
    waived_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    waived_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "figure"], name="audit_limit_once"),
            models.CheckConstraint(
                condition=Q(waiver="", waived_by__isnull=True, waived_at__isnull=True)
                | (~Q(waiver="") & Q(waived_by__isnull=False, waived_at__isnull=False)),
                name="audit_waiver_says_who",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.project}: {self.figure}"
