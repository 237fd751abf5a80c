"""What the snippet bench shows of one document, put together from its rows."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Exists, OuterRef
from django.utils.safestring import SafeString, mark_safe

from apps.accounts.models import User
from apps.projects.models import Project
from apps.snippets.bench_forms import EditForm, StepForm, form_for
from apps.snippets.bench_markup import document_markup, row_markup
from apps.snippets.domain.differences import Change, changes
from apps.snippets.domain.passages import Place, passages
from apps.snippets.domain.reshaping import Repeat
from apps.snippets.models import Document, NearDuplicate, Question, Snippet
from apps.snippets.services.bench import FROM, last_step
from apps.snippets.services.bench_leases import (
    document_in_hand,
    given_back,
    lease_on,
    waiting_documents,
)
from apps.workers.models import Assignment, Kind

EXCERPT = 140
_HEADING = re.compile(r"(?m)^#{1,6}.*$")
_MARK = re.compile(r"(?m)^[#*]+ +")
DUPLICATES_SHOWN = 5


@dataclass(frozen=True)
class Row:
    """A snippet in the list. Numbers count what is on the bench, from 1."""

    snippet: Any
    number: int
    draft: str  # what the reader was typing

    @property
    def excerpt(self) -> str:
        """What tells it apart: its words without the heading, which its neighbours repeat."""
        beginning = self.snippet.text[: 3 * EXCERPT]
        words = _MARK.sub("", _HEADING.sub("", beginning)).strip() or _MARK.sub("", beginning)
        return " ".join(words.split())[:EXCERPT]

    @property
    def flags(self) -> Iterator[str]:
        if self.snippet.sent_back_note and self.snippet.state == Snippet.State.PROPOSED:
            yield "sent back"
        if self.snippet.has_question:
            yield "has a question"
        if self.draft:
            yield "unfinished edit"
        if self.snippet.has_duplicates:
            yield "near-duplicate"

    def markup(self) -> SafeString:
        """As it stands in the list when another snippet is in focus."""
        return row_markup(
            self.snippet, number=self.number, excerpt=self.excerpt, flags=self.flags
        )  # fmt: skip

    def markup_to_swap(self) -> SafeString:
        return row_markup(
            self.snippet, number=self.number, excerpt=self.excerpt, flags=self.flags, swap="true"
        )

    @property
    def changes(self) -> list[Change]:
        """What was edited, word by word; nothing when the text is as it was cut."""
        snippet = self.snippet
        if not snippet.cut_text or snippet.text == snippet.cut_text:
            return []
        return list(changes(snippet.cut_text, snippet.text))


class BenchPage:
    """`asked` is the key of the snippet to look at; otherwise it is the first one to settle."""

    def __init__(self, document: Document, *, reader: User, asked: int | None, now: datetime):
        self.document = document
        self.reader = reader
        self.lease = lease_on(document, now)
        self.is_mine = self.lease is not None and self.lease.worker_id == reader.pk
        drafts = self.lease.draft if self.lease and self.is_mine else {}
        self.rows = [
            Row(snippet, number, _unfinished(drafts, snippet))
            for number, snippet in enumerate(_snippets(document), 1)
        ]
        self.drafts = drafts
        self.focused = self._focused(asked)
        self.forms = _forms_of(self.focused) if self.focused else {}
        self.opened = "edit" if self.focused and self.focused.draft else ""
        self.refusal = ""
        self.returned_text = ""

    @property
    def focused_key(self) -> int | None:
        return self.focused.snippet.pk if self.focused else None

    def give_back(self, text: str, snippet: Snippet | None) -> None:
        """Text that was not taken: into its field if it has one, else beside the refusal."""
        if self.is_mine and self.focused and snippet and self.focused_key == snippet.pk:
            self.forms["edit"].initial["text"] = text
            self.opened = "edit"
        else:
            self.returned_text = text

    def _focused(self, asked: int | None) -> Row | None:
        choices = (
            *(row for row in self.rows if row.snippet.pk == asked),
            *(row for row in self.rows if row.draft),
            *(row for row in self.rows if row.snippet.state == Snippet.State.PROPOSED),
            *self.rows,
        )
        return next(iter(choices), None)

    def row_of(self, key: int | None) -> Row | None:
        return next((row for row in self.rows if row.snippet.pk == key), None)

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(row.snippet.state for row in self.rows)

    @property
    def open_count(self) -> int:
        return self.counts[Snippet.State.PROPOSED]

    @cached_property
    def undoable(self) -> str:
        """What `u` takes back, in a word; empty when there is nothing."""
        step = last_step(self.document, self.reader) if self.is_mine else None
        return step.action if step else ""

    @cached_property
    def newest_version(self) -> Document | None:
        """Of this page, if it is not this one."""
        return Document.objects.newer_than(self.document).without_texts().first()

    @property
    def next_row(self) -> Row | None:
        """What the focused snippet would be merged with."""
        if self.focused is None:
            return None
        gone = Snippet.State.DISCARDED
        after = self.rows[self.focused.number :]
        return next((row for row in after if row.snippet.state != gone), None)

    @cached_property
    def duplicates(self) -> list[NearDuplicate]:
        """Near-duplicates of the focused snippet, with their documents."""
        if self.focused is None:
            return []
        found = self.focused.snippet.near_duplicates.pointed_out()
        with_document = found.select_related("other__document")
        shown = with_document.defer("other__document__source", "other__document__body")
        return list(shown[:DUPLICATES_SHOWN])

    @cached_property
    def begun_question(self) -> str:
        """What had been typed of a question when the focused snippet was sent back."""
        if self.focused is None or not self.focused.snippet.sent_back_note:
            return ""
        work = Assignment.objects.of_work(Kind.QUESTION, self.focused.snippet.pk)
        sent_back = work.filter(outcome__has_key="sent_back").order_by("-pk")
        outcome = sent_back.values_list("outcome", flat=True).first() or {}
        return str(outcome.get("text", ""))

    @property
    def other_drafts(self) -> dict[str, str]:
        """Unfinished edits of other snippets: they stay in the draft while this one is typed."""
        mine = EditForm.draft_name(self.focused.snippet) if self.focused else ""
        return {name: text for name, text in self.drafts.items() if name != mine}

    def rows_before(self) -> SafeString:
        return self._rows_markup(self.rows[: self._place_of_focus])

    def rows_after(self) -> SafeString:
        return self._rows_markup(self.rows[self._place_of_focus + 1 :])

    @property
    def _place_of_focus(self) -> int:
        return self.focused.number - 1 if self.focused else 0

    def _rows_markup(self, rows: Iterable[Row]) -> SafeString:
        return mark_safe("".join(row.markup() for row in rows))  # noqa: S308 - each is safe.

    def document_markup(self) -> SafeString:
        names = {row.snippet.pk: (row.number, row.snippet.state) for row in self.rows}
        return document_markup(passages(self.document.body, self._places()), names)

    def _places(self) -> Iterable[Place]:
        for row in self.rows:
            for start, end, *_ in row.snippet.pieces:
                yield Place(start, end, row.snippet.pk)


def next_to_settle(document: Document, after: Snippet) -> int | None:
    """The key of the next proposed snippet, from the beginning again after the last one."""
    proposed = document.snippets.proposed().order_by("position")
    following = proposed.filter(position__gt=after.position)
    found = following.first() or proposed.first()
    return found.pk if found else None


def bench_start(project: Project, expert: User, now: datetime) -> dict[str, Any]:
    waiting = waiting_documents(project)
    return {
        "in_hand": document_in_hand(project, expert=expert, now=now),
        "waiting_count": waiting.count(),
        "snippet_count": Snippet.objects.proposed().filter(document__in=waiting).count(),
        "given_back": given_back(project, expert),
    }


def _unfinished(drafts: dict[str, str], snippet: Snippet) -> str:
    draft = drafts.get(EditForm.draft_name(snippet), "")
    return "" if draft == snippet.text else draft


def _forms_of(row: Row) -> dict[str, StepForm]:
    snippet = row.snippet
    initial = {
        "seen": snippet.fingerprint, "text": row.draft or snippet.text, "repeat": Repeat.CONTEXT,
    }  # fmt: skip
    return {action: form_for(action, snippet, **initial) for action in FROM}


def _snippets(document: Document) -> Iterable[Snippet]:
    in_force = Question.objects.in_force().filter(snippet=OuterRef("pk"))
    near = NearDuplicate.objects.pointed_out().filter(snippet=OuterRef("pk"))
    return document.snippets.on_bench().annotate(
        has_question=Exists(in_force), has_duplicates=Exists(near)
    )
