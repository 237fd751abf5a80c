"""Cutting documents into snippets, and anew when the limits of the project change.

Only what nobody has touched is cut anew: snippets that are proposed as they were cut, were never
sent back and have no question. The others stay as they are, and what is in them is not proposed
again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Job, Project
from apps.projects.services import audit
from apps.snippets.domain.blocks import Body, body_text
from apps.snippets.domain.extraction import Format, extract
from apps.snippets.domain.recut import segment_uncovered
from apps.snippets.domain.segmentation import Limits, LongLists, Segment
from apps.snippets.models import POSITION_GAP, Document, Question, Snippet
from apps.workers.models import Assignment, Kind

BATCH = 500

Progress = Callable[[str, int, int], None]


def limits_of(project: Project) -> Limits:
    return Limits(project.max_list_items, project.max_words, LongLists(project.long_lists))


def is_over(limits: Limits, *, words: int, items: int) -> bool:
    has_too_many = limits.long_lists != LongLists.KEEP and items > limits.max_list_items
    return words > limits.max_words or has_too_many


def snippet_row(document: Document, found: Segment, *, position: int, **made: Any) -> Snippet:
    return Snippet(
        document=document,
        position=position,
        text=found.text,
        cut_text=found.text,
        pieces=[[piece.start, piece.end] for piece in found.pieces],
        words=found.words,
        items=found.items,
        **made,
    )


# What new limits would do -------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """What other limits make of a document; `left_alone` says why they make nothing of it."""

    document: int
    title: str
    snippets: int
    over: int  # of the snippets that are here now, by the new limits
    over_then: int
    removed: int = 0
    added: int = 0
    left_alone: str = ""

    @property
    def snippets_then(self) -> int:
        return self.snippets - self.removed + self.added


@dataclass(frozen=True)
class _Plan:
    change: Change
    removed: tuple[int, ...] = ()
    added: tuple[tuple[int, Segment], ...] = ()  # each with its position


def cuttable(project: Project) -> list[int]:
    """Documents that came with a text. An import brings the snippets alone."""
    with_body = Document.objects.filter(project=project).exclude(body="")
    return list(with_body.order_by("pk").values_list("pk", flat=True))


def changes_by(keys: Sequence[int], limits: Limits, *, now: datetime) -> Iterator[Change]:
    """What the limits would do to each of these documents; nothing is written."""
    for key in keys:
        yield _plan(Document.objects.get(pk=key), limits, now=now).change


def _plan(document: Document, limits: Limits, *, now: datetime) -> _Plan:
    snippets = list(_with_questions(document))
    over = sum(is_over(limits, words=one.words, items=one.items) for one in snippets)
    change = Change(document.pk, str(document), len(snippets), over, over_then=over)
    if _is_in_work(document, now):
        return _left_alone(change, "An expert is working on it.")
    body = extract(document.body, Format.MARKDOWN)
    if body_text(body) != document.body:
        return _left_alone(change, "Its text is not as the segmentation writes it.")
    return _planned(change, body, snippets, limits)


def _left_alone(change: Change, why: str) -> _Plan:
    return _Plan(replace(change, left_alone=why))


def _with_questions(document: Document) -> Iterable[Any]:
    questions = Question.objects.filter(snippet=OuterRef("pk"))
    return document.snippets.annotate(has_question=Exists(questions)).order_by("position")


def _is_in_work(document: Document, now: datetime) -> bool:
    leases = Assignment.objects.leased().of_work(Kind.SNIPPETS, document.pk)
    return leases.filter(expires_at__gt=now).exists()


def _is_untouched(snippet: Any) -> bool:
    return (
        snippet.state == Snippet.State.PROPOSED
        and snippet.text == snippet.cut_text
        and not snippet.sent_back_note
        and not snippet.has_question
    )


def _planned(change: Change, body: Body, snippets: Sequence[Any], limits: Limits) -> _Plan:
    covered = [span for one in snippets if not _is_untouched(one) for span in one.pieces]
    wanted = {_place_of(one): one for one in segment_uncovered(body, covered, limits)}
    # What would come out the same stays the row that it is.
    untouched = {_key(one): one for one in snippets if _is_untouched(one)}
    removed = {one.pk for key, one in untouched.items() if key not in wanted}
    added = [one for key, one in wanted.items() if key not in untouched]
    staying = [one for one in snippets if one.pk not in removed]
    placed = _placed(added, staying)
    if placed is None:
        return _left_alone(change, "There is no room between its snippets.")
    over = sum(is_over(limits, words=one.words, items=one.items) for one in staying)
    change = replace(change, over_then=over, removed=len(removed), added=len(added))
    return _Plan(change, tuple(removed), tuple(placed))


def _place_of(found: Segment) -> tuple[Any, ...]:
    return found.text, *((piece.start, piece.end) for piece in found.pieces)


def _key(snippet: Snippet) -> tuple[Any, ...]:
    return snippet.text, *(tuple(piece) for piece in snippet.pieces)


def _placed(
    added: Iterable[Segment], staying: Sequence[Snippet]
) -> list[tuple[int, Segment]] | None:
    """New snippets with positions between those that stay; None when there is no room."""
    placed: list[tuple[int, Segment]] = []
    for (low, high), group in groupby(_between(added, staying), key=lambda one: one[0]):
        found = [one for _, one in group]
        step = POSITION_GAP if high is None else (high - low) // (len(found) + 1)
        if step < 1:
            return None
        placed += [(low + step * number, one) for number, one in enumerate(found, start=1)]
    return placed


def _between(
    added: Iterable[Segment], staying: Sequence[Snippet]
) -> Iterator[tuple[tuple[int, int | None], Segment]]:
    """Each with the positions that stand before and behind it."""
    behind = deque((one.position, _begin(one.pieces)) for one in staying)
    before = 0
    for found in added:
        while behind and behind[0][1] < found.pieces[-1].start:
            before = behind.popleft()[0]
        yield (before, behind[0][0] if behind else None), found


def _begin(pieces: Sequence[Sequence[int]]) -> int:
    """Where its own text begins: its last piece is never a repeated one. -1: not in the body."""
    return pieces[-1][0] if pieces else -1


# Doing it -----------------------------------------------------------------------------------


def recut_documents(
    project: Project, keys: Sequence[int], *, author: User | None, job: Job | None,
    progress: Progress,
) -> list[Change]:  # fmt: skip
    """Cuts each document anew by the limits of the project, in a transaction of its own."""
    done = []
    for number, key in enumerate(keys):
        progress("cutting", number, len(keys))
        done.append(_recut(project, key, author=author, job=job))
    return done


@transaction.atomic
def _recut(project: Project, key: int, *, author: User | None, job: Job | None) -> Change:
    # The lock that loading takes, too: both cut by the limits that they read under it.
    locked = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    document = Document.objects.get(pk=key)
    list(document.snippets.select_for_update().values_list("pk"))
    plan = _plan(document, limits_of(locked), now=timezone.now())
    if plan.removed or plan.added:
        _carry_out(plan, document, author=author, job=job)
    return plan.change


def _carry_out(plan: _Plan, document: Document, *, author: User | None, job: Job | None) -> None:
    for start in range(0, len(plan.removed), BATCH):
        document.snippets.filter(pk__in=plan.removed[start : start + BATCH]).delete()
    rows = (
        snippet_row(document, found, position=position, created_by=author, job=job)
        for position, found in plan.added
    )
    Snippet.objects.bulk_create(rows, batch_size=BATCH)
    audit.record(
        author, "cut anew", document, project=document.project,
        removed=len(plan.removed), proposed=len(plan.added),
    )  # fmt: skip
