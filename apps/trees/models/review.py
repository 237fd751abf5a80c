"""What experts see to: flags on questions, earlier wordings, comments."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Project
from apps.trees.models.tree import Node, Tree

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


class FlagQuerySet(models.QuerySet["Flag"]):
    def visible_to(self, user: User | AnonymousUser) -> FlagQuerySet:
        return self.filter(tree__project__in=Project.objects.readable_by(user))

    def open(self) -> FlagQuerySet:
        return self.filter(state=Flag.State.OPEN)

    def standing(self) -> FlagQuerySet:
        """Those whose question is still as it was found: open, or kept by an expert."""
        return self.filter(state__in=[Flag.State.OPEN, Flag.State.KEPT])

    def redundant(self) -> FlagQuerySet:
        """Those of questions that cannot change the outcome."""
        return self.filter(kind__in=[Flag.Kind.ONE_ANSWER, Flag.Kind.SAME_BRANCHES])


class Flag(models.Model):
    """A question that an expert has to look at (design 4.3)."""

    class Kind(models.TextChoices):
        ONE_ANSWER = "one answer", "Same answer on both sides"
        SAME_BRANCHES = "same branches", "Both sides go on in the same way"
        ASKED_TWICE = "asked twice", "Asked before on its path"
        NEAR = "near", "Nearly the same as a question before it"

    class State(models.TextChoices):
        OPEN = "open", "Waits for an expert"
        KEPT = "kept", "Kept"  # the question stays, with a reason; it is not asked again
        PRUNED = "pruned", "Pruned"  # taken out, to be annotated anew
        SETTLED = "settled", "Settled"  # taken out, and the final answer given instead
        GONE = "gone", "Gone"  # what was flagged has changed, or is no longer there

    tree = models.ForeignKey(Tree, models.CASCADE, related_name="flags")
    node = models.ForeignKey(Node, models.CASCADE, related_name="flags")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    other = models.ForeignKey(
        Node, models.CASCADE, null=True, related_name="+",
        help_text="The question before it on its path that it is near to.",
    )  # fmt: skip
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    found_at = models.DateTimeField()
    settled_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    settled_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=500, blank=True)

    PROJECT_PATH = "tree__project_id"
    TRANSITIONS: ClassVar = {
        State.OPEN: {State.KEPT, State.PRUNED, State.SETTLED, State.GONE},
        State.KEPT: {State.PRUNED, State.SETTLED, State.GONE},
    }

    objects = FlagQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["node", "kind"],
                condition=Q(state__in=["open", "kept"]),
                name="flag_once",
            ),
            models.CheckConstraint(
                condition=~Q(state="kept") | ~Q(reason=""), name="flag_kept_says_why"
            ),
        ]
        indexes = [models.Index(fields=["tree", "state"], name="flag_by_tree")]

    def __str__(self) -> str:
        return f"{self.kind}: {self.node}"


class Wording(models.Model):
    """How a follow-up question was worded before an expert changed it."""

    node = models.ForeignKey(Node, models.CASCADE, related_name="wordings")
    text = models.TextField()
    replaced_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    replaced_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.text


class TreeComment(models.Model):
    """What an expert says to the others about a tree, or about one node of it."""

    tree = models.ForeignKey(Tree, models.CASCADE, related_name="comments")
    node = models.ForeignKey(Node, models.CASCADE, null=True, related_name="comments")
    text = models.TextField()
    author = models.ForeignKey(User, models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.text[:60]
