"""Folding: when two texts count as the same question or the same rule text.

The public ShARC data spell one follow-up question with and without its question mark, or with
another quote. Folded texts are compared and never shown, stored or exported.
"""

import unicodedata
from functools import lru_cache

ZERO_WIDTH_SPACE = "\u200b"
VARIATION_SELECTORS = ("VARIATION SELECTOR", "MONGOLIAN FREE VARIATION SELECTOR")


# The same few thousand questions are compared again and again.
@lru_cache(maxsize=1 << 16)
def fold(text: str) -> str:
    """Lower case, with everything but letters, digits and their combining marks as one space.

    Texts that look alike fold alike: composed and decomposed accents, a soft hyphen, the joiners
    of Persian and Hindi. Idempotent. A text without any letter or digit folds to "".
    """
    # Separators go first: Python's lower case of a sigma looks past an apostrophe, not a space.
    words = unicodedata.normalize("NFC", text).translate(_FOLDED).lower()
    # Lower case and the removal of joiners can bring together what NFC composes: once more.
    return " ".join(unicodedata.normalize("NFC", words).split())


class _FoldedCharacters(dict[int, str]):
    """A table for `str.translate` that looks each character up once and remembers it."""

    def __missing__(self, code_point: int) -> str:
        self[code_point] = folded = _fold_character(chr(code_point))
        return folded


_FOLDED = _FoldedCharacters()


def _fold_character(character: str) -> str:
    if _is_invisible(character):
        return ""
    # Vowel signs of Hindi and Arabic are marks: dropping them would make other words of them.
    is_kept = character.isalnum() or unicodedata.category(character).startswith("M")
    return character if is_kept else " "


def _is_invisible(character: str) -> bool:
    """Joiners, direction marks and variation selectors; not the zero-width space, a separator."""
    if unicodedata.category(character) == "Cf":
        return character != ZERO_WIDTH_SPACE
    return unicodedata.name(character, "").startswith(VARIATION_SELECTORS)
