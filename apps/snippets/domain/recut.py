"""Cutting what some snippets leave of a body: they stay, and nothing of theirs is proposed again.

Headings and lead-ins repeat, as they do where a list is cut. Of a block that a snippet has a part
of, the rest is cut as if it were a block of its own.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from apps.snippets.domain.blocks import Block, Body, Kind, escapes, paragraph, placed
from apps.snippets.domain.segmentation import Limits, Piece, Role, Segment, segment
from apps.snippets.domain.words import count_words, has_words

Span = tuple[int, int]


def segment_uncovered(body: Body, covered: Iterable[Span], limits: Limits) -> Iterator[Segment]:
    """The snippets of what is outside of `covered`, spans of `body_text(body)`; in order.

    Their pieces are spans of `body_text(body)`, too.
    """
    taken = _joined(covered)
    rests = list(_rests(_placed(body), taken, limits))
    rest = Body(body.title, body.language, tuple(one.as_block() for one in rests))
    places = _Places(rests, [offset for _, offset in placed(rest)])
    for found in segment(rest, limits):
        moved = replace(found, pieces=tuple(map(places.moved, found.pieces)))
        if not all(_is_inside(piece, taken) for piece in _content(moved)):
            yield moved


def _content(found: Segment) -> Iterator[Piece]:
    """The pieces that no other snippet may have."""
    return (piece for piece in found.pieces if piece.role in {Role.PARAGRAPH, Role.ITEM})


def _is_inside(piece: Piece, taken: Sequence[Span]) -> bool:
    place = bisect_right(taken, piece.start, key=lambda span: span[0]) - 1
    return place >= 0 and piece.end <= taken[place][1]


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
class _Placed:
    """`start` to `end` of the text of a block, which stands at `offset` of the body's text."""

    block: Block
    offset: int
    escapes: Sequence[int]
    start: int
    end: int

    def as_block(self) -> Block:
        """A part of a heading is none: the heading was too long, and cut like a paragraph."""
        text = self.block.text[self.start : self.end]
        if self.block.kind == Kind.HEADING and text != self.block.text:
            return paragraph(text)
        return replace(self.block, text=text)

    def position(self, index: int) -> int:
        """Where the block's character `index` stands in the body's text."""
        return self.offset + index + bisect_left(self.escapes, index)

    def index(self, position: int) -> int:
        return bisect_left(range(len(self.block.text)), position, key=self.position)

    def cut(self, start: int, end: int) -> Iterator[_Placed]:
        """Nothing when there is no word in it."""
        text = self.block.text[start:end]
        if has_words(text):
            end = start + len(text.rstrip())
            yield replace(self, start=start + len(text) - len(text.lstrip()), end=end)


def _placed(body: Body) -> Iterator[_Placed]:
    for block, offset in placed(body):
        yield _Placed(block, offset, escapes(block.text, block), 0, len(block.text))


def _rests(blocks: Iterable[_Placed], taken: Sequence[Span], limits: Limits) -> Iterator[_Placed]:
    """What is not taken, all headings, and the lead-ins of lists that are not taken whole."""
    above: _Placed | None = None
    for is_list, group in groupby(blocks, key=lambda one: one.block.kind == Kind.ITEM):
        if is_list:
            items = list(group)
            rest = list(chain.from_iterable(_rest(item, taken) for item in items))
            yield from _lead_in(above, taken) if rest and above else _own(above, taken)
            yield from _beginning_as(items[0], rest)
            above = None
            continue
        for one in group:
            yield from _own(above, taken)
            above = one
            if _is_heading(one, limits):
                yield one
                above = None
    yield from _own(above, taken)


def _is_heading(one: _Placed, limits: Limits) -> bool:
    """As the segmentation has it: a long one is a paragraph."""
    is_short = count_words(one.block.text) <= limits.max_words // 2
    return one.block.kind == Kind.HEADING and is_short


def _own(one: _Placed | None, taken: Sequence[Span]) -> Iterator[_Placed]:
    yield from _rest(one, taken) if one else ()


def _lead_in(one: _Placed, taken: Sequence[Span]) -> Iterator[_Placed]:
    """What is left of it, and its end even if that is taken: a list is not left without it."""
    rest = list(_rest(one, taken))
    yield from rest
    yield from one.cut(rest[-1].end if rest else 0, one.end)


def _beginning_as(first: _Placed, rest: Sequence[_Placed]) -> Iterator[_Placed]:
    """What is left of a list stands to its lead-in as the whole list did."""
    for number, item in enumerate(rest):
        is_tight = item.block.is_tight or (number == 0 and first.block.is_tight)
        yield replace(item, block=replace(item.block, is_tight=is_tight))


def _rest(one: _Placed, taken: Sequence[Span]) -> Iterator[_Placed]:
    begin, end = one.position(0), one.position(one.end)
    first = max(bisect_right(taken, begin, key=lambda span: span[0]) - 1, 0)
    start = 0
    for span_start, span_end in taken[first:]:
        if span_start >= end:
            break
        if span_end > begin:
            yield from one.cut(start, one.index(max(span_start, begin)))
            start = one.index(min(span_end, end))
    yield from one.cut(start, one.end)


@dataclass(frozen=True, slots=True)
class _Places:
    """From the text of the rest to the text of the whole body."""

    rests: Sequence[_Placed]
    offsets: Sequence[int]

    def moved(self, piece: Piece) -> Piece:
        number = bisect_right(self.offsets, piece.start) - 1
        rest = self.rests[number]
        block = rest.as_block()
        alone = _Placed(
            block, self.offsets[number], escapes(block.text, block), 0, len(block.text)
        )  # fmt: skip
        start, end = (alone.index(place) + rest.start for place in (piece.start, piece.end))
        return replace(piece, start=rest.position(start), end=rest.position(end))
