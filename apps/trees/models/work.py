"""What workers do on a tree before it is part of it: steps of a path, and checks of turns."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models import F, Q

from apps.accounts.models import User
from apps.trees.models.tree import ANSWERS, Node
from apps.workers.models import Assignment, Kind


class PathStepQuerySet(models.QuerySet["PathStep"]):
    def standing(self) -> PathStepQuerySet:
        """Those that were not taken back."""
        return self.filter(undone_at__isnull=True)


class PathStep(models.Model):
    """One step of a worker's walk: a follow-up question with the simulated user's answer, or the
    final answer (then `text` is empty). The submit of the path makes nodes of them.
    """

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="path_steps")
    position = models.PositiveSmallIntegerField()
    text = models.TextField(blank=True)
    span_start = models.PositiveIntegerField(null=True)
    span_end = models.PositiveIntegerField(null=True)
    answer = models.CharField(max_length=3, choices=ANSWERS)
    at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True)

    objects = PathStepQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "position"],
                condition=Q(undone_at__isnull=True),
                name="path_step_once",
            ),
            models.CheckConstraint(
                condition=Q(span_start__isnull=True, span_end__isnull=True)
                | Q(
                    span_start__isnull=False,
                    span_end__isnull=False,
                    span_end__gt=F("span_start"),
                ),
                name="path_step_span_has_both_ends",
            ),
        ]

    def __str__(self) -> str:
        return self.text or self.answer

    @property
    def is_final(self) -> bool:
        return not self.text


class NodeCheckQuerySet(models.QuerySet["NodeCheck"]):
    def votes(self, since: datetime | models.OuterRef) -> NodeCheckQuerySet:
        """What counts in a dispute that began then: rejections, and the answers of those who were
        asked; not that somebody went on below."""
        asked = Q(verdict=NodeCheck.Verdict.REJECTS) | Q(assignment__kind=Kind.NODE_CHECK)
        return self.filter(asked, at__gte=since)


class NodeCheck(models.Model):
    """What somebody says about a turn that another person wrote."""

    class Verdict(models.TextChoices):
        AGREES = "agrees", "Agrees"
        REJECTS = "rejects", "Rejects"

    class Reason(models.TextChoices):
        NOT_YES_NO = "not yes or no", "It cannot be answered with Yes or No"
        NOT_IN_RULE = "not in rule", "The rule text does not ask for this"
        KNOWN = "known", "The turns before it tell it already"
        UNCLEAR = "unclear", "It cannot be understood"
        WRONG = "wrong", "It says something else than the rule text"
        TWO_IN_ONE = "two in one", "It asks two things at once"
        OTHER = "other", "Another reason"

    node = models.ForeignKey(Node, models.CASCADE, related_name="checks")
    checker = models.ForeignKey(User, models.PROTECT, related_name="+")
    author = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")  # of the node
    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="+")
    verdict = models.CharField(max_length=10, choices=Verdict.choices)
    reason = models.CharField(max_length=20, choices=Reason.choices, blank=True)
    note = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField()

    objects = NodeCheckQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["node", "checker"], name="node_check_once"),
            models.CheckConstraint(
                condition=Q(author__isnull=True) | ~Q(checker=F("author")),
                name="node_check_by_another",
            ),
            models.CheckConstraint(
                condition=Q(verdict="agrees", reason="") | Q(verdict="rejects") & ~Q(reason=""),
                name="node_check_rejection_says_why",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.checker} {self.verdict}: {self.node}"
