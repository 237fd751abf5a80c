"""Questions and scenarios of other trees, put to this one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Q

from apps.accounts.models import User
from apps.projects.models import Project
from apps.scenarios.models.scenarios import Scenario
from apps.snippets.models import Question
from apps.trees.models import Tree
from apps.workers.models import Provenance

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

MINING = "negatives"
"""The kind of job that draws negatives."""

REPLACING = "replacing a negative"
"""The kind of job that draws one for one that was dropped."""


class NegativeQuerySet(models.QuerySet[Any]):
    def visible_to(self, user: User | AnonymousUser) -> NegativeQuerySet:
        return self.filter(tree__project__in=Project.objects.readable_by(user))

    def in_force(self) -> NegativeQuerySet:
        return self.filter(dropped_at__isnull=True)

    def drawn(self) -> NegativeQuerySet:
        """Those that mining made; the others were imported, or written by hand."""
        return self.filter(job__kind__in=[MINING, REPLACING])


class Negative(Provenance):
    """What both kinds of negatives have. A dropped one is kept, so that it is not drawn again."""

    cosine = models.FloatField(
        null=True, help_text="Of the TF-IDF vectors of both trees' follow-up questions."
    )
    hardness = models.FloatField(
        null=True, help_text="The share of its words that the tree's rule text has too."
    )
    dropped_at = models.DateTimeField(null=True)
    dropped_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    dropped_reason = models.CharField(max_length=500, blank=True)
    replaces = models.OneToOneField(
        "self", models.SET_NULL, null=True, related_name="replaced_by",
        help_text="The dropped one whose place it took.",
    )  # fmt: skip

    objects = NegativeQuerySet.as_manager()

    class Meta(Provenance.Meta):
        abstract = True
        constraints = [
            *Provenance.Meta.constraints,
            models.UniqueConstraint(
                fields=["tree", "source"],
                condition=Q(source__isnull=False),
                name="%(class)s_once_per_source",
            ),
            models.CheckConstraint(condition=~Q(text=""), name="%(class)s_text_not_empty"),
            models.CheckConstraint(
                condition=Q(hardness__isnull=True) | Q(hardness__gte=0, hardness__lte=1),
                name="%(class)s_hardness_is_a_share",
            ),
            models.CheckConstraint(
                condition=Q(dropped_at__isnull=True, dropped_by__isnull=True, dropped_reason="")
                | (Q(dropped_at__isnull=False, dropped_by__isnull=False) & ~Q(dropped_reason="")),
                name="%(class)s_drop_says_why",
            ),
        ]


class NegativeQuestion(Negative):
    """A first question of another document's tree, put to this tree: Irrelevant.

    Before it can stand a scenario and a history of this tree, so that it is not told by having
    none. A history is the way to a place; where the tree no longer goes there, as far as it goes.
    """

    tree = models.ForeignKey(Tree, models.CASCADE, related_name="negative_questions")
    source = models.ForeignKey(Question, models.PROTECT, null=True, related_name="+")
    text = models.TextField()
    attached_scenario = models.ForeignKey(Scenario, models.PROTECT, null=True, related_name="+")
    attached_place = models.CharField(
        max_length=200, blank=True, help_text="The way from the root: y or n for each turn."
    )

    def __str__(self) -> str:
        return self.text[:60]


class NegativeScenario(Negative):
    """A scenario of another document's tree, put to every node of this one."""

    tree = models.ForeignKey(Tree, models.CASCADE, related_name="negative_scenarios")
    source = models.ForeignKey(Scenario, models.PROTECT, null=True, related_name="+")
    text = models.TextField()

    def __str__(self) -> str:
        return self.text[:60]
