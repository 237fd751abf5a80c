"""Cutting a body into snippets (design, section 4.1).

A snippet is the nearest heading above, if any; one paragraph, or the lead-in of a list; the list,
if one follows. What the rules leave open is decided so:

* A paragraph right above a list is its lead-in. Lists that follow one another are one list.
* Only the nearest heading counts. A heading without a body of its own gives no snippet. One with
  more than half of the words that a snippet may have is no heading but a paragraph.
* What fits is never cut. A list that is cut gives parts of about the same length; a lead-in is
  repeated with each when it takes no more than a third of the room. Of a longer one the last
  sentence is the lead-in, if it takes no more than half; the rest comes before, as paragraphs.
* A list item over the limit is cut like a paragraph, each piece an item.
* `max_list_items` counts the items of nested lists too. With `long_lists=keep` it does not hold,
  `max_words` does; with `skip` a list that is longer is left out together with its lead-in.
* Blocks without a letter or a digit are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from math import ceil

from apps.snippets.domain.blocks import Body, Kind
from apps.snippets.domain.parts import Part, parts_of
from apps.snippets.domain.sentences import sentences


class LongLists(StrEnum):
    SPLIT = "split"
    KEEP = "keep"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one snippet may have. Both numbers are 1 or more."""

    max_list_items: int = 4
    max_words: int = 150
    long_lists: LongLists = LongLists.SPLIT

    def __post_init__(self) -> None:
        if self.max_list_items < 1 or self.max_words < 1:
            raise ValueError("a snippet has room for one list item and one word at least")


class Role(StrEnum):
    HEADING = "heading"
    LEAD_IN = "lead-in"
    PARAGRAPH = "paragraph"
    ITEM = "item"


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of `body_text` that a snippet's words are in; `is_repeat`: an earlier one's, too."""

    start: int
    end: int
    role: Role
    is_repeat: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """A proposed snippet. `kind` is such as "paragraph" or "heading+paragraph+list"."""

    text: str
    pieces: tuple[Piece, ...]
    kind: str
    words: int
    items: int


def segment(body: Body, limits: Limits) -> Iterator[Segment]:
    """The snippets of `body` in document order, each within `limits`."""
    return segment_parts(parts_of(body), limits)


def segment_parts(parts: Iterable[Part], limits: Limits) -> Iterator[Segment]:
    """As `segment`, of parts of a body in order, each with a word."""
    used: set[Piece] = set()
    for section in _sections(parts, limits):
        for draft in _drafts(section, limits):
            yield _segment(draft, used)


@dataclass(frozen=True, slots=True)
class _Draft:
    """The parts of one snippet or, before it is cut, of all that stands under one heading."""

    heading: Part | None
    text: Part | None
    items: Sequence[Part] = ()

    def words(self) -> int:
        return sum(part.words for part in (self.heading, self.text, *self.items) if part)


def _sections(parts: Iterable[Part], limits: Limits) -> Iterator[_Draft]:
    """Each paragraph and each list with its lead-in, not cut yet."""
    heading: Part | None = None
    text: Part | None = None
    for is_list, group in groupby(parts, key=lambda part: part.block.kind == Kind.ITEM):
        if is_list:
            yield _Draft(heading, text, list(group))
            text = None
            continue
        for part in group:
            if text:
                yield _Draft(heading, text)
            if part.block.kind == Kind.PARAGRAPH:
                text = part
            elif is_heading(part, limits):
                heading, text = part, None
            else:
                text = part.as_paragraph()
    if text:
        yield _Draft(heading, text)


def is_heading(part: Part, limits: Limits) -> bool:
    """A long one is a paragraph."""
    return part.block.kind == Kind.HEADING and part.words <= limits.max_words // 2


def _drafts(section: _Draft, limits: Limits) -> Iterator[_Draft]:
    heading, text, items = section.heading, section.text, section.items
    is_long = len(items) > limits.max_list_items
    if is_long and limits.long_lists == LongLists.SKIP:
        return
    is_too_long = is_long and limits.long_lists == LongLists.SPLIT
    if section.words() <= limits.max_words and not is_too_long:
        yield section
        return
    room = limits.max_words - (heading.words if heading else 0)
    before, lead_in = _lead_in(text, room) if items else (text, None)
    if before and before.words:
        yield from (_Draft(heading, piece) for piece in before.fitting(room))
    room -= lead_in.words if lead_in else 0
    fitting = [piece for item in items for piece in item.fitting(room)]
    most = len(fitting) if limits.long_lists == LongLists.KEEP else limits.max_list_items
    yield from (_Draft(heading, lead_in, some) for some in _batches(fitting, most, room))


def _lead_in(text: Part | None, room: int) -> tuple[Part | None, Part | None]:
    """What goes before the list as paragraphs, and what is repeated with each part of it."""
    if not text or text.words <= room // 3:
        return None, text
    *before, last = sentences(text.text)
    lead_in = text.cut(*last)
    if before and 0 < lead_in.words <= room // 2:
        return text.cut(0, before[-1][1]), lead_in
    return text, None


def _batches(items: Sequence[Part], most: int, room: int) -> Iterator[Sequence[Part]]:
    """At most `most` items and `room` words in each, and about the same number of items."""
    start, words_left = 0, sum(item.words for item in items)
    while start < len(items):
        items_left = len(items) - start
        batches = max(ceil(items_left / most), ceil(words_left / room))
        end, words = start + 1, items[start].words
        while end < start + ceil(items_left / batches) and words + items[end].words <= room:
            words += items[end].words
            end += 1
        yield items[start:end]
        start, words_left = end, words_left - words


def _segment(draft: _Draft, used: set[Piece]) -> Segment:
    heading, text, items = draft.heading, draft.text, draft.items
    kinds = {"heading": heading, "paragraph": text, "list": items}
    paragraphs = [part.line() for part in (heading, text) if part]
    listed = "\n".join(item.line() for item in items)
    is_tight = bool(text and items and items[0].block.is_tight)
    if is_tight:
        paragraphs[-1] += "\n" + listed
    elif items:
        paragraphs.append(listed)
    return Segment(
        text="\n\n".join(paragraphs),
        pieces=tuple(_pieces(draft, used)),
        kind="+".join(kind for kind, part in kinds.items() if part),
        words=draft.words(),
        items=len(items),
    )


def _pieces(draft: _Draft, used: set[Piece]) -> Iterator[Piece]:
    """`used`: the headings and lead-ins of the snippets before."""
    text_role = Role.LEAD_IN if draft.items else Role.PARAGRAPH
    for role, part in ((Role.HEADING, draft.heading), (text_role, draft.text)):
        if part:
            piece = Piece(*part.span(), role)
            yield replace(piece, is_repeat=piece in used)
            used.add(piece)
    for item in draft.items:
        yield Piece(*item.span(), Role.ITEM)
