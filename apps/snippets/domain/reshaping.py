"""Merging two rule texts, and splitting one: with their pieces of the document.

A rule text is Markdown as the segmentation writes it, or as an expert has edited it. What stays
true: no line of it is lost, and its pieces lie where its words come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from apps.snippets.domain.differences import offset_before_changes
from apps.snippets.domain.sentences import sentences
from apps.snippets.domain.words import has_words

Span = tuple[int, int]
"""Start and end in code points of the document's body."""


class Repeat(StrEnum):
    """What the second half of a split text begins with, besides its own words."""

    CONTEXT = "context"  # the heading above it and, within a list, the lead-in
    NOTHING = "nothing"


class EmptyHalfError(ValueError):
    """A half without words of its own, or with nothing but a heading."""


@dataclass(frozen=True, slots=True)
class RuleText:
    """A snippet's text, what it was before it was edited, and where both come from."""

    text: str
    cut_text: str
    pieces: tuple[Span, ...]


def merge(first: RuleText, second: RuleText) -> RuleText:
    """`second` below `first`, without the heading and the lead-in that it repeats."""
    return RuleText(
        _merge_texts(first.text, second.text),
        _merge_texts(first.cut_text, second.cut_text),
        tuple(sorted({*first.pieces, *second.pieces})),
    )


def split(whole: RuleText, *, body: str, at: int, repeat: Repeat) -> tuple[RuleText, RuleText]:
    """Two texts of one, cut at code point `at`. Raises EmptyHalfError.

    A cut within an escape or the mark of a line is made before it; a list item that is cut makes
    two. Pieces whose words were edited away stay with what stands before them.
    """
    at = _settled(whole.text, at)
    cut = _cut(whole.text, at, repeat)
    cut_cut = _cut_source(whole, at, repeat) if whole.cut_text != whole.text else cut
    first, second = _split_pieces(whole, body, at, cut.context)
    return (
        RuleText(cut.first, cut_cut.first, first),
        RuleText(cut.second, cut_cut.second, second),
    )


def places_to_split(text: str) -> list[int]:
    """Starts of sentences and list items at which `text` can be split."""
    starts = [
        line.start if sentence[0] == 0 else line.start + len(line.mark) + sentence[0]
        for line in _lines(text)
        if not line.is_heading
        for sentence in sentences(line.words)
        if has_words(line.words[slice(*sentence)])
    ]
    return starts[1:]


def count_items(text: str) -> int:
    return sum(line.is_item for line in _lines(text))


# Lines ------------------------------------------------------------------------------------------

_LINE = re.compile(
    r"(?m)^(?P<mark>(?:#{1,6} +|#{2,6}(?=[^#\s])|\*{1,3} +)?)(?P<words>.*\S)[^\S\n]*$"
)
_ESCAPED = re.compile(r"\\[!-/:-@\[-`{-~]")


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    mark: str
    words: str

    @property
    def is_heading(self) -> bool:
        return self.mark.startswith("#")

    @property
    def is_item(self) -> bool:
        return self.mark.startswith("*")


def _lines(text: str) -> Iterator[_Line]:
    for match in _LINE.finditer(text):
        yield _Line(match.start(), match["mark"], match["words"])


# Merging ----------------------------------------------------------------------------------------


def _merge_texts(above: str, below: str) -> str:
    rest = below[_end_of_repeats(above, below) :]
    if not above or not rest:
        return above or rest
    *_, last = _lines(above)
    is_in_a_list = last.is_item and next(_lines(rest)).is_item
    return above + ("\n" if is_in_a_list else "\n\n") + rest


def _end_of_repeats(above: str, below: str) -> int:
    """Where in `below` its own words begin: after what already stands right above them."""
    standing = _standing(above)
    for line in _lines(below):
        if (line.mark, line.words) not in standing:
            return line.start
    return len(below)


def _standing(text: str) -> set[tuple[str, str]]:
    """The heading and the lead-in under which the end of `text` stands."""
    heading: list[_Line] = []
    paragraph: list[_Line] = []
    for line in _lines(text):
        if line.is_heading:
            heading, paragraph = [line], []
        elif not line.is_item:
            paragraph = [line]
    return {(line.mark, line.words) for line in (*heading, *paragraph)}


# Splitting --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Cut:
    first: str
    second: str
    context: str  # what `second` begins with that `first` has, too


def _settled(text: str, at: int) -> int:
    for line in _lines(text):
        if line.start < at <= line.start + len(line.mark):
            return line.start
        escapes = _ESCAPED.finditer(text, line.start, line.start + len(line.mark + line.words))
        for escape in escapes:
            if at == escape.start() + 1:
                return escape.start()
    return at


def _cut(text: str, at: int, repeat: Repeat) -> _Cut:
    first, second = text[:at].strip(), text[at:].strip()
    line = next((one for one in reversed(list(_lines(text))) if one.start < at), None)
    if line and line.is_item and second and at < line.start + len(line.mark + line.words):
        second = line.mark + second
    if not _has_body(first) or not _has_body(second):
        raise EmptyHalfError("Both halves need words of their own, below a heading.")
    context = _context(first, second) if repeat is Repeat.CONTEXT else ""
    return _Cut(first, context + second, context)


def _has_body(text: str) -> bool:
    return any(has_words(line.words) for line in _lines(text) if not line.is_heading)


def _context(first: str, second: str) -> str:
    """The heading that `second` stands under, with the lead-in when both have items of its list."""
    begins = next(_lines(second))
    if begins.is_heading:
        return ""
    above = list(_lines(first))
    heading = next((line for line in reversed(above) if line.is_heading), None)
    context = f"{heading.mark}{heading.words}\n\n" if heading else ""
    if begins.is_item and above[-1].is_item:
        context += _lead_in(first, above)
    return context


def _lead_in(text: str, lines: Sequence[_Line]) -> str:
    """The paragraph above the last list of `text`, with the white space before the list."""
    start_of_list = len(lines)
    while start_of_list and lines[start_of_list - 1].is_item:
        start_of_list -= 1
    if not start_of_list or lines[start_of_list - 1].is_heading:
        return ""
    return text[lines[start_of_list - 1].start : lines[start_of_list].start]


def _cut_source(whole: RuleText, at: int, repeat: Repeat) -> _Cut:
    """The text before editing, cut at the same words; not cut, when they are all on one side."""
    source = whole.cut_text
    before = _settled(source, offset_before_changes(source, whole.text, at))
    try:
        return _cut(source, before, repeat)
    except EmptyHalfError:
        return _Cut(source, "", "")


def _split_pieces(
    whole: RuleText, body: str, at: int, context: str
) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    first: list[Span] = []
    second: list[Span] = []
    done = 0
    for start, end in whole.pieces:
        words = body[start:end]
        found = whole.text.find(words, done)
        if found < 0:
            (second or first).append((start, end))
            continue
        done = found + len(words)
        cut = start + min(max(at - found, 0), len(words))
        first += _trimmed(body, start, cut)
        second += _trimmed(body, cut, end)
    repeated = [(start, end) for start, end in first if body[start:end] in context]
    return tuple(first or whole.pieces[:1]), tuple(
        [*repeated, *second] if second else whole.pieces[-1:]
    )


def _trimmed(body: str, start: int, end: int) -> list[Span]:
    words = body[start:end]
    start += len(words) - len(words.lstrip())
    end -= len(words) - len(words.rstrip())
    return [(start, end)] if start < end else []
