"""What was changed in a text, word by word."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from apps.snippets.domain.words import UNSPACED

MOST_WORDS = 3000
"""Of longer texts whole lines are compared: the time grows with the square of the length."""

_WORD = re.compile(rf"\s+|[{UNSPACED}]|[^\s{UNSPACED}]+")
_LINE = re.compile(r"\n+|[^\n]+")


class Kind(StrEnum):
    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Change:
    kind: Kind
    text: str


def changes(before: str, after: str) -> Iterator[Change]:
    """The texts' words in order: those of SAME and REMOVED are `before`, SAME and ADDED `after`."""
    for old, new in _matched(before, after):
        if old == new:
            yield Change(Kind.SAME, old)
            continue
        if old:
            yield Change(Kind.REMOVED, old)
        if new:
            yield Change(Kind.ADDED, new)


def offset_before_changes(before: str, after: str, offset: int) -> int:
    """Where in `before` the words stand that `after` has at `offset`."""
    passed = 0
    for old, new in _matched(before, after):
        if offset < len(new):
            return passed + (offset if old == new else 0)
        passed += len(old)
        offset -= len(new)
    return passed


def _matched(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Pairs of texts: what stood there, and what stands there now."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    if max(len(old), len(new)) > MOST_WORDS:
        old, new = _LINE.findall(before), _LINE.findall(after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for _, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        yield "".join(old[old_start:old_end]), "".join(new[new_start:new_end])
