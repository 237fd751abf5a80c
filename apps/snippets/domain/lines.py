"""Text in lines: plain text, and what stands between `<br>` tags."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby, pairwise

from apps.snippets.domain.blocks import Block, bullet, numbered, paragraph
from apps.snippets.domain.words import UNSPACED, has_words

LONGEST_WRAPPED_LINE = 120
"""A text with longer lines was not wrapped by hand: each of its lines is a paragraph."""

_BULLET = re.compile(r"(?:[•·▪▫◦●○■□‣⁃∙]\s*|[+–—-]\s+)(?=\S)")
# These make items only together: a single one is a footnote, or a numbered paragraph.
_STAR = re.compile(r"\*\s+(?=\S)")
_NUMBER = re.compile(r"\d{1,3}[.)]\s+(?=\S)")
Separator = Callable[[str, str], str]
"""Of a line and the one below, what stands between them when they become one."""
_Marks = dict[re.Pattern[str], Callable[[str], Block]]
_UNSPACED = re.compile(f"[{UNSPACED}]")
_ODD_SPACE = re.compile(r"[^\S\n ]")


def runs(text: str) -> Iterator[list[str]]:
    """Lines that stand together without a blank one, tabs and other white space as spaces."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    lines = (line.rstrip() for line in _ODD_SPACE.sub(" ", text).split("\n"))
    return (list(group) for is_text, group in groupby(lines, key=bool) if is_text)


def text_blocks(text: str) -> Iterator[Block]:
    """Plain text: paragraphs between blank lines, or one to a line where lines are that long."""
    for run in runs(text):
        if any(len(line) > LONGEST_WRAPPED_LINE for line in run):
            for line in run:
                yield from line_blocks([line], after_wrap)
        else:
            yield from line_blocks(run, after_wrap)


def line_blocks(lines: Iterable[str], separator: Separator) -> Iterator[Block]:
    """Blocks of lines that stand together: `• ` and the like begin list items."""
    lines = [line.strip() for line in lines if has_words(line)]
    marks: _Marks = {_BULLET: bullet}
    for mark, item in ((_STAR, bullet), (_NUMBER, numbered)):
        if sum(1 for line in lines if mark.match(line)) > 1:
            marks[mark] = item
    make: Callable[[str], Block] = paragraph
    current: list[str] = []
    for line in lines:
        item_of_line, text = _begun(line, marks)
        if item_of_line and current:
            yield make(joined(current, separator))
            current = []
        make = item_of_line or make
        current.append(text)
    if current:
        yield make(joined(current, separator))


def _begun(line: str, marks: _Marks) -> tuple[Callable[[str], Block] | None, str]:
    for mark, item in marks.items():
        if match := mark.match(line):
            return item, line[match.end() :]
    return None, line


def joined(lines: Sequence[str], separator: Separator) -> str:
    """Lines as one; none is blank."""
    pairs = ((separator(above, below), below) for above, below in pairwise(lines))
    return "".join([*lines[:1], *chain.from_iterable(pairs)])


def after_wrap(above: str, below: str) -> str:
    """Where a line was wrapped. Chinese and Japanese have no space there."""
    return "" if _UNSPACED.match(above[-1]) and _UNSPACED.match(below[0]) else " "


def after_break(above: str, below: str) -> str:
    """Where a writer broke a line: the lines of an address are told apart by commas."""
    is_another = above[-1].isalnum() and (below[0].isupper() or below[0].isdigit())
    return ", " if is_another else after_wrap(above, below)
