"""What the snippet bench shows of one document, put together from its rows."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain, islice
from typing import Any

from django.db.models import Exists, OuterRef
from django.db.models.functions import Left
from django.utils.safestring import SafeString, mark_safe

from apps.accounts.models import User
from apps.projects.models import Project
from apps.snippets.bench_forms import EditForm, StepForm, form_for
from apps.snippets.bench_markup import document_markup, row_markup
from apps.snippets.domain.differences import Change, changes
from apps.snippets.domain.passages import Place, passages
from apps.snippets.domain.reshaping import Repeat
from apps.snippets.models import Document, NearDuplicate, Question, Snippet, SnippetQuerySet
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
LISTED = (
    "pk", "state", "sent_back_note", "pieces", "has_question", "has_duplicates", "beginning",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A snippet in the list. Numbers count what is on the bench, from 1."""

    snippet: Any  # or, when it is not in focus, the columns of it that are LISTED
    number: int
    draft: str  # what the reader was typing

    @property
    def excerpt(self) -> str:
        """What tells it apart: its words without the heading, which its neighbours repeat."""
        beginning = self.snippet.beginning
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
    """`asked` is the key of the snippet to look at; otherwise it is the first one to settle.

    Only what is shown is loaded: a step is answered with two of a thousand rows.
    """

    def __init__(self, document: Document, *, reader: User, asked: int | None, now: datetime):
        self.document = document
        self.reader = reader
        self.lease = lease_on(document, now)
        self.is_mine = self.lease is not None and self.lease.worker_id == reader.pk
        self.drafts = self.lease.draft if self.lease and self.is_mine else {}
        on_bench = document.snippets.on_bench().values_list("pk", "state")
        self.states: dict[int, str] = dict(on_bench)
        self.numbers = {key: number for number, key in enumerate(self.states, 1)}
        self.focused = self.row_of(self._focus(asked))
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

    def _focus(self, asked: int | None) -> int | None:
        if asked in self.states:
            return asked
        typed = (key for key in self.states if key in self._unfinished)
        proposed = (key for key, state in self.states.items() if state == Snippet.State.PROPOSED)
        return next(chain(typed, proposed, self.states), None)

    @cached_property
    def _unfinished(self) -> dict[int, str]:
        """What the reader was typing in snippets that have another text yet."""
        typed = {key: self.drafts.get(EditForm.draft_name(key)) for key in self.states}
        named = [key for key, draft in typed.items() if draft] if self.drafts else []
        texts = self.document.snippets.filter(pk__in=named).values_list("pk", "text")
        return {key: typed[key] or "" for key, text in texts if typed[key] != text}

    def _row(self, snippet: Any) -> Row:
        return Row(snippet, self.numbers[snippet.pk], self._unfinished.get(snippet.pk, ""))

    def row_of(self, key: int | None) -> Row | None:
        found = _snippets(self.document).filter(pk=key).first() if key in self.states else None
        return self._row(found) if found else None

    @cached_property
    def rows(self) -> list[Row]:
        listed = _snippets(self.document).values_list(*LISTED, named=True)
        return [self._row(one) for one in listed if one.pk in self.numbers]

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.states.values())

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
    def next_number(self) -> int | None:
        """Of what the focused snippet would be merged with."""
        if self.focused is None:
            return None
        after = islice(self.states.items(), self.focused.number, None)
        open_ones = (key for key, state in after if state != Snippet.State.DISCARDED)
        return self.numbers.get(next(open_ones, 0))

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
        mine = EditForm.draft_name(self.focused.snippet.pk) if self.focused else ""
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


def _forms_of(row: Row) -> dict[str, StepForm]:
    snippet = row.snippet
    initial = {
        "seen": snippet.fingerprint, "text": row.draft or snippet.text, "repeat": Repeat.CONTEXT,
    }  # fmt: skip
    return {action: form_for(action, snippet, **initial) for action in FROM}


def _snippets(document: Document) -> SnippetQuerySet:
    in_force = Question.objects.in_force().filter(snippet=OuterRef("pk"))
    near = NearDuplicate.objects.pointed_out().filter(snippet=OuterRef("pk"))
    return document.snippets.on_bench().annotate(
        has_question=Exists(in_force), has_duplicates=Exists(near),
        beginning=Left("text", 3 * EXCERPT),
    )  # fmt: skip
