"""Cutting a text that is over a limit of words: at sentences, else at clauses, else at words."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from apps.snippets.domain.words import count_words, is_word, tokens

Span = tuple[int, int]
"""Start and end in code points."""

_CLOSING = "\"'”’»)\\]）」』】》〉"

# A Latin full stop ends a sentence before a space, and not before a small letter; the marks of
# Chinese, Japanese, Hindi, Burmese, Khmer and Ethiopic always do.
_SENTENCE_END = re.compile(rf"(?P<latin>[.!?…؟۔]+[{_CLOSING}]*)(?=\s)|[。！？｡।॥။។።]+[{_CLOSING}]*")
_CLAUSE_END = re.compile(rf"[;:,–—؛،](?=\s)|[，、；：]+[{_CLOSING}]*")
_SPACE = re.compile(r"\s*")
_LAST_WORD = re.compile(r"[^\s(（“‘\"']{1,20}$")
_ABBREVIATION = re.compile(
    r"(?:[^\W\d]\.)*[^\W\d]|mrs?|ms|dr|prof|st|nos?|arts?|secs?|para|paras|pp|figs?|vs|cf|approx"
    r"|eg|ie|inc|ltd|co|corp|jr|sr|ca|usw|bzw|z\.b|nr|abs|art|vgl",
    re.IGNORECASE,
)


def sentences(text: str) -> list[Span]:
    """The sentences of `text` in order, without the white space around them; none is blank."""
    return _cut(text, 0, len(text), _sentence_cuts(text))


def fitting_pieces(text: str, limit: int) -> list[Span]:
    """Spans of `text` with at most `limit` words each (1 or more), which together have all words.

    Whole sentences where that is possible; pieces of about the same length rather than one that
    is full and a rest.
    """
    parts = [_Part(start, end, count_words(text[start:end])) for start, end in sentences(text)]
    packed = _packed(text, parts, limit, (_clauses, _words))
    return [(part.start, part.end) for part in packed if part.words]


@dataclass(frozen=True, slots=True)
class _Part:
    start: int
    end: int
    words: int


_Cut = Callable[[str, _Part], list[_Part]]


def _packed(
    text: str, parts: Iterable[_Part], limit: int, finer: Sequence[_Cut]
) -> Iterator[_Part]:
    """Neighbours put together up to the limit; a part over it is cut finer, and stays alone."""
    run: list[_Part] = []
    for part in parts:
        if part.words <= limit:
            run.append(part)
            continue
        yield from _balanced(run, limit)
        run = []
        cut, *even_finer = finer  # A word is never over the limit: there is always a finer cut.
        yield from _packed(text, cut(text, part), limit, even_finer)
    yield from _balanced(run, limit)


def _balanced(run: list[_Part], limit: int) -> Iterator[_Part]:
    left = sum(part.words for part in run)
    target = ceil(left / max(1, ceil(left / limit)))
    current: _Part | None = None
    for part in run:
        if current is None:
            current = part
        elif current.words + part.words > limit or (current.words >= target and part.words):
            yield current
            current = part
        else:
            current = _Part(current.start, part.end, current.words + part.words)
    if current is not None:
        yield current


def _clauses(text: str, part: _Part) -> list[_Part]:
    ends = [match.end() for match in _CLAUSE_END.finditer(text, part.start, part.end)]
    spans = _cut(text, part.start, part.end, ends)
    return [_Part(start, end, count_words(text[start:end])) for start, end in spans]


def _words(text: str, part: _Part) -> list[_Part]:
    found = tokens(text[part.start : part.end])
    return [
        _Part(part.start + token.start(), part.start + token.end(), int(is_word(token[0])))
        for token in found
    ]


def _sentence_cuts(text: str) -> Iterator[int]:
    for match in _SENTENCE_END.finditer(text):
        if not match["latin"] or _ends_a_sentence(text, match):
            yield match.end()


def _ends_a_sentence(text: str, mark: re.Match[str]) -> bool:
    following = _SPACE.match(text, mark.end())
    after = text[following.end() : following.end() + 1] if following else ""
    if after.islower():
        return False
    word = _LAST_WORD.search(text, max(0, mark.start() - 20), mark.start())
    if mark["latin"] != "." or not word:
        return True
    is_number_of_a_paragraph = word.start() == 0 and word[0].isdigit()
    return not (is_number_of_a_paragraph or _ABBREVIATION.fullmatch(word[0]))


def _cut(text: str, start: int, end: int, cuts: Iterable[int]) -> list[Span]:
    spans = []
    for cut in (*cuts, end):
        while start < cut and text[start].isspace():
            start += 1
        stop = cut
        while start < stop and text[stop - 1].isspace():
            stop -= 1
        if start < stop:
            spans.append((start, stop))
        start = cut
    return spans
