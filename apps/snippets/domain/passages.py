"""A document's body line by line, with the snippets that each line is in, to be marked there.

The body is Markdown as `blocks.body_text` writes it: one line to a block.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

_LINE = re.compile(r"(?m)^(?P<mark>(?:#{1,6} +|#{2,6}(?=[^#\s])|\*{1,3} +)?)(?P<words>.*\S)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


class Place(NamedTuple):
    """Where a snippet, by its key, has words in the body; in code points."""

    start: int
    end: int
    snippet: int


@dataclass(frozen=True, slots=True)
class Line:
    """A block, or the part of one that is in the same snippets; `text` without escapes."""

    mark: str
    text: str
    snippets: tuple[int, ...]

    @property
    def heading_level(self) -> int:
        return self.mark.count("#")

    @property
    def is_item(self) -> bool:
        return self.mark.startswith("*")


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines that follow one another and belong to one snippet, or (None) to none.

    A heading or lead-in that several snippets repeat belongs to the first of them.
    """

    snippet: int | None
    lines: tuple[Line, ...]


def passages(body: str, places: Iterable[Place]) -> Iterator[Passage]:
    """All words of the body in order; `places` are in the order of the snippets."""
    for owner, lines in groupby(_lines(body, places), key=_owner):
        yield Passage(owner, tuple(lines))


def _owner(line: Line) -> int | None:
    return line.snippets[0] if line.snippets else None


def _lines(body: str, places: Iterable[Place]) -> Iterator[Line]:
    rank = {place: number for number, place in enumerate(places)}
    coming = sorted(rank, reverse=True)
    here: list[Place] = []
    for match in _LINE.finditer(body):
        start, end = match.span("words")
        while coming and coming[-1].start < end:
            here.append(coming.pop())
        here = [place for place in here if place.end > start]
        mark = match["mark"]
        for part_start, part_end in _parts(start, end, here):
            text = _ESCAPED.sub(r"\1", body[part_start:part_end].strip())
            if text:
                inside = [one for one in here if one.start < part_end and one.end > part_start]
                inside.sort(key=rank.__getitem__)
                yield Line(mark, text, tuple(dict.fromkeys(one.snippet for one in inside)))


def _parts(start: int, end: int, here: Iterable[Place]) -> Iterator[tuple[int, int]]:
    cuts = {at for place in here for at in (place.start, place.end) if start < at < end}
    for cut in (*sorted(cuts), end):
        yield start, cut
        start = cut
