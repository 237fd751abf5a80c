"""Text in lines of a given width, for a drawing in which nothing else can break lines.

Widths are estimates in pixels at 14 px, on the wide side of common system fonts. Chinese, Japanese
and Korean break between any two characters, but no line begins with a closing mark.
"""

import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, pairwise

ELLIPSIS = "…"
ZERO_WIDTH_JOINER = "\u200d"

_SLIM = frozenset("iljtfrI.,:;'!|()[]{}`-’‘ ")
_BROAD = frozenset("mwMW@%&—…")
_NOT_AT_LINE_START = frozenset(
    "。、，．？！：；）］｝〉》」』】〕…‥・ー々ゝゞァィゥェォッャュョぁぃぅぇぉっゃゅょ"
)
_SLIM_WIDTH, _BROAD_WIDTH, _CAPITAL_WIDTH, _OTHER_WIDTH, _WIDE_WIDTH = 5.0, 13.5, 10.5, 8.4, 15.0


def text_width(text: str) -> float:
    """The estimated width of a line in pixels; a cluster is as wide as its first character."""
    return sum([_character_width(cluster[0]) for cluster in _clusters(text)])


def base_direction(text: str) -> str:
    """ "rtl" or "ltr", by the first letter that has a direction, as `dir="auto"` decides."""
    for character in text:
        kind = unicodedata.bidirectional(character)
        if kind in {"R", "AL"}:
            return "rtl"
        if kind == "L":
            return "ltr"
    return "ltr"


def wrap(text: str, *, width: float, max_lines: int) -> tuple[str, ...]:
    """The text in at most `max_lines` lines, each no wider than `width`.

    White space counts as one space. What does not fit is cut off, which an ellipsis shows. A line
    of a single character may be wider.
    """
    lines = list(_lines(text, width))
    if len(lines) <= max_lines:
        return tuple(lines)
    return (*lines[: max_lines - 1], _cut(lines[max_lines - 1], width))


def _lines(text: str, width: float) -> Iterator[str]:
    line, used = "", 0.0
    for space, unit in _units(text):
        needed = text_width(unit)
        gap = _SLIM_WIDTH if space else 0.0
        if line and used + gap + needed > width:
            yield line
            line, used = "", 0.0
        line, used = (f"{line}{space}{unit}", used + gap + needed) if line else (unit, needed)
        while used > width and len(clusters := _clusters(line)) > 1:
            head = _fitting(clusters, width)
            yield head
            line = line[len(head) :]
            used = text_width(line)
    if line:
        yield line


def _units(text: str) -> Iterator[tuple[str, str]]:
    """What must not be broken, each with the space before it: words, or single wide characters."""
    for word in text.split():
        space, unit = " ", ""
        clusters = _clusters(word)
        for cluster, following in pairwise([*clusters, ""]):
            unit += cluster
            if not following or _may_break(cluster, following):
                yield space, unit
                space, unit = "", ""


def _may_break(cluster: str, following: str) -> bool:
    between_wide = _is_wide(cluster[0]) or _is_wide(following[0])
    return between_wide and following[0] not in _NOT_AT_LINE_START


def _cut(line: str, width: float) -> str:
    clusters = _clusters(line)
    while clusters and text_width("".join(clusters) + ELLIPSIS) > width:
        clusters.pop()
    return "".join(clusters).rstrip() + ELLIPSIS


def _fitting(clusters: list[str], width: float) -> str:
    """As many clusters from the start as the width has room for, at least one."""
    ends = accumulate(_character_width(cluster[0]) for cluster in clusters)
    return "".join(clusters[: max(1, sum(end <= width for end in ends))])


def _clusters(text: str) -> list[str]:
    """What a reader takes for one character: accents, joined emoji and skin tones stay together."""
    if text.isascii():
        return list(text)
    clusters: list[str] = []
    for character in text:
        if clusters and (_extends(character) or clusters[-1].endswith(ZERO_WIDTH_JOINER)):
            clusters[-1] += character
        else:
            clusters.append(character)
    return clusters


def _extends(character: str) -> bool:
    is_skin_tone = "\U0001f3fb" <= character <= "\U0001f3ff"
    return is_skin_tone or unicodedata.category(character) in {"Mn", "Me", "Mc", "Cf"}


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in {"W", "F"}


@cache
def _character_width(character: str) -> float:
    if character in _SLIM:
        return _SLIM_WIDTH
    if character in _BROAD:
        return _BROAD_WIDTH
    if _is_wide(character) or unicodedata.category(character) == "So":
        return _WIDE_WIDTH
    return _CAPITAL_WIDTH if character.isupper() else _OTHER_WIDTH
