"""Marks the sources of questions in a rule text that has been rendered to HTML.

Spans count code points of the Markdown source. Rendering only drops characters of it (`#`, `*`) or
writes them in another way (`&amp;`), and keeps their order: so the text of the HTML is laid along
the source, character by character, and what stands on a span is marked. Tags are never cut.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from itertools import groupby
from operator import itemgetter

_LINE_PREFIX = re.compile(r"(?:(?:#{1,6}|[*+-]|\d{1,9}[.)]|>)[ \t]+)+")


@dataclass(frozen=True)
class Span:
    """Where a question comes from: code points `start` (included) to `end` of the rule text."""

    slot: str
    start: int
    end: int


def mark_spans(html: str, source: str, spans: Iterable[Span]) -> str:
    """The HTML with `<mark data-slots="12 15">` around what stands on the spans.

    `html` is the rendered and sanitised `source`. Overlapping spans share a mark where they
    overlap; a span over several blocks has a mark in each. Spans beyond the text mark nothing.
    """
    marker = _Marker(source, tuple(spans))
    marker.feed(html)
    marker.close()
    return "".join(marker.written)


def mark_positions(html: str, source: str) -> str:
    """The HTML with `<span data-at="12">` around each run of text: where it begins in the source.

    For a browser that has to say which code points of the source somebody selected: within a run,
    source and text go on together, code point by code point. What has no place in the source, such
    as line breaks between blocks, stands outside of runs.
    """
    placer = _Placer(source)
    placer.feed(html)
    placer.close()
    return "".join(placer.written)


class _Marker(HTMLParser):
    def __init__(self, source: str, spans: tuple[Span, ...]) -> None:
        super().__init__(convert_charrefs=True)
        self.written: list[str] = []
        self._source = source
        self._position = 0
        self._last = ""
        self._slots = _slots_by_position(len(source), spans)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.written.append(self.get_starttag_text() or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.written.append(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        self.written.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if data.isspace():  # line breaks between blocks are the renderer's own
            self.written.append(data)
            return
        placed = []
        for index, character in enumerate(data):
            self._skip_line_prefix(data, index)
            placed.append((character, self._slots_under(character)))
        for slots, run in groupby(placed, key=itemgetter(1)):
            text = escape("".join(character for character, _ in run), quote=False)
            self.written.append(_marked(text, slots) if slots else text)

    def _skip_line_prefix(self, data: str, index: int) -> None:
        """Passes over `* ` or `1. ` at a line's start, unless the renderer took it for text."""
        if data[index].isspace():
            return
        start = self._position
        while self._source[start : start + 1].isspace():
            start += 1
        if start and "\n" not in self._source[max(self._position - 1, 0) : start]:
            return
        prefix = _LINE_PREFIX.match(self._source, start)
        if prefix and not data.startswith(prefix[0], index):
            self._position = prefix.end()

    def _slots_under(self, character: str) -> str:
        """The slots of the character's place in the source."""
        if character.isspace():
            is_here = self._source[self._position : self._position + 1].isspace()
            # White space without a place of its own belongs to what stands before it.
            return self._take(self._position) if is_here else self._last
        found = self._source.find(character, self._position)
        return self._take(found) if found >= 0 else ""

    def _take(self, position: int) -> str:
        self._position = position + 1
        self._last = self._slots[position]
        return self._last


class _Placer(_Marker):
    """Lays text along the source as its parent does; each code point's slot is its position."""

    def __init__(self, source: str) -> None:
        super().__init__(source, ())
        self._slots = [str(position) for position in range(len(source))]

    def handle_data(self, data: str) -> None:
        if data.isspace():
            self.written.append(data)
            return
        runs: list[tuple[str, list[str]]] = []
        expected = ""
        for index, character in enumerate(data):
            self._skip_line_prefix(data, index)
            position = self._slots_under(character)
            if not runs or position != expected:
                runs.append((position, []))
            runs[-1][1].append(character)
            expected = str(int(position) + 1) if position else ""
        self.written.extend(_placed("".join(characters), at) for at, characters in runs)

    def _slots_under(self, character: str) -> str:
        """White space that the source has elsewhere, behind a `*` say, has no position."""
        is_here = self._source[self._position : self._position + 1].isspace()
        return "" if character.isspace() and not is_here else super()._slots_under(character)


def _placed(text: str, at: str) -> str:
    text = escape(text, quote=False)
    return f'<span data-at="{at}">{text}</span>' if at else text


def _marked(text: str, slots: str) -> str:
    return f'<mark class="source" data-slots="{escape(slots)}">{text}</mark>'


def _slots_by_position(length: int, spans: tuple[Span, ...]) -> list[str]:
    """For every code point the slots whose spans cover it, space-separated; mostly ""."""
    covering: list[list[str]] = [[] for _ in range(length)]
    for span in spans:
        for position in range(max(span.start, 0), min(span.end, length)):
            covering[position].append(span.slot)
    return [" ".join(names) for names in covering]
