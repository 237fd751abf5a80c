"""Tokens with their offsets in code points: words, numbers, punctuation.

A letter of a script that writes no spaces is a token by itself; marks stay with their letter.
"""

import re
import sys
import unicodedata
from bisect import bisect_left, bisect_right
from functools import cache

from apps.snippets.domain.words import UNSPACED

DESCRIPTION = (
    "Regular expression: runs of letters, marks and digits; one character of Chinese, Japanese, "
    "Thai, Lao, Khmer or Burmese; any other character by itself. No white space."
)

Token = list[str | int]
"""The text and where it begins: `["Dogs", 0]`, as the MultiQA format has it."""


def tokenize(text: str) -> list[Token]:
    return [[found[0], found.start()] for found in _expression().finditer(text)]


@cache
def _expression() -> re.Pattern[str]:
    marks = re.escape("".join(
        character for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(character).startswith("M")
    ))  # fmt: skip
    spaced = rf"(?:(?![{UNSPACED}])[^\W_])"
    return re.compile(rf"{spaced}(?:{spaced}|[{marks}])*|(?=[{UNSPACED}])\S[{marks}]*|\S")


def token_range(tokens: list[Token], start: int, end: int) -> list[int]:
    """The first and the last token, both inclusive, that the characters `start:end` touch.

    Empty when the span has white space only.
    """
    starts = [int(token[1]) for token in tokens]
    first = bisect_right(starts, start) - 1
    if first < 0 or starts[first] + len(str(tokens[first][0])) <= start:
        first += 1
    last = bisect_left(starts, end) - 1
    return [first, last] if first <= last else []
