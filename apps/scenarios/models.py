"""Scenarios with their facts, negatives, and utterances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.db import models
from django.db.models import Case, Count, Exists, F, OuterRef, Q, Value, When
from django.urls import reverse

from apps.accounts.models import User
from apps.projects.models import Job, Project, Split
from apps.scenarios.domain.consistency import InconsistencyReason
from apps.scenarios.domain.corrections import Parts
from apps.scenarios.domain.facts import FactFault
from apps.scenarios.domain.turns import turns_from_json
from apps.snippets.models import Question
from apps.trees.domain.tree import Answer, Path, Turn
from apps.trees.models import ANSWERS, Node, Tree
from apps.workers.models import Assignment, Provenance

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.auth.models import AnonymousUser


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
            models.Index(fields=["tree", "answer_class"], name="utterance_by_answer"),
            models.Index(fields=["tree", "state", "job"], name="utterance_by_state"),
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

    @classmethod
    def class_of(cls, answer: str) -> Utterance.AnswerClass:
        """The class that evaluators count; any answer that is none of the words asks for more."""
        classes = {"Yes": cls.AnswerClass.YES, "No": cls.AnswerClass.NO,
                   "Irrelevant": cls.AnswerClass.IRRELEVANT}  # fmt: skip
        return classes.get(answer, cls.AnswerClass.MORE)

    def get_absolute_url(self) -> str:
        return reverse("scenarios:utterance", args=[self.project.slug, self.utterance_id])


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
        """Those that nobody has waived: they block a release."""
        return self.filter(~_is_waived())


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
