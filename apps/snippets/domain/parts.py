"""Blocks of a body, whole or in part, which know where they stand in the body's text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from apps.snippets.domain.blocks import Block, Body, escaped, escapes, paragraph, placed
from apps.snippets.domain.sentences import fitting_pieces
from apps.snippets.domain.words import count_words, has_words


@dataclass(frozen=True, slots=True)
class Part:
    """The span `start` to `end` of a block's text.

    That text stands at `offset` of the body's text, with a backslash before each of `escapes`.
    """

    block: Block
    offset: int
    escapes: Sequence[int]
    start: int
    end: int
    words: int

    @property
    def text(self) -> str:
        return self.block.text[self.start : self.end]

    def line(self) -> str:
        """As Markdown. A part may need other backslashes than the whole."""
        return self.block.mark + escaped(self.text, self.block)

    def span(self) -> tuple[int, int]:
        """Where it stands in the body's text."""
        return self._position(self.start), self._position(self.end)

    def cut(self, start: int, end: int) -> Part:
        """The part of it between these characters of its text."""
        start, end = start + self.start, end + self.start
        words = count_words(self.block.text[start:end])
        return replace(self, start=start, end=end, words=words)

    def cut_at(self, start: int, end: int) -> Part:
        """The part of it between these positions of the body's text, without spaces around."""
        text = self.block.text[self._index(start) : self._index(end)]
        begin = self._index(start) + len(text) - len(text.lstrip()) - self.start
        return self.cut(begin, begin + len(text.strip()))

    def fitting(self, limit: int) -> list[Part]:
        """It in parts of at most `limit` words."""
        if self.words <= limit:
            return [self]
        return [self.cut(start, end) for start, end in fitting_pieces(self.text, limit)]

    def as_paragraph(self) -> Part:
        return replace(self, block=paragraph(self.block.text))

    def _position(self, index: int) -> int:
        return self.offset + index + bisect_left(self.escapes, index)

    def _index(self, position: int) -> int:
        return bisect_left(range(len(self.block.text)), position, key=self._position)


def parts_of(body: Body) -> Iterator[Part]:
    """All blocks that have words."""
    for block, offset in placed(body):
        text = block.text
        if has_words(text):
            yield Part(block, offset, escapes(text, block), 0, len(text), count_words(text))
