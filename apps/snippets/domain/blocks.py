"""A document's body: its headings, paragraphs and list items in order, and its Markdown text.

The text of a block is plain: what looks like Markdown in it is escaped where it is written.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

BULLET = "* "
_ODD_SPACE = re.compile(r"[^\S ]")


class Kind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"


@dataclass(frozen=True, slots=True)
class Block:
    """`level` is a heading's (1-6) or a list item's depth (1 and more); a paragraph's is 0.

    `mark` is what its line begins with in Markdown. `is_tight`: the first item of a list that
    stands right under its lead-in, without a blank line.
    """

    kind: Kind
    text: str
    level: int = 0
    is_ordered: bool = False
    mark: str = ""
    is_tight: bool = False

    def __post_init__(self) -> None:
        if not self.text or self.text != self.text.strip() or _ODD_SPACE.search(self.text):
            raise ValueError(f"a block's text is one line, without spaces around: {self.text!r}")


@dataclass(frozen=True, slots=True)
class Body:
    title: str
    language: str
    blocks: tuple[Block, ...]


def heading(text: str, level: int, mark: str = "") -> Block:
    return Block(Kind.HEADING, text, level, mark=mark or "#" * level + " ")


def paragraph(text: str) -> Block:
    return Block(Kind.PARAGRAPH, text)


def bullet(text: str, depth: int = 1, *, mark: str = BULLET, is_tight: bool = False) -> Block:
    return Block(Kind.ITEM, text, depth, mark=mark, is_tight=is_tight)


def numbered(text: str, depth: int = 1, *, is_tight: bool = False) -> Block:
    return Block(Kind.ITEM, text, depth, is_ordered=True, mark=BULLET, is_tight=is_tight)


def body_text(body: Body) -> str:
    """The whole document as Markdown. What offsets count in, in code points."""
    return "".join(chain.from_iterable(_written(body)))


def placed(body: Body) -> Iterator[tuple[Block, int]]:
    """Each block with the offset of its text, after the mark, in `body_text`."""
    offset = 0
    for block, (before, text) in zip(body.blocks, _written(body), strict=True):
        yield block, offset + len(before)
        offset += len(before) + len(text)


def separator(above: Block, below: Block) -> str:
    """What stands between two blocks in Markdown."""
    if below.kind != Kind.ITEM:
        return "\n\n"
    in_a_list = above.kind == Kind.ITEM or (below.is_tight and above.kind == Kind.PARAGRAPH)
    return "\n" if in_a_list else "\n\n"


def _written(body: Body) -> Iterator[tuple[str, str]]:
    """For each block what stands before its text, and its text."""
    above: Block | None = None
    for block in body.blocks:
        yield (separator(above, block) if above else "") + block.mark, escaped(block.text, block)
        above = block


# What a reader of Markdown would take for a link, strong emphasis or an escape.
_INLINE = re.compile(r"\\(?=[!-/:-@\[-`{-~])|\](?=\()|(?<=\*)\*|\*(?=\*)")
# What it would take for the mark of another block.
_LINE_START = re.compile(r"#{1,6}[ \t]|#{2,6}[^#\s]|[*+-][ \t]|>|```|~~~")


def escapes(text: str, block: Block) -> list[int]:
    """Where Markdown needs a backslash in `text`, which is `block`'s or a part of it."""
    found = [match.start() for match in _INLINE.finditer(text)]
    begins_a_line = block.kind == Kind.PARAGRAPH and _LINE_START.match(text)
    return [0, *found] if begins_a_line and found[:1] != [0] else found


def escaped(text: str, block: Block) -> str:
    pieces, done = [], 0
    for position in escapes(text, block):
        pieces += [text[done:position], "\\"]
        done = position
    return "".join([*pieces, text[done:]])
