"""Questions and scenarios of other trees, put to this one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Q

from apps.accounts.models import User
from apps.scenarios.models.scenarios import Scenario
from apps.snippets.models import Question
from apps.trees.models import Tree
from apps.workers.models import Provenance

if TYPE_CHECKING:
    pass


class NegativeQuerySet(models.QuerySet[Any]):
    def in_force(self) -> NegativeQuerySet:
        return self.filter(dropped_at__isnull=True)


class Negative(Provenance):
    """What both kinds of negatives have. A dropped one is kept, so that it is not drawn again."""

    cosine = models.FloatField(
        null=True, help_text="Of the TF-IDF vectors of both trees' follow-up questions."
    )
    dropped_at = models.DateTimeField(null=True)
    dropped_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    dropped_reason = models.CharField(max_length=500, blank=True)

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
        ]


class NegativeQuestion(Negative):
    """A first question of another document's tree, put to this tree: Irrelevant."""

    tree = models.ForeignKey(Tree, models.CASCADE, related_name="negative_questions")
    source = models.ForeignKey(Question, models.PROTECT, null=True, related_name="+")
    text = models.TextField()

    def __str__(self) -> str:
        return self.text[:60]


class NegativeScenario(Negative):
    """A scenario of another document's tree, put to every node of this one."""

    tree = models.ForeignKey(Tree, models.CASCADE, related_name="negative_scenarios")
    source = models.ForeignKey(Scenario, models.PROTECT, null=True, related_name="+")
    text = models.TextField()

    def __str__(self) -> str:
        return self.text[:60]
