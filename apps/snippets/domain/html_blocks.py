"""Reading a part of an HTML page into blocks.

Each element is looked at once, without recursion: pages with thousands of nested ones exist.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from lxml import etree

from apps.snippets.domain.blocks import Block, Kind, bullet, heading, numbered, paragraph
from apps.snippets.domain.lines import after_break, line_blocks
from apps.snippets.domain.tables import Cell, row_texts
from apps.snippets.domain.words import has_words

HEADINGS = {f"h{level}": level for level in range(1, 7)}
LISTS = {"ul", "ol", "menu", "dir"}
BLOCKS = {
    *HEADINGS, *LISTS, "address", "article", "aside", "blockquote", "body", "caption", "center",
    "dd", "details", "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer",
    "form", "header", "hgroup", "hr", "html", "legend", "li", "main", "nav", "p", "pre", "search",
    "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr",
}  # fmt: skip
# A table that holds one of these, or has one column, is there for the looks of the page.
_NOT_IN_DATA = ("table", "dl", *LISTS, *HEADINGS)
_MAX_SPAN = 100
# Soft hyphens and marks that join: nobody sees them, and searches stumble on them.
_INVISIBLE = re.compile("[\u00ad\u2060\ufeff]")


@dataclass(frozen=True, slots=True)
class Found:
    """A block, and the element that its words stand in. `linked`: the share of them in links."""

    block: Block
    element: Any
    linked: float = 0


def read_element(root: Any) -> list[Found]:
    reader = _Reader()
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "end":
            reader.end(element)
            reader.add("" if element is root else element.tail)
            continue
        reader.start(element)
        if element.tag == "table" and _is_data(element):
            reader.read_table(element)
            walk.skip_subtree()
        else:
            reader.add(element.text)
    reader.flush()
    return [
        Found(begun.make(" ".join(begun.texts)), begun.element, begun.linked)
        for begun in reader.blocks
    ]


@dataclass(slots=True)
class _Begun:
    """A block to which more paragraphs may still be added."""

    make: Callable[[str], Block]
    texts: list[str]
    element: Any
    linked: float


@dataclass(slots=True)
class _Context:
    """A block element that has begun, and the list item that it has given."""

    element: Any
    item: _Begun | None = None


class _Reader:
    def __init__(self) -> None:
        self.blocks: list[_Begun] = []
        self._contexts: list[_Context] = []
        self._telling: list[_Context] = []  # those of them that tell what the text in them is
        self._lists: list[str] = []
        self._term = ""  # of a definition list, until its definition comes
        self._links = 0
        self._lines: list[list[str]] = [[]]
        self._length = self._linked = 0

    def start(self, element: Any) -> None:
        if element.tag == "br":
            self._lines.append([])
        elif element.tag == "a":
            self._links += 1
        elif element.tag in BLOCKS:
            self.flush()
            self._contexts.append(_Context(element))
            if element.tag in _TELLING:
                self._telling.append(self._contexts[-1])
            if element.tag in LISTS:
                self._lists.append(element.tag)

    def end(self, element: Any) -> None:
        if element.tag == "a":
            self._links -= 1
        elif element.tag in BLOCKS:
            self.flush()
            if element.tag == "dl":
                self._give_term()
            self._contexts.pop()
            if element.tag in _TELLING:
                self._telling.pop()
            if element.tag in LISTS:
                self._lists.pop()

    def add(self, text: str | None) -> None:
        if not text:
            return
        self._length += len(text)
        self._linked += len(text) if self._links else 0
        if self._contexts and self._contexts[-1].element.tag == "pre":
            first, *others = text.split("\n")
            self._lines[-1].append(first)
            self._lines += [[other] for other in others]
        else:
            self._lines[-1].append(text)

    def read_table(self, table: Any) -> None:
        for caption in table.iterchildren("caption"):
            for found in read_element(caption):
                self._give(paragraph, found.block.text)
        for text in row_texts([[_cell(cell) for cell in _cells(row)] for row in _rows(table)]):
            self._give(bullet, text)

    def flush(self) -> None:
        lines = [_clean("".join(line)) for line in self._lines]
        self._lines = [[]]
        if any(map(has_words, lines)):
            tag = self._telling[-1].element.tag if self._telling else ""
            if tag != "dd":
                self._give_term()
            _HANDLERS.get(tag, _Reader._flush_text)(self, lines)
        self._length = self._linked = 0

    def _flush_heading(self, lines: Iterable[str]) -> None:
        level = HEADINGS[self._telling[-1].element.tag]
        self._give(partial(heading, level=level), " ".join(filter(None, lines)))

    def _flush_term(self, lines: Iterable[str]) -> None:
        self._term = " ".join(filter(None, lines))

    def _flush_item(self, lines: Iterable[str]) -> None:
        context = self._telling[-1]
        for block in _line_blocks(lines):
            if context.item and context.item is self.blocks[-1] and block.kind == Kind.PARAGRAPH:
                context.item.texts.append(block.text)
                continue
            term = f"{self._term.rstrip(':').rstrip()}: " if self._term else ""
            self._term = ""
            self._give(self._item(), term + block.text)
            context.item = self.blocks[-1]

    def _flush_text(self, lines: Iterable[str]) -> None:
        for block in _line_blocks(lines):
            self._give(_MAKERS[block.kind], block.text)

    def _give_term(self) -> None:
        if self._term:
            self._give(self._item(), self._term)
            self._term = ""

    def _item(self) -> Callable[[str], Block]:
        make = numbered if self._lists[-1:] == ["ol"] else bullet
        return partial(make, depth=max(1, len(self._lists)))

    def _give(self, make: Callable[[str], Block], text: str) -> None:
        linked = self._linked / self._length if self._length else 0
        self.blocks.append(_Begun(make, [text], self._contexts[-1].element, linked))


_MAKERS = {Kind.PARAGRAPH: paragraph, Kind.ITEM: bullet}
_TELLING = {*HEADINGS, "li", "dt", "dd"}
_HANDLERS: dict[str, Callable[[_Reader, Iterable[str]], None]] = {
    **dict.fromkeys(HEADINGS, _Reader._flush_heading),
    "li": _Reader._flush_item,
    "dd": _Reader._flush_item,
    "dt": _Reader._flush_term,
}


def _clean(text: str) -> str:
    return " ".join(_INVISIBLE.sub("", text).split())


def _line_blocks(lines: Iterable[str]) -> Iterator[Block]:
    """An empty line, that is two `<br>`, ends a paragraph."""
    for is_text, run in groupby(lines, key=bool):
        if is_text:
            yield from line_blocks(run, after_break)


def _is_data(table: Any) -> bool:
    is_wide = any(len(_cells(row)) > 1 for row in _rows(table))
    return is_wide and next(table.iterdescendants(*_NOT_IN_DATA), None) is None


def _rows(table: Any) -> Iterator[Any]:
    for child in table.iterchildren("tr", "thead", "tbody", "tfoot"):
        if child.tag == "tr":
            yield child
        else:
            yield from child.iterchildren("tr")


def _cells(row: Any) -> list[Any]:
    return list(row.iterchildren("td", "th"))


def _cell(element: Any) -> Cell:
    if len(element):
        text = " ".join(found.block.text for found in read_element(element))
    else:
        text = _clean(element.text or "")
    return Cell(text, element.tag == "th", _span(element, "colspan"), _span(element, "rowspan"))


def _span(element: Any, name: str) -> int:
    value = element.get(name, "").strip()
    return max(1, min(int(value), _MAX_SPAN)) if value.isdecimal() else 1
