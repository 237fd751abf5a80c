"""The steps of the snippet bench. Each is one transaction under the expert's lease.

`seen` is what the snippet was on the expert's page (`Snippet.fingerprint`): a step on a page that
is out of date changes nothing. Every step is written down with what it changed, for undo.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from apps.accounts.models import User
from apps.snippets.domain.reshaping import (
    EmptyHalfError,
    Repeat,
    RuleText,
    count_items,
    merge,
    split,
)
from apps.snippets.domain.words import count_words, has_words
from apps.snippets.errors import (
    EmptySnippetError,
    LastSnippetError,
    NothingToUndoError,
    NotInThisStateError,
    QuestionStandsError,
    SnippetChangedError,
    UndoRefusedError,
)
from apps.snippets.models import POSITION_GAP, BenchStep, Document, Snippet
from apps.snippets.services.bench_leases import forget_draft, hold
from apps.workers.models import Assignment

State = Snippet.State

STEPS_TO_UNDO = 20
_OUT_OF_THE_WAY = 10**12
_OPEN = {State.PROPOSED, State.ACCEPTED}
FROM = {
    "accept": {State.PROPOSED, State.DISCARDED},
    "discard": _OPEN,
    "edit": _OPEN,
    "merge": _OPEN,
    "split": _OPEN,
    "reopen": {State.ACCEPTED, State.DISCARDED},
}
"""The states in which a snippet can be taken each step on; merged ones come back by undo only."""


@transaction.atomic
def accept(snippet: Snippet, *, seen: str, expert: User, now: datetime) -> None:
    step = _begin("accept", snippet.document, expert, now)
    step.change(
        step.lock(snippet, seen), state=State.ACCEPTED, discard_reason="", discard_note="",
        **step.settled,
    )  # fmt: skip
    step.write_down()


@transaction.atomic
def discard(
    snippet: Snippet, *, seen: str, reason: str, note: str, expert: User, now: datetime
) -> None:
    step = _begin("discard", snippet.document, expert, now)
    step.change(
        step.lock(snippet, seen), state=State.DISCARDED, discard_reason=reason, discard_note=note,
        **step.settled,
    )  # fmt: skip
    step.write_down()


@transaction.atomic
def reopen(snippet: Snippet, *, seen: str, expert: User, now: datetime) -> None:
    step = _begin("reopen", snippet.document, expert, now)
    step.change(step.lock(snippet, seen), **_PROPOSED)
    step.write_down()


@transaction.atomic
def edit_text(snippet: Snippet, *, seen: str, text: str, expert: User, now: datetime) -> None:
    """Raises EmptySnippetError. The same text is no step."""
    if not has_words(text):
        raise EmptySnippetError
    step = _begin("edit", snippet.document, expert, now)
    current = step.lock(snippet, seen)
    if text != current.text:
        step.change(current, **_counted(text))
        step.write_down()
    forget_draft(step.lease, draft_name(snippet.pk))


@transaction.atomic
def merge_with_next(snippet: Snippet, *, seen: str, expert: User, now: datetime) -> None:
    """The next one that is neither discarded nor merged goes into this one, which is then to be
    looked at again. Limits are for the segmentation: no merge is too long. Raises LastSnippetError.
    """
    step = _begin("merge", snippet.document, expert, now)
    current = step.lock(snippet, seen)
    following = snippet.document.snippets.filter(position__gt=current.position, state__in=_OPEN)
    if (gone := following.order_by("position").first()) is None:
        raise LastSnippetError
    gone = step.lock(gone, gone.fingerprint)
    merged = merge(_rule_text(current), _rule_text(gone))
    step.change(current, **_reshaped(merged))
    step.change(gone, state=State.MERGED, **step.settled)
    step.write_down()


@transaction.atomic
def split_at(
    snippet: Snippet, *, seen: str, at: int, repeat: Repeat, expert: User, now: datetime
) -> Snippet:
    """Cuts at code point `at` of the text; returns the second half. Raises EmptySnippetError."""
    step = _begin("split", snippet.document, expert, now)
    current = step.lock(snippet, seen)
    body = snippet.document.body
    try:
        first, second = split(_rule_text(current), body=body, at=at, repeat=repeat)
    except EmptyHalfError as error:
        raise EmptySnippetError(str(error)) from error
    step.change(current, **_reshaped(first))
    added = Snippet(
        document=snippet.document,
        position=_position_after(current),
        created_at=now,
        created_by=expert,
        assignment=step.lease,
        **_reshaped(second),
    )
    step.add(added)
    step.write_down()
    return added


@transaction.atomic
def accept_all(document: Document, *, expert: User, now: datetime) -> int:
    """Every proposed snippet of the document in one step; returns how many."""
    step = _begin("accept all", document, expert, now)
    proposed = list(document.snippets.proposed().select_for_update(of=("self",)))
    for snippet in proposed:
        step.change(snippet, state=State.ACCEPTED, **step.settled)
    if proposed:
        step.write_down()
    return len(proposed)


def draft_name(snippet_key: int) -> str:
    """Of the snippet's text in the draft of the document's lease, which has one for each."""
    return f"{snippet_key}-text"


# Undo -------------------------------------------------------------------------------------------


def last_step(document: Document, expert: User) -> BenchStep | None:
    """The step that undo would take back."""
    last_steps = document.bench_steps.filter(expert=expert)[:STEPS_TO_UNDO]
    return next((one for one in last_steps if one.undone_at is None), None)


@transaction.atomic
def undo(document: Document, *, expert: User, now: datetime) -> BenchStep:
    """Takes the expert's last step in this document back, exactly; returns it.

    Raises NothingToUndoError, and UndoRefusedError when what it changed was changed since.
    """
    hold(document, expert=expert, now=now)
    step = last_step(document, expert)
    if step is None:
        raise NothingToUndoError
    _take_back(step, _rows_as_the_step_left_them(step))
    step.undone_at = now
    step.save(update_fields=["undone_at"])
    return step


def _rows_as_the_step_left_them(step: BenchStep) -> dict[str, Snippet]:
    of_document = Snippet.objects.filter(document=step.document_id)
    locked = of_document.filter(pk__in=step.after).select_for_update(of=("self",)).order_by("pk")
    rows = {str(row.pk): row for row in locked}
    for key, after in step.after.items():
        if key not in rows or rows[key].fingerprint != after["seen"]:
            raise UndoRefusedError(step.action)
    if of_document.with_question_in_force().filter(pk__in=step.after).exists():
        raise QuestionStandsError
    return rows


def _take_back(step: BenchStep, rows: dict[str, Snippet]) -> None:
    for key, row in rows.items():
        if key not in step.before:
            row.delete()
            continue
        for name, value in step.before[key].items():
            setattr(row, name, _restored(name, value))
    kept = [row for key, row in rows.items() if key in step.before]
    _save(kept, {name for values in step.before.values() for name in values})


# What the steps share ---------------------------------------------------------------------------

_PROPOSED: dict[str, Any] = {
    "state": State.PROPOSED, "discard_reason": "", "discard_note": "", "settled_at": None,
    "settled_by_id": None,
}  # fmt: skip


@dataclass
class _Step:
    """A step under way: locks what it changes, and writes down what it was."""

    action: str
    document: Document
    lease: Assignment
    expert: User
    now: datetime
    before: dict[str, dict[str, Any]] = field(default_factory=dict)
    after: dict[str, dict[str, Any]] = field(default_factory=dict)
    changed: list[Snippet] = field(default_factory=list)

    @property
    def settled(self) -> dict[str, Any]:
        return {"settled_at": self.now, "settled_by_id": self.expert.pk}

    def lock(self, snippet: Snippet, seen: str) -> Snippet:
        """The snippet as it is now, if that is what the expert saw, and allows the step."""
        rows = self.document.snippets.select_for_update(of=("self",))
        current = rows.filter(pk=snippet.pk).first()
        if current is None or current.fingerprint != seen:
            raise SnippetChangedError
        if current.state not in FROM[self.action]:
            raise NotInThisStateError(current.get_state_display().lower())
        if self.document.snippets.with_question_in_force().filter(pk=snippet.pk).exists():
            raise QuestionStandsError
        return current

    def change(self, snippet: Snippet, **values: Any) -> None:
        changed = {name: value for name, value in values.items() if getattr(snippet, name) != value}
        self.before[str(snippet.pk)] = {name: _stored(getattr(snippet, name)) for name in changed}
        for name, value in changed.items():
            setattr(snippet, name, value)
        self.changed.append(snippet)

    def add(self, snippet: Snippet) -> None:
        snippet.save()
        self.after[str(snippet.pk)] = {"seen": snippet.fingerprint}

    def write_down(self) -> None:
        _save(self.changed, {name for values in self.before.values() for name in values})
        for snippet in self.changed:
            names = self.before[str(snippet.pk)]
            now = {name: _stored(getattr(snippet, name)) for name in names}
            self.after[str(snippet.pk)] = {**now, "seen": snippet.fingerprint}
        BenchStep.objects.create(
            document=self.document, expert=self.expert, action=self.action, before=self.before,
            after=self.after, at=self.now,
        )  # fmt: skip


def _begin(action: str, document: Document, expert: User, now: datetime) -> _Step:
    return _Step(action, document, hold(document, expert=expert, now=now), expert, now)


def _save(rows: Iterable[Snippet], names: Iterable[str]) -> None:
    fields = [Snippet._meta.get_field(name).name for name in names]
    if fields:
        Snippet.objects.bulk_update(rows, fields, batch_size=200)


def _stored(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _restored(name: str, value: Any) -> Any:
    return datetime.fromisoformat(value) if name == "settled_at" and value else value


def _rule_text(snippet: Snippet) -> RuleText:
    pieces = tuple((start, end) for start, end, *_ in snippet.pieces)
    return RuleText(snippet.text, snippet.cut_text, pieces)


def _reshaped(rule_text: RuleText) -> dict[str, Any]:
    pieces = [list(piece) for piece in rule_text.pieces]
    return {
        **_counted(rule_text.text), "cut_text": rule_text.cut_text, "pieces": pieces, **_PROPOSED,
    }  # fmt: skip


def _counted(text: str) -> dict[str, Any]:
    return {"text": text, "words": count_words(text), "items": count_items(text)}


def _position_after(snippet: Snippet) -> int:
    """Half-way to the next snippet; where there is no room, all that follow move away."""
    following = Snippet.objects.filter(
        document=snippet.document_id, position__gt=snippet.position
    )  # fmt: skip
    after = following.order_by("position").values_list("position", flat=True).first()
    if after is None:
        return snippet.position + POSITION_GAP
    if after - snippet.position > 1:
        return (snippet.position + after) // 2
    # In two moves: while one is under way, no two may meet.
    following.update(position=F("position") + _OUT_OF_THE_WAY)
    following.update(position=F("position") - _OUT_OF_THE_WAY + POSITION_GAP)
    return snippet.position + POSITION_GAP // 2
