"""Documents, the snippets in them, and the first question on each snippet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q

from apps.projects.models import Project, Split
from apps.workers.models import Provenance

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from apps.accounts.models import User


class DocumentQuerySet(models.QuerySet["Document"]):
    def visible_to(self, user: User | AnonymousUser) -> DocumentQuerySet:
        return self.filter(project__in=Project.objects.readable_by(user))


class Document(Provenance):
    """A web page or file with rules. All that comes from it is in one split."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="documents")
    source_url = models.CharField(max_length=2000)
    domain = models.CharField(max_length=255, help_text="Host of the source URL.")
    version = models.PositiveIntegerField(default=1)
    title = models.CharField(max_length=500, blank=True)
    language = models.CharField(max_length=35, blank=True)
    licence = models.CharField(max_length=200, blank=True)
    retrieved_on = models.DateField(null=True, blank=True)
    split = models.CharField(max_length=5, choices=Split.choices, blank=True)

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
        ]
        indexes = [models.Index(fields=["project", "domain"], name="document_by_domain")]

    def __str__(self) -> str:
        return self.title or self.source_url


class SnippetQuerySet(models.QuerySet["Snippet"]):
    def visible_to(self, user: User | AnonymousUser) -> SnippetQuerySet:
        return self.filter(document__in=Document.objects.visible_to(user))


class Snippet(Provenance):
    """A short piece of a document; `text` is the rule text, in Markdown."""

    class State(models.TextChoices):
        PROPOSED = "proposed", "Proposed"  # cut by the segmentation, not looked at yet
        ACCEPTED = "accepted", "Accepted"  # waits for a first question, or has one
        DISCARDED = "discarded", "Discarded"  # taken out, with a reason; kept

    document = models.ForeignKey(Document, models.CASCADE, related_name="snippets")
    position = models.PositiveIntegerField(help_text="Order within the document, from 0.")
    text = models.TextField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.PROPOSED)
    discard_reason = models.CharField(max_length=500, blank=True)

    objects = SnippetQuerySet.as_manager()

    class Meta(Provenance.Meta):
        ordering = ["document", "position"]
        constraints = [
            *Provenance.Meta.constraints,
            models.UniqueConstraint(fields=["document", "position"], name="snippet_position_once"),
            models.CheckConstraint(condition=~Q(text=""), name="snippet_text_not_empty"),
            models.CheckConstraint(
                condition=~Q(state="discarded") | ~Q(discard_reason=""),
                name="snippet_discarded_says_why",
            ),
        ]

    def __str__(self) -> str:
        return self.text[:60]


class QuestionQuerySet(models.QuerySet["Question"]):
    def visible_to(self, user: User | AnonymousUser) -> QuestionQuerySet:
        return self.filter(snippet__in=Snippet.objects.visible_to(user))


class Question(Provenance):
    """The underspecified first question on a snippet."""

    class State(models.TextChoices):
        ACCEPTED = "accepted", "Accepted"  # the one that its tree answers
        REPLACED = "replaced", "Replaced"  # an older one, kept

    snippet = models.ForeignKey(Snippet, models.CASCADE, related_name="questions")
    text = models.TextField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.ACCEPTED)

    objects = QuestionQuerySet.as_manager()

    class Meta(Provenance.Meta):
        constraints = [
            *Provenance.Meta.constraints,
            models.UniqueConstraint(
                fields=["snippet"], condition=Q(state="accepted"), name="question_one_accepted"
            ),
            models.CheckConstraint(condition=~Q(text=""), name="question_text_not_empty"),
        ]

    def __str__(self) -> str:
        return self.text[:60]
