"""Scenarios with their facts, negatives, and utterances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Q
from django.urls import reverse

from apps.accounts.models import User
from apps.projects.models import Project, Split
from apps.scenarios.domain.turns import turns_from_json
from apps.snippets.models import Question
from apps.trees.domain.tree import Answer, Path, Turn
from apps.trees.models import ANSWERS, Node, Tree
from apps.workers.models import Provenance

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


class Scenario(Provenance):
    """A text in which a user tells their situation, written for one tree."""

    tree = models.ForeignKey(Tree, models.CASCADE, related_name="scenarios")
    text = models.TextField()
    # An index on the text itself fails on PostgreSQL from 2.7 KB on.
    text_sha1 = models.CharField(max_length=40)

    class Meta(Provenance.Meta):
        constraints = [
            *Provenance.Meta.constraints,
            models.UniqueConstraint(fields=["tree", "text_sha1"], name="scenario_once_per_tree"),
            models.CheckConstraint(condition=~Q(text=""), name="scenario_text_not_empty"),
        ]

    def __str__(self) -> str:
        return self.text[:60]


class Fact(models.Model):
    """A turn that a scenario answers. Imports may state both Yes and No; it is reported."""

    scenario = models.ForeignKey(Scenario, models.CASCADE, related_name="facts")
    position = models.PositiveSmallIntegerField()
    follow_up_question = models.TextField()
    follow_up_answer = models.CharField(max_length=3, choices=ANSWERS)

    class Meta:
        ordering = ["scenario", "position"]
        constraints = [
            models.UniqueConstraint(fields=["scenario", "position"], name="fact_position_once"),
            models.CheckConstraint(
                condition=Q(follow_up_answer__in=["Yes", "No"]) & ~Q(follow_up_question=""),
                name="fact_is_a_turn",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.follow_up_question} {self.follow_up_answer}"

    @property
    def turn(self) -> Turn:
        return Turn(self.follow_up_question, Answer(self.follow_up_answer))


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


class UtteranceQuerySet(models.QuerySet["Utterance"]):
    def visible_to(self, user: User | AnonymousUser) -> UtteranceQuerySet:
        return self.filter(project__in=Project.objects.readable_by(user))

    def in_split(self, split: Split | str) -> UtteranceQuerySet:
        # Trees first: a join would look up the document of every utterance of the project.
        return self.filter(tree__in=Tree.objects.in_split(split))

    def with_source(self) -> UtteranceQuerySet:
        """Each with its tree, snippet and document, in the same query."""
        return self.select_related("tree__question__snippet__document", "project")

    def with_provenance(self) -> UtteranceQuerySet:
        """Each with who made it and how, and with the other tree that a negative comes from."""
        return self.select_related(
            "created_by",
            "assignment",
            "job",
            "negative_question__source__tree",
            "negative_scenario__source__tree",
        )

    def saying(self, text: str) -> UtteranceQuerySet:
        """Utterances with the text in question, scenario or answer, or at the start of the id."""
        return self.filter(
            Q(question__icontains=text)
            | Q(scenario__icontains=text)
            | Q(answer__icontains=text)
            | Q(utterance_id__startswith=text.lower())
        )


class Utterance(Provenance):
    """One prediction problem: what a model reads, and the answer it should give."""

    class Kind(models.TextChoices):
        PLAIN = "plain", "Plain"  # no scenario
        SCENARIO = "scenario", "With a scenario"  # of this tree
        NEGATIVE_QUESTION = "negative_question", "Irrelevant question"  # of another tree
        NEGATIVE_SCENARIO = "negative_scenario", "Irrelevant scenario"  # of another tree

    class Origin(models.TextChoices):
        RULE = "rule", "By the rule"  # the expansion of its tree gives it
        HAND = "hand", "By hand"  # a correction; the expansion leaves it alone

    class AnswerClass(models.TextChoices):
        YES = "yes", "Yes"
        NO = "no", "No"
        IRRELEVANT = "irrelevant", "Irrelevant"
        MORE = "more", "A follow-up question"

    project = models.ForeignKey(Project, models.CASCADE, related_name="utterances")
    utterance_id = models.CharField(max_length=40)
    tree = models.ForeignKey(Tree, models.CASCADE, related_name="utterances")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    origin = models.CharField(max_length=5, choices=Origin.choices, default=Origin.RULE)
    node = models.ForeignKey(
        Node, models.SET_NULL, null=True, related_name="utterances",
        help_text="Where its history leads; empty when the tree has no such node.",
    )  # fmt: skip
    scenario_of = models.ForeignKey(
        Scenario, models.PROTECT, null=True, related_name="utterances",
        help_text="The scenario of this tree that its text is.",
    )  # fmt: skip
    negative_question = models.ForeignKey(
        NegativeQuestion, models.PROTECT, null=True, related_name="utterances"
    )
    negative_scenario = models.ForeignKey(
        NegativeScenario, models.PROTECT, null=True, related_name="utterances"
    )
    question = models.TextField()
    scenario = models.TextField(blank=True)
    history = models.JSONField(default=list, help_text="Turns, as in the export.")
    evidence = models.JSONField(default=list, help_text="Turns that the scenario answers.")
    answer = models.TextField()
    answer_class = models.CharField(max_length=10, choices=AnswerClass.choices)
    as_imported = models.TextField(
        blank=True,
        help_text="The record as it came, JSON, where the file spells what this row repairs.",
    )

    objects = UtteranceQuerySet.as_manager()

    class Meta(Provenance.Meta):
        ordering = ["utterance_id"]
        constraints = [
            *Provenance.Meta.constraints,
            models.UniqueConstraint(fields=["project", "utterance_id"], name="utterance_id_once"),
            models.CheckConstraint(
                condition=Q(utterance_id__regex=r"^[0-9a-f]{40}$"), name="utterance_id_is_sha1"
            ),
            models.CheckConstraint(
                condition=Q(answer_class="yes", answer="Yes")
                | Q(answer_class="no", answer="No")
                | Q(answer_class="irrelevant", answer="Irrelevant")
                | (Q(answer_class="more") & ~Q(answer__in=["", "Yes", "No", "Irrelevant", "MORE"])),
                name="utterance_class_is_the_answers",
            ),
            models.CheckConstraint(
                condition=~Q(kind="plain") | Q(scenario=""), name="utterance_plain_has_no_scenario"
            ),
        ]
        indexes = [
            models.Index(fields=["tree", "answer_class"], name="utterance_by_answer"),
            models.Index(fields=["project", "kind"], name="utterance_by_kind"),
        ]

    def __str__(self) -> str:
        return self.utterance_id[:8]

    @property
    def history_turns(self) -> Path:
        return turns_from_json(self.history)

    @property
    def evidence_turns(self) -> Path:
        return turns_from_json(self.evidence)

    @classmethod
    def class_of(cls, answer: str) -> Utterance.AnswerClass:
        """The class that evaluators count; any answer that is none of the words asks for more."""
        classes = {"Yes": cls.AnswerClass.YES, "No": cls.AnswerClass.NO,
                   "Irrelevant": cls.AnswerClass.IRRELEVANT}  # fmt: skip
        return classes.get(answer, cls.AnswerClass.MORE)

    def get_absolute_url(self) -> str:
        return reverse("scenarios:utterance", args=[self.project.slug, self.utterance_id])
