"""Scenarios: what they are written on, what they say, and what others find in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.db import models
from django.db.models import F, OuterRef, Q, Subquery

from apps.accounts.models import User
from apps.projects.models import Project, StateChange
from apps.scenarios.domain.fact_sheet import Stated
from apps.scenarios.domain.turns import turns_from_json
from apps.trees.domain.tree import Answer, Path, Turn
from apps.trees.models import ANSWERS, Node, Tree
from apps.workers.models import Assignment, Provenance

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


STATED = [(one.value, one.value) for one in Stated]


class Prompt(models.Model):
    """What a scenario is to be written on. Drawn when the work is taken: it stays as it is, also
    when the tree changes.

    `turns` are turns of one path, as in the export, each with the key of its `node`. Among them
    stands a question of another document's tree with an answer; empty, where there was none.
    """

    assignment = models.OneToOneField(Assignment, models.CASCADE, related_name="prompt")
    tree = models.ForeignKey(Tree, models.CASCADE, related_name="prompts")
    turns = models.JSONField()
    unrelated_question = models.TextField(blank=True)
    unrelated_answer = models.CharField(max_length=3, choices=ANSWERS, blank=True)
    unrelated_node = models.ForeignKey(Node, models.SET_NULL, null=True, related_name="+")
    unrelated_place = models.PositiveSmallIntegerField(
        default=0, help_text="The number of the turn that it stands before."
    )
    fits_at = models.DateTimeField(
        null=True, help_text="When the writer said that nothing of it contradicts the rest."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(unrelated_question="", unrelated_answer="")
                | (~Q(unrelated_question="") & ~Q(unrelated_answer="")),
                name="prompt_unrelated_is_a_turn",
            ),
        ]

    def __str__(self) -> str:
        return f"prompt of {self.assignment}"

    @property
    def path(self) -> Path:
        """The turns of the tree, as they were worded when they were drawn."""
        return turns_from_json(self.turns)

    @property
    def unrelated(self) -> Turn | None:
        if not self.unrelated_question:
            return None
        return Turn(self.unrelated_question, Answer(self.unrelated_answer))

    @property
    def cards(self) -> list[tuple[int | None, Turn]]:
        """All of it in the order in which it is shown; with no node, what belongs elsewhere."""
        cards: list[tuple[int | None, Turn]] = [
            (int(turn["node"]), told) for turn, told in zip(self.turns, self.path, strict=True)
        ]
        if self.unrelated:
            cards.insert(self.unrelated_place, (None, self.unrelated))
        return cards


class ScenarioQuerySet(models.QuerySet["Scenario"]):
    def visible_to(self, user: User | AnonymousUser) -> ScenarioQuerySet:
        return self.filter(tree__project__in=Project.objects.readable_by(user))

    def in_force(self) -> ScenarioQuerySet:
        """Those that are part of the dataset."""
        return self.filter(state=Scenario.State.STANDS)

    def kept(self) -> ScenarioQuerySet:
        """Those that count towards the number that a tree needs."""
        return self.exclude(state=Scenario.State.SENT_BACK)

    def sent_back_to(self, author: User) -> ScenarioQuerySet:
        """The author's own that were sent back, the last one first, with `back_at` and why
        (`back_reason`)."""
        steps = StateChange.objects.filter(
            object_type="scenario", object_id=OuterRef("pk"), to_state=Scenario.State.SENT_BACK
        ).order_by("-pk")
        mine = self.filter(created_by=author, state=Scenario.State.SENT_BACK)
        return mine.annotate(
            back_at=Subquery(steps.values("at")[:1]),
            back_reason=Subquery(steps.values("reason")[:1]),
        ).order_by("-back_at", "-pk")


class Scenario(Provenance):
    """A text in which a user tells their situation, written for one tree."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waits for checks"  # of other workers
        DISPUTED = "disputed", "Waits for an expert"  # checkers read other facts in it
        STANDS = "stands", "In the dataset"
        SENT_BACK = "sent back", "Sent back"  # somebody else writes another one

    TRANSITIONS: ClassVar = {
        State.WAITING: {State.STANDS, State.DISPUTED, State.SENT_BACK},
        State.DISPUTED: {State.STANDS, State.SENT_BACK},
        State.STANDS: {State.SENT_BACK},
    }
    PROJECT_PATH = "tree__project_id"

    tree = models.ForeignKey(Tree, models.CASCADE, related_name="scenarios")
    text = models.TextField()
    # An index on the text itself fails on PostgreSQL from 2.7 KB on.
    text_sha1 = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=State.choices, default=State.STANDS)
    prompt = models.OneToOneField(Prompt, models.PROTECT, null=True, related_name="scenario")
    checks_wanted = models.PositiveSmallIntegerField(default=0)  # frozen when it is submitted
    pasted = models.PositiveIntegerField(
        default=0, help_text="Characters of it that the browser saw come from the clipboard."
    )
    sheet_version = models.PositiveIntegerField(
        default=0, help_text="Grows when an expert decides on its facts."
    )

    objects = ScenarioQuerySet.as_manager()

    class Meta(Provenance.Meta):
        constraints = [
            *Provenance.Meta.constraints,
            models.UniqueConstraint(fields=["tree", "text_sha1"], name="scenario_once_per_tree"),
            models.CheckConstraint(condition=~Q(text=""), name="scenario_text_not_empty"),
        ]
        indexes = [
            models.Index(
                fields=["tree"],
                condition=Q(state__in=["waiting", "disputed"]),
                name="scenario_not_settled",
            ),
        ]

    def __str__(self) -> str:
        return self.text[:60]


class ScenarioCheck(models.Model):
    """What another worker reads in a scenario. Its facts change by an expert alone."""

    class Verdict(models.TextChoices):
        APPROVES = "approves", "Approves"
        SENDS_BACK = "sends back", "Sends back"

    scenario = models.ForeignKey(Scenario, models.CASCADE, related_name="checks")
    checker = models.ForeignKey(User, models.PROTECT, related_name="+")
    author = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="+")
    says = models.JSONField(help_text="Question of the tree -> Yes, No or not stated.")
    unrelated_says = models.CharField(
        max_length=10, choices=STATED, blank=True,
        help_text="What the text says to the question of another document; empty: there was none.",
    )  # fmt: skip
    unrelated_contradicts = models.BooleanField(
        null=True, help_text="Whether that contradicts something that the tree asks."
    )
    own_words = models.BooleanField()
    verdict = models.CharField(max_length=10, choices=Verdict.choices)
    reason = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["scenario", "checker"], name="scenario_check_once"),
            models.CheckConstraint(
                condition=Q(author__isnull=True) | ~Q(checker=F("author")),
                name="scenario_check_by_another",
            ),
            models.CheckConstraint(
                condition=Q(verdict="approves") | ~Q(reason=""),
                name="scenario_check_back_says_why",
            ),
            models.CheckConstraint(
                condition=Q(unrelated_says="", unrelated_contradicts__isnull=True)
                | (~Q(unrelated_says="") & Q(unrelated_contradicts__isnull=False)),
                name="scenario_check_of_both_or_none",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.checker} {self.verdict}: {self.scenario}"


class ContradictionQuerySet(models.QuerySet["Contradiction"]):
    def visible_to(self, user: User | AnonymousUser) -> ContradictionQuerySet:
        return self.filter(prompt__tree__project__in=Project.objects.readable_by(user))

    def of_the_tree(self) -> ContradictionQuerySet:
        """Those that say something about the tree, and not about what was put beside it."""
        return self.filter(second__isnull=False)

    def open(self) -> ContradictionQuerySet:
        """Those that wait for an expert: nobody has settled them, and both turns are there."""
        there = Q(first__taken_out_at__isnull=True, second__taken_out_at__isnull=True)
        return self.of_the_tree().filter(there, settled_at__isnull=True)


class Contradiction(models.Model):
    """Two turns of a path that nobody can answer so, says a worker who was to write a scenario.

    `first` stands above `second`. With no `second`, it contradicts the unrelated turn: that says
    nothing about the tree.
    """

    prompt = models.OneToOneField(Prompt, models.CASCADE, related_name="contradiction")
    first = models.ForeignKey(Node, models.CASCADE, related_name="+")
    second = models.ForeignKey(Node, models.CASCADE, null=True, related_name="+")
    reason = models.CharField(max_length=500)
    by = models.ForeignKey(User, models.PROTECT, related_name="+")
    at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)
    settled_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    settled_note = models.CharField(max_length=500, blank=True)

    objects = ContradictionQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="contradiction_says_why"),
            models.CheckConstraint(
                condition=Q(settled_at__isnull=True, settled_by__isnull=True)
                | (Q(settled_at__isnull=False, settled_by__isnull=False) & ~Q(settled_note="")),
                name="contradiction_settled_says_who",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.first} / {self.second}"


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
