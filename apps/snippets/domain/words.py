"""Counting words, so that one limit works for every script.

Where words stand between spaces, a word is what stands between spaces and has a letter or a digit
in it. Japanese, Chinese, Thai, Lao, Khmer and Burmese write without spaces: there, each letter
counts as a word.
"""

import re
import unicodedata
from collections.abc import Iterator

LONGEST_WORD = 50
"""A run without spaces that is longer counts as several words: a limit holds for junk too."""

UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Burmese
    "\u1780-\u17ff"  # Khmer
    "\u2e80-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
    "\U00020000-\U0003ffff"  # Chinese characters, Japanese syllables, their punctuation
)
"""Ranges of a regular expression's character class."""

# The full stops of Hindi and Ethiopic end a word even where no space follows.
_ALONE = UNSPACED + "।॥።"
_TOKEN = re.compile(rf"[{_ALONE}]|[^\s{_ALONE}]{{1,{LONGEST_WORD}}}")


def tokens(text: str) -> Iterator[re.Match[str]]:
    """What cannot be cut further without cutting a word; punctuation marks among them.

    Counts add up: `text` cut before any token has as many words as its parts together.
    """
    return _TOKEN.finditer(text)


def is_word(token: str) -> bool:
    """Marks of Thai or Burmese vowels are not letters, and count with the letter below them."""
    return token.isalnum() or any(map(str.isalnum, token))


def count_words(text: str) -> int:
    return sum(map(is_word, _TOKEN.findall(text)))


def has_words(text: str) -> bool:
    return any(map(str.isalnum, text))


def is_english(text: str, language: str) -> bool:
    """Whether what depends on English words can be said about the text.

    `language` is a BCP 47 tag, or empty. A project in English has rule texts in other languages,
    too, and what is mostly in another script is in none of its words.
    """
    if language.lower().partition("-")[0] != "en":
        return False
    letters = [one for one in text if one.isalpha()]
    latin = sum(unicodedata.name(one, "").startswith("LATIN") for one in letters)
    return 2 * latin >= len(letters)
