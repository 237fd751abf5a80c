"""Cutting what some snippets leave of a body: they stay, and nothing of theirs is proposed again.

Headings and lead-ins repeat, as they do where a list is cut. Of a block that a snippet has a part
of, the rest is cut as if it were a block of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from apps.snippets.domain.blocks import Body, Kind, body_text
from apps.snippets.domain.parts import Part, parts_of
from apps.snippets.domain.segmentation import Limits, Role, Segment, is_heading, segment_parts
from apps.snippets.domain.words import has_words

Span = tuple[int, int]


def segment_uncovered(body: Body, covered: Iterable[Span], limits: Limits) -> Iterator[Segment]:
    """The snippets of what is outside of `covered`, spans of `body_text(body)`; in order.

    Their pieces are spans of `body_text(body)`, too.
    """
    taken = _Taken(body_text(body), _joined(covered))
    for found in segment_parts(_rests(parts_of(body), taken, limits), limits):
        if _is_new(found, taken):
            yield found


def _is_new(found: Segment, taken: _Taken) -> bool:
    """Not so, when it is a lead-in that was taken, and is too long to be repeated."""
    own = (piece for piece in found.pieces if piece.role in {Role.PARAGRAPH, Role.ITEM})
    return any(True for piece in own for _ in taken.rests(piece.start, piece.end))


def _joined(spans: Iterable[Span]) -> list[Span]:
    """In order, none touching another."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


@dataclass(frozen=True, slots=True)
class _Taken:
    """What the snippets that stay have of the body's text."""

    text: str
    spans: Sequence[Span]

    def rests(self, start: int, end: int) -> Iterator[Span]:
        """What has words between two positions of the text, and is not taken."""
        first = max(bisect_right(self.spans, (start, start)) - 1, 0)
        for span_start, span_end in self.spans[first:]:
            if span_start >= end:
                break
            if has_words(self.text[start:span_start]):
                yield start, span_start
            start = max(start, span_end)
        if has_words(self.text[start:end]):
            yield start, end

    def rests_of(self, part: Part) -> list[Part]:
        whole = part.span()
        rests = self.rests(*whole)
        return [part if rest == whole else part.cut_at(*rest) for rest in rests]


def _rests(parts: Iterable[Part], taken: _Taken, limits: Limits) -> Iterator[Part]:
    """What is not taken, all headings, and the lead-ins of lists that are not taken whole."""
    above: Part | None = None
    for is_list, group in groupby(parts, key=lambda part: part.block.kind == Kind.ITEM):
        if is_list:
            items = list(group)
            rest = list(chain.from_iterable(map(taken.rests_of, items)))
            yield from _lead_in(above, taken) if rest and above else _own(above, taken)
            yield from _beginning_as(items[0], rest)
            above = None
            continue
        for part in group:
            yield from _own(above, taken)
            above = None
            if is_heading(part, limits):
                yield part
            else:
                above = part.as_paragraph()  # Of a long heading, a short rest is none either.
    yield from _own(above, taken)


def _own(part: Part | None, taken: _Taken) -> Iterable[Part]:
    return taken.rests_of(part) if part else ()


def _lead_in(part: Part, taken: _Taken) -> Iterator[Part]:
    """What is left of it, and its end even if that is taken: a list is not left without it."""
    start, end = part.span()
    for rest in taken.rests_of(part):
        yield rest
        start = rest.span()[1]
    last = part.cut_at(start, end)
    if last.words:
        yield last


def _beginning_as(first: Part, rest: Sequence[Part]) -> Iterator[Part]:
    """What is left of a list stands to its lead-in as the whole list did."""
    for item in rest[:1]:
        is_tight = item.block.is_tight or first.block.is_tight
        yield replace(item, block=replace(item.block, is_tight=is_tight))
    yield from rest[1:]
