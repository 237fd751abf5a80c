"""Utterances, and how experts corrected them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.db import models
from django.db.models import Case, Count, Q, Value, When
from django.urls import reverse

from apps.accounts.models import User
from apps.projects.models import Job, Project, Split
from apps.scenarios.domain.corrections import Parts
from apps.scenarios.domain.turns import turns_from_json
from apps.scenarios.models.negatives import NegativeQuestion, NegativeScenario
from apps.scenarios.models.scenarios import Scenario
from apps.trees.domain.tree import Path
from apps.trees.models import Node, Tree
from apps.workers.models import Provenance

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.auth.models import AnonymousUser


EXPANSION = "expansion"
"""The kind of job that makes utterances by the rule."""


class UtteranceQuerySet(models.QuerySet["Utterance"]):
    def visible_to(self, user: User | AnonymousUser) -> UtteranceQuerySet:
        return self.filter(project__in=Project.objects.readable_by(user))

    def in_force(self) -> UtteranceQuerySet:
        """Those that belong to the dataset: neither dropped nor taken out."""
        return self.exclude(state__in=[Utterance.State.DROPPED, Utterance.State.TAKEN_OUT])

    def imported(self) -> UtteranceQuerySet:
        """Those that came in a file; whoever published it stands for them."""
        return self.filter(job__isnull=False).exclude(job__in=_expansions())

    def to_verify(self) -> UtteranceQuerySet:
        """Those that an expert has still to look at, also because the tree has changed since."""
        fresh = _made_here() & Q(state=Utterance.State.TO_VERIFY)
        return self.in_force().filter(Q(gone_at__isnull=False) | fresh)

    def counted_by_state(self) -> models.QuerySet[Any, Any]:
        """For each state `number`, and of these `gone` and `fresh`: not gone, and made here."""
        is_gone = Q(gone_at__isnull=False)
        return (
            self.order_by()
            .values("state")
            .annotate(
                number=Count("pk"),
                gone=Count("pk", filter=is_gone),
                fresh=Count("pk", filter=~is_gone & _made_here()),
            )
        )

    def in_splits(self, splits: Iterable[str]) -> UtteranceQuerySet:
        trees = Tree.objects.filter(question__snippet__document__split__in=list(splits))
        return self.filter(tree__in=trees)

    def in_reading_order(self) -> UtteranceQuerySet:
        """As somebody reads one tree: without a scenario first, then scenario by scenario."""
        kinds = [When(kind=kind, then=Value(rank)) for rank, kind in enumerate(Utterance.Kind)]
        return self.order_by(Case(*kinds), "scenario_of", "negative_scenario", "pk")

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
            "verified_by",
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

    class State(models.TextChoices):
        TO_VERIFY = "to verify", "To verify"  # no expert has looked at it
        ACCEPTED = "accepted", "Accepted"  # an expert finds it right as it is
        CORRECTED = "corrected", "Corrected"  # an expert has changed it
        DROPPED = "dropped", "Dropped"  # an expert has left it out, with a reason
        TAKEN_OUT = "taken out", "Taken out"  # its tree no longer gives it

    TRANSITIONS: ClassVar = {
        State.TO_VERIFY: {State.ACCEPTED, State.CORRECTED, State.DROPPED, State.TAKEN_OUT},
        State.ACCEPTED: {State.TO_VERIFY, State.CORRECTED, State.DROPPED},
        State.CORRECTED: {State.DROPPED},
        State.DROPPED: {State.TO_VERIFY},  # somebody thinks again
        State.TAKEN_OUT: {State.TO_VERIFY},  # its tree gives it again
    }

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
    is_hard = models.BooleanField(
        default=False, help_text="No partial model of the last audit gets it right."
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.TO_VERIFY)
    version = models.PositiveIntegerField(
        default=1, help_text="Grows with each change, so that two experts do not undo each other."
    )
    verified_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    verified_at = models.DateTimeField(null=True)
    dropped_reason = models.CharField(max_length=500, blank=True)
    gone_at = models.DateTimeField(
        null=True, help_text="Since when its tree no longer gives it, though it was verified."
    )
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
            models.CheckConstraint(
                condition=~Q(state="dropped") | ~Q(dropped_reason=""),
                name="utterance_drop_says_why",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["to verify", "taken out"])
                | Q(verified_by__isnull=False, verified_at__isnull=False),
                name="utterance_verified_says_who",
            ),
        ]
        indexes = [
            models.Index(fields=["tree", "answer_class", "state"], name="utterance_by_answer"),
            models.Index(fields=["project", "state"], name="utterance_of_project"),
            # All that verification and exports count by, so that no row is read for it.
            models.Index(
                fields=["tree", "state", "job", "gone_at", "answer_class"],
                name="utterance_by_state",
            ),
            models.Index(
                fields=["tree"], condition=Q(gone_at__isnull=False), name="utterance_gone"
            ),
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

    @property
    def parts(self) -> Parts:
        """What an expert may correct."""
        return Parts(self.scenario, self.history_turns, self.evidence_turns, self.answer)

    @property
    def is_in_force(self) -> bool:
        return self.state not in {self.State.DROPPED, self.State.TAKEN_OUT}

    @property
    def is_as_imported(self) -> bool:
        """It came in a file, and nobody here has touched it. Needs the job."""
        came = self.job is not None and self.job.kind != EXPANSION
        return came and self.state == self.State.TO_VERIFY

    @classmethod
    def class_of(cls, answer: str) -> Utterance.AnswerClass:
        """The class that evaluators count; any answer that is none of the words asks for more."""
        classes = {"Yes": cls.AnswerClass.YES, "No": cls.AnswerClass.NO,
                   "Irrelevant": cls.AnswerClass.IRRELEVANT}  # fmt: skip
        return classes.get(answer, cls.AnswerClass.MORE)

    def get_absolute_url(self) -> str:
        return reverse("scenarios:utterance", args=[self.project.slug, self.utterance_id])


def _made_here() -> Q:
    return Q(job__isnull=True) | Q(job__in=_expansions())


def _expansions() -> models.QuerySet[Job]:
    return Job.objects.filter(kind=EXPANSION)


class Correction(models.Model):
    """What an utterance said before and after an expert changed it: the parts, as in the export.

    Nothing is lost: the first one's `before` is what the rule gave, or what was imported.
    """

    utterance = models.ForeignKey(Utterance, models.CASCADE, related_name="corrections")
    before = models.JSONField()
    after = models.JSONField()
    by = models.ForeignKey(User, models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"correction of {self.utterance}"


class CorrectionDraft(models.Model):
    """What an expert has typed of a correction, by the names of the form's fields.

    `seen` is the version of the utterance that stood on their page. `aside` has what came from
    another window with an older draft: nothing that was typed is lost.
    """

    utterance = models.ForeignKey(Utterance, models.CASCADE, related_name="correction_drafts")
    by = models.ForeignKey(User, models.PROTECT, related_name="+")
    seen = models.PositiveIntegerField()
    content = models.JSONField()
    version = models.PositiveIntegerField()
    saved_at = models.DateTimeField()
    aside = models.JSONField(default=list)

    class Meta:
        ordering = ["-saved_at"]
        constraints = [
            models.UniqueConstraint(fields=["utterance", "by"], name="correction_draft_once"),
        ]

    def __str__(self) -> str:
        return f"draft for {self.utterance}"
