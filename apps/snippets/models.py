"""Documents, the snippets in them, and the first question on each snippet."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Count, Exists, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Project, Split
from apps.snippets.domain.source import credit_of
from apps.snippets.fields import FoldedField
from apps.workers.models import Assignment, Kind, Provenance

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser


# Documents can be some 100 KB long: lists and joins leave their texts where they are.
LONG_TEXTS = ("source", "body")

POSITION_GAP = 1000
"""Between the positions of two snippets: room for what is split off them."""


class DocumentQuerySet(models.QuerySet["Document"]):
    def visible_to(self, user: User | AnonymousUser) -> DocumentQuerySet:
        return self.filter(project__in=Project.objects.readable_by(user))

    def without_texts(self) -> DocumentQuerySet:
        return self.defer(*LONG_TEXTS)

    def with_snippet_counts(self) -> DocumentQuerySet:
        """Each with the number of its snippets, as `snippet_count`, and of those by state."""
        states = [Snippet.State.PROPOSED, Snippet.State.ACCEPTED, Snippet.State.DISCARDED]
        own = Snippet.objects.filter(document=OuterRef("pk")).order_by()
        rows = {"snippet": own, **{str(state): own.filter(state=state) for state in states}}
        numbers = {
            f"{name}_count": some.values("document").annotate(number=Count("pk")).values("number")
            for name, some in rows.items()
        }
        return self.annotate(
            **{name: Coalesce(Subquery(number), 0) for name, number in numbers.items()}
        )

    def with_proposed_snippets(self) -> DocumentQuerySet:
        return self.filter(pk__in=Snippet.objects.proposed().values("document"))

    def with_all_snippets_settled(self) -> DocumentQuerySet:
        proposed = Snippet.objects.proposed().values("document")
        return self.filter(pk__in=Snippet.objects.values("document")).exclude(pk__in=proposed)

    def collected(self) -> DocumentQuerySet:
        """Those that were loaded here; of what came in a ShARC file, there is no page."""
        return self.exclude(media="")

    def newest(self) -> DocumentQuerySet:
        """Without those whose page is here in a newer version."""
        newer = Document.objects.filter(
            project=OuterRef("project"), source_url=OuterRef("source_url"),
            version__gt=OuterRef("version"),
        )  # fmt: skip
        return self.exclude(Exists(newer))

    def newer_than(self, document: Document) -> DocumentQuerySet:
        """Newer versions of the same page, the newest first."""
        same = self.filter(project=document.project_id, source_url=document.source_url)
        return same.filter(version__gt=document.version).order_by("-version")

    def with_newest_version(self) -> DocumentQuerySet:
        """Each with `newest_version`, of the page that it is a version of."""
        same = Document.objects.filter(
            project=OuterRef("project"), source_url=OuterRef("source_url")
        )
        newest = same.order_by("-version").values("version")[:1]
        return self.annotate(newest_version=Subquery(newest))


class Document(Provenance):
    """A web page or file with rules. All that comes from it is in one split.

    A page whose content has changed is a new row with the next version; older rows and their
    snippets stay. Documents of an import have neither source nor body.
    """

    class Media(models.TextChoices):
        HTML = "html", "HTML"
        MARKDOWN = "markdown", "Markdown"
        TEXT = "text", "Plain text"

    project = models.ForeignKey(Project, models.CASCADE, related_name="documents")
    source_url = models.CharField(max_length=2000)
    domain = models.CharField(max_length=255, help_text="Host of the source URL.")
    version = models.PositiveIntegerField(default=1)
    title = models.CharField(max_length=500, blank=True)
    language = models.CharField(max_length=35, blank=True)
    licence = models.CharField(max_length=200, blank=True)
    attribution = models.CharField(
        max_length=500, blank=True, help_text="Whom its licence wants to be named, and how."
    )
    retrieved_on = models.DateField(null=True, blank=True)
    media = models.CharField(max_length=10, choices=Media.choices, blank=True)
    encoding = models.CharField(max_length=40, blank=True, help_text="Of the file as it came.")
    content_sha1 = models.CharField(max_length=40, blank=True, help_text="Of the file's bytes.")
    source = models.TextField(blank=True, help_text="The file as it came, decoded.")
    body = models.TextField(blank=True, help_text="Its body as Markdown: snippets point into it.")
    split = models.CharField(max_length=5, choices=Split.choices, blank=True)
    is_split_pinned = models.BooleanField(
        default=False, help_text="It stays in its split, also when splits are drawn anew."
    )

    objects = DocumentQuerySet.as_manager()

    class Meta(Provenance.Meta):
        constraints = [
            *Provenance.Meta.constraints,
            models.UniqueConstraint(
                fields=["project", "source_url", "version"], name="document_once_per_version"
            ),
            models.CheckConstraint(
                condition=Q(split__in=["", *Split.values]), name="document_split"
            ),
            models.CheckConstraint(
                condition=Q(is_split_pinned=False) | ~Q(split=""), name="document_pinned_to_a_split"
            ),
        ]
        indexes = [models.Index(fields=["project", "domain"], name="document_by_domain")]

    def __str__(self) -> str:
        return self.title or self.source_url

    def get_absolute_url(self) -> str:
        return reverse("snippets:document", args=[self.project.slug, self.pk])

    @property
    def credit(self) -> str:
        """What to write beside anything that is taken from it."""
        return self.attribution or credit_of(self.title, self.source_url, self.retrieved_on)


class SnippetQuerySet(models.QuerySet["Snippet"]):
    def visible_to(self, user: User | AnonymousUser) -> SnippetQuerySet:
        return self.filter(document__project__in=Project.objects.readable_by(user))

    def with_document(self) -> SnippetQuerySet:
        """Each with its document, but without the document's texts."""
        texts = [f"document__{name}" for name in LONG_TEXTS]
        return self.select_related("document").defer(*texts)

    def proposed(self) -> SnippetQuerySet:
        return self.filter(state=Snippet.State.PROPOSED)

    def on_bench(self) -> SnippetQuerySet:
        """In document order; what was merged is seen in the snippet that it went into."""
        return self.exclude(state=Snippet.State.MERGED).order_by("position")

    def with_question_in_force(self) -> SnippetQuerySet:
        return self.filter(Exists(Question.objects.in_force().filter(snippet=OuterRef("pk"))))

    def waiting_for_question(self) -> SnippetQuerySet:
        """Accepted ones without a question in force."""
        asked = Question.objects.in_force().filter(snippet=OuterRef("pk"))
        return self.filter(~Exists(asked), state=Snippet.State.ACCEPTED)

    def free_for(self, expert: User) -> SnippetQuerySet:
        """Those that nobody writes a question on, and that the expert has not given back."""
        work = Assignment.objects.of_work(Kind.QUESTION, OuterRef("pk"))
        given_back = work.filter(worker=expert, state=Assignment.State.RETURNED)
        return self.filter(~Exists(work.leased()), ~Exists(given_back))

    def with_source(self) -> SnippetQuerySet:
        """Each with its document, but without the document's texts, and its project."""
        texts = [f"document__{name}" for name in LONG_TEXTS]
        return self.select_related("document__project").defer(*texts)

    def with_round(self) -> SnippetQuerySet:
        """Each with `round`: how often somebody's work on its question was taken."""
        work = Assignment.objects.of_work(Kind.QUESTION, OuterRef("pk"))
        taken = work.filter(state=Assignment.State.SUBMITTED).order_by().values("work_id")
        return self.annotate(round=Coalesce(Subquery(taken.annotate(n=Count("pk")).values("n")), 0))


class Snippet(Provenance):
    """A short piece of a document; `text` is the rule text, in Markdown."""

    class State(models.TextChoices):
        PROPOSED = "proposed", "Proposed"  # cut by the segmentation, or sent back: to be looked at
        ACCEPTED = "accepted", "Accepted"  # waits for a first question, or has one
        DISCARDED = "discarded", "Discarded"  # taken out, with a reason; kept
        MERGED = "merged", "Merged"  # its text went into the snippet before it; kept

    class DiscardReason(models.TextChoices):
        NO_RULE = "no rule", "There is no rule in it"
        NEEDS_CONTEXT = "needs context", "It cannot be understood alone"
        FURNITURE = "furniture", "Navigation, notices or other page furniture"
        DUPLICATE = "duplicate", "Another snippet says the same"
        TOO_COMPLEX = "too complex", "Yes or no questions cannot settle it"
        OTHER = "other", "Another reason"

    document = models.ForeignKey(Document, models.CASCADE, related_name="snippets")
    position = models.PositiveBigIntegerField(
        help_text="Order within the document. Segmentation leaves gaps for splits."
    )
    text = models.TextField()
    cut_text = models.TextField(blank=True, help_text="As the segmentation cut it.")
    pieces = models.JSONField(
        default=list, help_text="[start, end] of its parts in the document's body, code points."
    )
    words = models.PositiveIntegerField(default=0)
    items = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State.choices, default=State.PROPOSED)
    discard_reason = models.CharField(max_length=20, choices=DiscardReason.choices, blank=True)
    discard_note = models.CharField(max_length=500, blank=True)
    sent_back_note = models.CharField(
        max_length=500, blank=True, help_text="Why a question could not be written on it."
    )
    settled_at = models.DateTimeField(null=True)
    settled_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")

    objects = SnippetQuerySet.as_manager()

    class Meta(Provenance.Meta):
        ordering = ["document", "position"]
        constraints = [
            *Provenance.Meta.constraints,
            models.UniqueConstraint(fields=["document", "position"], name="snippet_position_once"),
            models.CheckConstraint(condition=~Q(text=""), name="snippet_text_not_empty"),
            models.CheckConstraint(
                condition=Q(state="discarded") & ~Q(discard_reason="")
                | ~Q(state="discarded") & Q(discard_reason=""),
                name="snippet_discarded_says_why",
            ),
        ]
        indexes = [models.Index(fields=["state", "document"], name="snippet_by_state")]

    def __str__(self) -> str:
        return self.text[:60]

    @property
    def fingerprint(self) -> str:
        """Changes with whatever a step on the bench can change."""
        at = self.settled_at.isoformat() if self.settled_at else ""
        parts = [
            self.text, self.cut_text, self.pieces, self.state, self.discard_reason,
            self.discard_note, at, self.settled_by_id,
        ]  # fmt: skip
        return hashlib.sha1(json.dumps(parts).encode(), usedforsecurity=False).hexdigest()[:16]


class BenchStep(models.Model):
    """One step of an expert on the snippet bench, with what it changed: for undo.

    `before` and `after` map the keys of the changed snippets to the fields that changed, `after`
    with the snippet's fingerprint as "seen"; a snippet that the step made has no `before`.
    """

    document = models.ForeignKey(Document, models.CASCADE, related_name="bench_steps")
    expert = models.ForeignKey(User, models.PROTECT, related_name="+")
    action = models.CharField(max_length=20)
    before = models.JSONField()
    after = models.JSONField()
    at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.action} in {self.document}"


class NearDuplicateQuerySet(models.QuerySet["NearDuplicate"]):
    def pointed_out(self) -> NearDuplicateQuerySet:
        """Those whose other snippet still counts."""
        gone = [Snippet.State.DISCARDED, Snippet.State.MERGED]
        return self.exclude(other__state__in=gone)


class NearDuplicate(models.Model):
    """`other` says nearly the same as `snippet`; each pair is here from both sides.

    Computed in the background, and so a little behind the texts.
    """

    snippet = models.ForeignKey(Snippet, models.CASCADE, related_name="near_duplicates")
    other = models.ForeignKey(Snippet, models.CASCADE, related_name="+")
    cosine = models.FloatField(help_text="Of the texts' TF-IDF vectors.")

    objects = NearDuplicateQuerySet.as_manager()

    class Meta:
        ordering = ["-cosine", "other"]
        constraints = [
            models.UniqueConstraint(fields=["snippet", "other"], name="near_duplicate_once"),
            models.CheckConstraint(
                condition=~Q(snippet=models.F("other")), name="near_duplicate_of_another"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.snippet_id} ~ {self.other_id}"


class QuestionQuerySet(models.QuerySet["Question"]):
    def visible_to(self, user: User | AnonymousUser) -> QuestionQuerySet:
        # Joined, and not by lists of keys within lists: SQLite walks those for each row.
        readable = Project.objects.readable_by(user)
        return self.filter(snippet__document__project__in=readable)

    def in_force(self) -> QuestionQuerySet:
        return self.filter(state__in=[Question.State.PROPOSED, Question.State.ACCEPTED])

    def checkable_by(self, expert: User) -> QuestionQuerySet:
        """Those of others that wait for a check, nobody has, and the expert has not given back."""
        work = Assignment.objects.of_work(Kind.QUESTION_CHECK, OuterRef("pk"))
        given_back = work.filter(worker=expert, state=Assignment.State.RETURNED)
        waiting = self.filter(state=Question.State.PROPOSED).exclude(created_by=expert)
        return waiting.filter(~Exists(work.leased()), ~Exists(given_back))

    def saying(self, text: str) -> QuestionQuerySet:
        return self.filter(Q(text__icontains=text) | Q(snippet__text__icontains=text))

    def with_source(self) -> QuestionQuerySet:
        """Each with snippet, document and author, but without the document's texts."""
        texts = [f"snippet__document__{name}" for name in LONG_TEXTS]
        return self.select_related("snippet__document__project", "created_by").defer(*texts)


class Question(Provenance):
    """The underspecified first question on a snippet."""

    class State(models.TextChoices):
        PROPOSED = "proposed", "Waits for a check"  # where the project wants a second expert
        ACCEPTED = "accepted", "Accepted"  # the one that its tree answers
        SENT_BACK = "sent back", "Sent back"  # refused by the check, with a reason; kept
        REPLACED = "replaced", "Replaced"  # an older one, kept

    snippet = models.ForeignKey(Snippet, models.CASCADE, related_name="questions")
    text = models.TextField()
    folded_sha1 = FoldedField(of="text", db_index=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.ACCEPTED)
    checked_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    checked_at = models.DateTimeField(null=True)
    check_note = models.CharField(max_length=500, blank=True)

    objects = QuestionQuerySet.as_manager()

    class Meta(Provenance.Meta):
        constraints = [
            *Provenance.Meta.constraints,
            models.UniqueConstraint(
                fields=["snippet"],
                condition=Q(state__in=["proposed", "accepted"]),
                name="question_one_in_force",
            ),
            models.CheckConstraint(condition=~Q(text=""), name="question_text_not_empty"),
            models.CheckConstraint(
                condition=~Q(state="sent back") | ~Q(check_note=""),
                name="question_sent_back_says_why",
            ),
            models.CheckConstraint(
                condition=Q(checked_by__isnull=True)
                | Q(created_by__isnull=True)
                | ~Q(checked_by=models.F("created_by")),
                name="question_checked_by_another",
            ),
        ]

    def __str__(self) -> str:
        return self.text[:60]
