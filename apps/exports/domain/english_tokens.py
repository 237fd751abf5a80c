"""English text cut into tokens as spaCy's rules cut it (its English tokenizer, version 3).

The public evaluator of ShARC counts words as that library does. Its rules are few: a piece between
blanks is cut at known words (contractions, abbreviations), else punctuation comes off both ends
until nothing does, and the rest is cut between letters and signs. Emoticons and addresses, which
it knows as well, are cut like anything else here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_PUNCT = r"…|,|:|;|!|\?|¿|¡|\(|\)|\[|\]|\{|\}|<|>|_|#|\*|&|。|？|！|，|、|；|：|～|·|।|؟|،|؛|۔|٪"
_QUOTES = "'\"”“`‘´’‚„»«"
_DOTS = r"\.\.+|…"
_MONEY = r"\$|£|€|¥|฿|US\$|C\$|A\$|₽|₴|₠|₹|₩"
_UNITS = (
    "km|km²|km³|m|m²|m³|dm|dm²|dm³|cm|cm²|cm³|mm|mm²|mm³|ha|µm|nm|yd|in|ft|kg|g|mg|µg|t|lb|oz|m/s|"
    "km/h|kmh|mph|hPa|Pa|mbar|mb|MB|kb|KB|gb|GB|tb|TB|T|G|M|K|%"
)
_HYPHENS = r"---|--|——|-|–|—|~"
# Scripts without capitals count as small letters: Hebrew, Arabic, Devanagari, kana, Han, Hangul.
_SMALL = "\u0591-\u05f4\u0620-\u06d5\u0900-\u0963\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_LOWER, _UPPER = f"a-zß-öø-ÿα-ωа-яё{_SMALL}", "A-ZÀ-ÖØ-ÞΑ-ΩА-ЯЁ"
_LETTER = _LOWER + _UPPER

_PREFIX = re.compile(rf"§|%|=|—|–|\+(?![0-9])|{_PUNCT}|{_DOTS}|[{_QUOTES}]|{_MONEY}")
_SUFFIX = re.compile(
    rf"(?:{_PUNCT}|{_DOTS}|[{_QUOTES}]|['’][sS]|—|–|(?<=[0-9])\+|(?<=[0-9])(?:{_MONEY})"
    rf"|(?<=[0-9])(?:{_UNITS})|(?<=[0-9{_LOWER}%²\-+{_QUOTES})\]}}>!?:;,&])\."
    rf"|(?<=[{_UPPER}][{_UPPER}])\.)\Z"
)
_INFIX = re.compile(
    rf"{_DOTS}|(?<=[0-9])[+\-*^](?=[0-9-])|(?<=[{_LOWER}{_QUOTES}])\.(?=[{_UPPER}{_QUOTES}])"
    rf"|(?<=[{_LETTER}]),(?=[{_LETTER}])|(?<=[{_LETTER}0-9])(?:{_HYPHENS})(?=[{_LETTER}])"
    rf"|(?<=[{_LETTER}0-9])[:<>=/](?=[{_LETTER}])"
)

# Contractions: what stands before, and what may follow, with and without an apostrophe.
_PRONOUNS = {
    "i": ("m", "ll", "ve", "d"), "you": ("ll", "re", "ve", "d"), "he": ("s", "ll", "d"),
    "she": ("s", "ll", "d"), "it": ("s", "ll", "d"), "we": ("re", "ll", "ve", "d"),
    "they": ("re", "ll", "ve", "d"),
}  # fmt: skip
_ASKING = ("who", "what", "when", "where", "why", "how", "there", "that")
_ASKED = ("s", "ll", "d", "re", "ve")
_NEGATED = (
    "ai", "are", "ca", "could", "dare", "did", "do", "does", "had", "has", "have", "is", "may",
    "might", "must", "need", "ought", "sha", "should", "was", "were", "wo", "would",
)  # fmt: skip
_HAVING = ("could", "might", "must", "should", "would")
_OTHER_WORDS = {"ill", "its", "hell", "shell", "shed", "were", "well", "whore", "id", "wed"}
_WHOLE = (
    "'s", "’s", "'S", "’S", "and/or", "a.m.", "Adm.", "Bros.", "co.", "Co.", "Corp.", "D.C.",
    "Dr.", "e.g.", "E.g.", "E.G.", "Gen.", "Gov.", "i.e.", "I.e.", "I.E.", "Inc.", "Jr.", "Ltd.",
    "Md.", "Messrs.", "Mo.", "Mont.", "Mr.", "Mrs.", "Ms.", "p.m.", "Ph.D.", "Prof.", "Rep.",
    "Rev.", "Sen.", "St.", "vs.", "v.s.", "Jan.",
    "Feb.", "Mar.", "Apr.", "Jun.", "Jul.", "Aug.", "Sep.", "Sept.", "Oct.", "Nov.", "Dec.",
)  # fmt: skip


def tokens(text: str) -> Iterator[str]:
    """In order, as they are written; blanks are no tokens."""
    for piece in text.split():
        yield from _cut(piece)


@lru_cache(maxsize=50_000)
def _cut(piece: str) -> tuple[str, ...]:
    before: list[str] = []
    after: list[str] = []
    while piece and piece not in _KNOWN:
        prefix, suffix = _ends(piece)
        if not prefix and not suffix:
            break
        rest = piece[len(prefix) : len(piece) - len(suffix)]
        if prefix and piece[len(prefix) :] in _KNOWN:
            suffix, rest = "", piece[len(prefix) :]
        elif suffix and piece[: len(piece) - len(suffix)] in _KNOWN:
            prefix, rest = "", piece[: len(piece) - len(suffix)]
        before += [prefix] if prefix else []
        after += [suffix] if suffix else []
        piece = rest
    return (*before, *_inside(piece), *reversed(after))


def _ends(piece: str) -> tuple[str, str]:
    found = _PREFIX.match(piece)
    prefix = found[0] if found else ""
    found = _SUFFIX.search(piece, len(prefix))
    return prefix, found[0] if found else ""


def _inside(piece: str) -> tuple[str, ...]:
    if piece in _KNOWN:
        return _KNOWN[piece]
    parts, start = [], 0
    for found in _INFIX.finditer(piece):
        parts += [piece[start : found.start()], found[0]]
        start = found.end()
    return tuple(part for part in (*parts, piece[start:]) if part)


def _known() -> Iterator[tuple[str, ...]]:
    """The words that are cut, or kept, in their own way: their parts."""
    for word, ends in _PRONOUNS.items():
        yield from ((word, f"{mark}{end}") for end in ends for mark in ("'", "’", ""))
    for word in _ASKING:
        yield from ((word, f"{mark}{end}") for end in _ASKED for mark in ("'", "’", ""))
    for word in _NEGATED:
        yield from ((word, end) for end in ("n't", "n’t", "nt"))
    for word in _HAVING:
        yield from ((word, f"{mark}ve") for mark in ("'", "’", ""))
    yield from (("can", "not"), ("gon", "na"), ("got", "ta"), ("let", "'s"), ("let", "’s"))
    yield from (("y'", "all"), ("y’", "all"))
    for hour in map(str, range(1, 13)):
        yield from ((hour, half) for half in ("am", "pm", "a.m.", "p.m."))
    yield from ((f"{letter}.",) for letter in "abcdefghijklmnopqrstuvwxyz")


def _capital(parts: tuple[str, ...]) -> tuple[str, ...]:
    return (parts[0][:1].upper() + parts[0][1:], *parts[1:])


_KNOWN = {
    "".join(written): written
    for parts in _known()
    for written in (parts, _capital(parts))
    if "".join(parts) not in _OTHER_WORDS
} | {word: (word,) for word in _WHOLE}
