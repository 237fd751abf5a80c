"""Reading Markdown into blocks.

Line by line, as the rule texts of ShARC are written: `##Heading` without a space, `** ` for a
nested item, and a list right under its lead-in are taken as they are, and written back so. Of the
markup inside a line, links give their text, images nothing, and `**strong**` its words; the rest
stays as it is written.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from apps.snippets.domain.blocks import BULLET, Block, Kind, bullet, heading, numbered, paragraph
from apps.snippets.domain.lines import after_wrap, joined, runs
from apps.snippets.domain.tables import Cell, row_texts
from apps.snippets.domain.words import has_words

_QUOTE = re.compile(r"(?m)^(?: {0,3}>[ \t]?)+")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_HEADING = re.compile(r" {0,3}(?P<mark>#{1,6} +|#{2,6}(?=[^#\s]))(?P<text>\S.*)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})")
_RULE = re.compile(r" {0,3}(?:(?:\* *){3,}|(?:_ *){3,}|(?:- *){3,}|=+)")
_BULLET = re.compile(r"(?P<indent> *)(?P<mark>(?P<sign>\*{1,3}|[+-]) +)(?P<text>\S.*)")
_NUMBER = re.compile(r"(?P<indent> *)\d{1,9}[.)] +(?P<text>\S.*)")
_TABLE_RULE = re.compile(r" *\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_INDENTED = re.compile(r" {2,}\S")
_INDENT = 2
"""Spaces by which a list is deeper than the one around it, at least."""

_INLINE = re.compile(
    r"\\(?P<literal>[!-/:-@\[-`{-~])"
    r"|(?P<image>!)?\[(?P<link>(?:\\.|[^\[\]\\])*)\]"
    r"\((?:\\.|[^()\s\\]|\([^()\s]*\))*(?: +\"[^\"]*\")?\)"
    r"|\*\*(?P<strong>[^*\s](?:[^*]*[^*\s])?)\*\*"
)


def markdown_blocks(text: str) -> Iterator[Block]:
    reader = _Reader()
    for run in runs(_QUOTE.sub("", text)):
        reader.read(run)
    for begun in reader.blocks:
        plain = _plain(joined(begun.lines, after_wrap)).strip()
        if has_words(plain):
            yield begun.make(plain)


def _plain(text: str) -> str:
    return _INLINE.sub(_inline, text)


def _inline(match: re.Match[str]) -> str:
    if match["literal"]:
        return match["literal"]
    if match["image"]:
        return ""
    return _plain(match["link"] or match["strong"] or "")


@dataclass(slots=True)
class _Begun:
    """A block to which lines may still be added."""

    kind: Kind
    make: Callable[[str], Block]
    lines: list[str]


class _Reader:
    def __init__(self) -> None:
        self.blocks: list[_Begun] = []
        self._can_continue = False
        self._has_numbers = False

    def read(self, run: Sequence[str]) -> None:
        """One run of lines without a blank one among them."""
        self._can_continue = False
        self._has_numbers = sum(1 for line in run if _NUMBER.fullmatch(line)) > 1
        for index, line in enumerate(run):
            if "|" in line and _is_table(run[index + 1 : index + 2]):
                self._read_table(run[index:])
                return
            self._read_line(line)

    def _read_line(self, line: str) -> None:
        if _UNDERLINE.fullmatch(line) and self._paragraph_is_open():
            level = 1 if "=" in line else 2
            self._close(Kind.HEADING, partial(heading, level=level), self.blocks.pop().lines)
        elif _RULE.fullmatch(line) or _FENCE.match(line):
            self._can_continue = False
        elif match := _HEADING.fullmatch(line):
            make = partial(heading, level=match["mark"].count("#"), mark=match["mark"])
            self._close(Kind.HEADING, make, [match["text"]])
        elif match := _BULLET.fullmatch(line):
            self._read_bullet(match)
        elif (match := _NUMBER.fullmatch(line)) and (self._has_numbers or self._is_in_item(line)):
            make = partial(numbered, depth=_depth(match), is_tight=self._paragraph_is_open())
            self._open(Kind.ITEM, make, match["text"])
        elif self._can_continue or self._is_in_item(line):
            self.blocks[-1].lines.append(line.strip())
        else:
            self._open(Kind.PARAGRAPH, paragraph, line.strip())

    def _read_bullet(self, match: re.Match[str]) -> None:
        sign = match["sign"]
        depth = len(sign) if len(sign) > 1 else _depth(match)
        mark = match["mark"] if sign.startswith("*") else BULLET
        make = partial(bullet, depth=depth, mark=mark, is_tight=self._paragraph_is_open())
        self._open(Kind.ITEM, make, match["text"])

    def _read_table(self, lines: Sequence[str]) -> None:
        head, _, *rows = lines
        cells = [_cells(head, is_head=True), *(_cells(row, is_head=False) for row in rows)]
        for text in row_texts(cells):
            self._close(Kind.ITEM, bullet, [text])

    def _paragraph_is_open(self) -> bool:
        return self._can_continue and self.blocks[-1].kind == Kind.PARAGRAPH

    def _is_in_item(self, line: str) -> bool:
        """Indented text after a blank line still belongs to the list item above."""
        after_item = bool(self.blocks) and self.blocks[-1].kind == Kind.ITEM
        return after_item and bool(_INDENTED.match(line))

    def _open(self, kind: Kind, make: Callable[[str], Block], line: str) -> None:
        self.blocks.append(_Begun(kind, make, [line]))
        self._can_continue = True

    def _close(self, kind: Kind, make: Callable[[str], Block], lines: list[str]) -> None:
        self.blocks.append(_Begun(kind, make, lines))
        self._can_continue = False


def _depth(match: re.Match[str]) -> int:
    return len(match["indent"]) // _INDENT + 1


def _is_table(following: Iterable[str]) -> bool:
    return any("|" in line and _TABLE_RULE.fullmatch(line) for line in following)


def _cells(row: str, *, is_head: bool) -> list[Cell]:
    texts = _CELL_BORDER.split(row.strip().strip("|"))
    return [Cell(text.strip(), is_head) for text in texts]
