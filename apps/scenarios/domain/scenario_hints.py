"""Hints on a scenario while it is written. They never forbid anything.

A good scenario tells a person's situation in words of its own: all that was shown follows from it,
none of it is copied, and the first question is neither asked nor answered.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from apps.scenarios.domain.other_language import other_language
from apps.snippets.domain.folding import fold
from apps.snippets.domain.similarity import near_among_few, terms
from apps.snippets.domain.words import UNSPACED, count_words, is_english, tokens

SHORTEST, LONGEST = 6, 120
"""Words, as `count_words` counts them."""
COPIED = 4.0
"""Words in a row that are found in a question, too; letters count half where words are written
together."""
PASTED = 30
"""Characters."""
_LEAST = 1e-6
"""Any cosine that is not 0."""


class ScenarioCode(StrEnum):
    COPIES = "copies a question"
    ASKS = "asks the first question"
    ANSWERS = "states the final answer"
    SHORT = "very short"
    LONG = "very long"
    NO_FACT = "mentions none of the facts"
    PASTED = "pasted"
    OTHER_SCRIPT = "another script"
    OTHER_LANGUAGE = "another language"


@dataclass(frozen=True, slots=True)
class ScenarioHint:
    """`about` is the part of the text, or the question, that the hint points to."""

    code: ScenarioCode
    about: str = ""

    @property
    def sentence(self) -> str:
        """What is the matter and what to do. Ends with a colon where `about` is to follow."""
        return _SENTENCES[self.code]


_SENTENCES = {
    ScenarioCode.COPIES: "These words stand in a question. Say it in words of your own:",
    ScenarioCode.ASKS: (
        "This asks what the person wants to know. Tell only their situation, and leave this out:"
    ),
    ScenarioCode.ANSWERS: (
        "This gives the final answer away. Tell what is so, and let the rule decide; leave out:"
    ),
    ScenarioCode.SHORT: "This is very short. Tell enough for all that is shown to follow from it.",
    ScenarioCode.LONG: "This is very long. Tell what is shown, in a few sentences.",
    ScenarioCode.NO_FACT: (
        "No word of it has to do with what is shown. Other words are wanted, but make sure that"
        " all of it follows from your text."
    ),
    ScenarioCode.PASTED: (
        "Part of this was pasted. Write it yourself: no text from elsewhere, and none that a"
        " program wrote."
    ),
    ScenarioCode.OTHER_SCRIPT: (
        "This is in another script than the project’s language. Write it in that language."
    ),
    ScenarioCode.OTHER_LANGUAGE: (
        "This seems to be in another language than the rule. Write it in the rule’s language."
    ),
}


def scenario_hints(
    text: str, *, shown: Sequence[str], first_question: str, language: str, pasted: int = 0
) -> list[ScenarioHint]:
    """What to think about, at most one hint of each code. None for a text without a word.

    `shown` are the questions that the scenario is written on. `language` is a BCP 47 tag, or
    empty. `pasted` counts the characters that came from the clipboard.
    """
    if not fold(text):
        return []
    found = [
        *_copies(text, shown), _asks(text, first_question),
        _answers(text, first_question, language), _length(text), _no_fact(text, shown),
        _script(text, language), _language(text, language),
    ]  # fmt: skip
    if pasted >= PASTED:
        found.append(ScenarioHint(ScenarioCode.PASTED))
    return [hint for hint in found if hint]


# Words that stand in a question ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Word:
    folded: str
    start: int
    end: int

    @property
    def weight(self) -> float:
        is_letter = len(self.folded) == 1 and _UNSPACED.match(self.folded)
        return 0.5 if is_letter else 1.0


_UNSPACED = re.compile(f"[{UNSPACED}]")


def copied_spans(text: str, questions: Iterable[str]) -> list[tuple[int, int]]:
    """Where words in a row stand in one of the questions, too: start and end in code points.

    In order; spans neither overlap nor touch. A question that is shorter than the least run counts
    when all of it is there.
    """
    ours = _words(text)
    marked: set[int] = set()
    for question in questions:
        theirs = _words(question)
        least = min(COPIED, sum(word.weight for word in theirs))
        for start in range(len(ours)):
            length = _longest_run(ours[start : start + len(theirs)], theirs)
            run = ours[start : start + length]
            if length and sum(word.weight for word in run) >= least:
                marked.update(range(start, start + length))
    return _spans([(ours[number].start, ours[number].end, number) for number in sorted(marked)])


def _words(text: str) -> list[_Word]:
    found = (_word(token[0], token.start()) for token in tokens(text))
    return [word for word in found if word.folded]


def _word(token: str, start: int) -> _Word:
    """Without the quotes and stops around it."""
    kept = [number for number, letter in enumerate(token) if fold(letter)] or [0]
    return _Word(fold(token), start + kept[0], start + kept[-1] + 1)


def _longest_run(ours: Sequence[_Word], theirs: Sequence[_Word]) -> int:
    """How many words from the first of `ours` on stand in a row somewhere in `theirs`."""
    return max((_same(ours, theirs[start:]) for start in range(len(theirs))), default=0)


def _same(ours: Sequence[_Word], theirs: Sequence[_Word]) -> int:
    pairs = zip(ours, theirs, strict=False)
    differing = (number for number, (a, b) in enumerate(pairs) if a.folded != b.folded)
    return next(differing, min(len(ours), len(theirs)))


def _spans(words: Iterable[tuple[int, int, int]]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    last = -2
    for start, end, number in words:
        if number == last + 1:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
        last = number
    return spans


def _copies(text: str, shown: Sequence[str]) -> Iterator[ScenarioHint]:
    spans = copied_spans(text, shown)
    if spans:
        start, end = max(spans, key=lambda span: span[1] - span[0])
        yield ScenarioHint(ScenarioCode.COPIES, text[start:end])


# The first question, and its answer -------------------------------------------------------------

_PERSONS = {"i": "you", "my": "your", "me": "you", "we": "you", "our": "your"}
_SAYS_SO = re.compile(
    r"\b(?:(?:i|we) (?:am|are|m|re|should be|will be|would be) (?:not )?"
    r"(?:eligible|ineligible|entitled|qualified)|(?:i|we) (?:do not |don t |can t |cannot )?qualify"
    r"|(?:the|my) answer (?:is|would be|will be) (?:yes|no))\b"
)


def _asks(text: str, first_question: str) -> ScenarioHint | None:
    asked = _person(fold(first_question))
    is_asked = bool(asked) and f" {asked} " in f" {_person(fold(text))} "
    return ScenarioHint(ScenarioCode.ASKS, first_question) if is_asked else None


def _person(folded: str) -> str:
    """The same for "Can I …" and "Can you …"."""
    return " ".join(_PERSONS.get(word, word) for word in folded.split())


def _answers(text: str, first_question: str, language: str) -> ScenarioHint | None:
    """In English only: "Can I claim it?" is answered by "I can claim", "I can not claim"."""
    if not is_english(text, language):
        return None
    told = fold(text)
    if found := _SAYS_SO.search(told):
        return ScenarioHint(ScenarioCode.ANSWERS, _as_written(text, found[0]))
    asked = fold(first_question).split()
    if len(asked) < 3 or asked[1] not in {"i", "we"}:
        return None
    verb = re.escape(" ".join(asked[2:4]))
    said = re.search(rf"\b{asked[1]} {re.escape(asked[0])}(?: not|not)? {verb}\b", told)
    return ScenarioHint(ScenarioCode.ANSWERS, _as_written(text, said[0])) if said else None


def _as_written(text: str, folded: str) -> str:
    """The words of the text that these folded ones are; themselves, where they are parts of its."""
    words = [(part, word) for word in _words(text) for part in word.folded.split()]
    wanted = folded.split()
    spans = (words[start : start + len(wanted)] for start in range(len(words)))
    same = (span for span in spans if [part for part, _ in span] == wanted)
    return next((text[span[0][1].start : span[-1][1].end] for span in same), folded)


# Length, facts, script --------------------------------------------------------------------------


def _length(text: str) -> ScenarioHint | None:
    words = count_words(text)
    if words < SHORTEST:
        return ScenarioHint(ScenarioCode.SHORT)
    return ScenarioHint(ScenarioCode.LONG) if words > LONGEST else None


_FUNCTION_WORDS = {
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but",
    "by", "can", "could", "did", "do", "does", "for", "from", "had", "has", "have", "he", "her",
    "his", "i", "if", "in", "is", "it", "its", "just", "m", "me", "my", "no", "not", "of", "on",
    "or", "our", "re", "s", "she", "so", "t", "that", "the", "their", "them", "there", "they",
    "this", "to", "ve", "was", "we", "were", "will", "with", "would", "you", "your",
}  # fmt: skip
_STEM = 5
"""Letters that two words of one stem begin with: employed, employees."""


def _no_fact(text: str, shown: Sequence[str]) -> ScenarioHint | None:
    """Whether the TF-IDF vectors of the text and of each shown question have nothing in common."""
    ours, theirs = _stems(text), [_stems(question) for question in shown]
    if not ours or not any(theirs):
        return None
    pairs = near_among_few([*theirs, ours], _LEAST)
    is_near = any(later == len(theirs) for _, later, _ in pairs)
    return None if is_near else ScenarioHint(ScenarioCode.NO_FACT)


def _stems(text: str) -> str:
    """The words that say what it is about: one for "employed" and "employees"."""
    words = (term for term in terms(text) if term not in _FUNCTION_WORDS)
    return " ".join(word.removesuffix("s")[:_STEM] for word in words)


_LATIN = ("LATIN",)
_SCRIPTS = {
    "ar": ("ARABIC",), "fa": ("ARABIC",), "ur": ("ARABIC",), "he": ("HEBREW",), "yi": ("HEBREW",),
    "bg": ("CYRILLIC",), "be": ("CYRILLIC",), "mk": ("CYRILLIC",), "ru": ("CYRILLIC",),
    "uk": ("CYRILLIC",), "el": ("GREEK",), "hy": ("ARMENIAN",), "ka": ("GEORGIAN",),
    "am": ("ETHIOPIC",), "ti": ("ETHIOPIC",), "hi": ("DEVANAGARI",), "mr": ("DEVANAGARI",),
    "ne": ("DEVANAGARI",), "bn": ("BENGALI",), "pa": ("GURMUKHI", "ARABIC"), "gu": ("GUJARATI",),
    "ta": ("TAMIL",), "te": ("TELUGU",), "kn": ("KANNADA",), "ml": ("MALAYALAM",),
    "si": ("SINHALA",), "th": ("THAI",), "lo": ("LAO",), "my": ("MYANMAR",), "km": ("KHMER",),
    "ja": ("HIRAGANA", "KATAKANA", "CJK"), "zh": ("CJK", "BOPOMOFO"), "ko": ("HANGUL", "CJK"),
    **dict.fromkeys(
        ("af", "ca", "cs", "cy", "da", "de", "en", "es", "et", "eu", "fi", "fr", "ga", "gl", "hr",
         "hu", "id", "is", "it", "lt", "lv", "ms", "mt", "nb", "nl", "nn", "no", "pl", "pt", "ro",
         "sk", "sl", "sq", "sv", "sw", "tl", "tr", "vi"), _LATIN,
    ),
}  # fmt: skip
"""By language: the scripts that it is written in, as Unicode names its letters. Languages with
more than one usual script, and those that are not here, are not looked at."""


def _script(text: str, language: str) -> ScenarioHint | None:
    """Whether most letters are of another script. A tag that names its script is not looked at."""
    tag = language.lower().split("-")
    expected = _SCRIPTS.get(tag[0])
    if expected is None or any(len(part) == 4 and part.isalpha() for part in tag[1:]):
        return None
    letters = Counter(
        unicodedata.name(letter, "").startswith(expected) for letter in text if letter.isalpha()
    )
    is_other = letters[False] > letters[True]
    return ScenarioHint(ScenarioCode.OTHER_SCRIPT) if is_other else None


def _language(text: str, language: str) -> ScenarioHint | None:
    return ScenarioHint(ScenarioCode.OTHER_LANGUAGE) if other_language(text, language) else None
