"""Hints on a first question while it is written. They never forbid anything.

A first question is to be underspecified: it can be answered with Yes or No, but not before one
has asked the person back. The rule text alone must not answer it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from apps.snippets.domain.blocks import Kind
from apps.snippets.domain.folding import fold
from apps.snippets.domain.markdown import markdown_blocks
from apps.snippets.domain.sentences import sentences
from apps.snippets.domain.similarity import terms
from apps.snippets.domain.words import is_english


class Code(StrEnum):
    NO_QUESTION_MARK = "no question mark"
    ANSWERED_OUTRIGHT = "the rule text answers it outright"
    NOT_YES_OR_NO = "not a question of yes or no"
    SAME_AS_EXISTING = "the same as an existing question"
    CLOSE_TO_EXISTING = "close to an existing question"


@dataclass(frozen=True, slots=True)
class Hint:
    """`about` is the sentence, the first word or the question that the hint points to."""

    code: Code
    about: str = ""


def hints(
    question: str, rule_text: str, existing_questions: Iterable[str], language: str
) -> list[Hint]:
    """What to think about, at most one hint of each code. None for a question without a word.

    `language` is a BCP 47 tag, or empty; what depends on words is said in English only.
    """
    spoken = language.lower().partition("-")[0]
    if not fold(question):
        return []
    found = [_mark(question, spoken), _first_word(question, language)]
    found.append(_answered(question, rule_text))
    found.append(_existing(question, existing_questions))
    return [hint for hint in found if hint]


# Full width; Arabic; Greek, which looks like a semicolon; Armenian; Ethiopic.
_MARKS = "?？؟\u037e՞፧⁇⁈⁉‽"
_OTHER_ENDS = {"el": ";", "ja": "か"}
_WITHOUT_MARK = {"th", "lo", "my"}
_WH_WORDS = {"what", "which", "who", "whom", "whose", "when", "where", "why", "how"}
_CONDITIONS = {"if", "unless", "when", "except", "provided", "depends"}
_FUNCTION_WORDS = {
    "a", "an", "and", "any", "are", "be", "been", "by", "can", "could", "did", "do", "does", "for",
    "from", "had", "has", "have", "i", "if", "in", "is", "it", "its", "may", "me", "might", "must",
    "my", "of", "on", "or", "our", "should", "so", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "was", "we", "were", "will", "with", "would", "you",
    "your",
}  # fmt: skip
_CLOSE = 0.6
"""Share of words that two texts have in common, of those in either."""


def _mark(question: str, spoken: str) -> Hint | None:
    has_mark = any(mark in question for mark in _MARKS)
    end = _OTHER_ENDS.get(spoken, "")
    has_other = bool(end) and question.rstrip(" .。\u3000").endswith(end)
    is_needed = spoken not in _WITHOUT_MARK
    return Hint(Code.NO_QUESTION_MARK) if is_needed and not has_mark and not has_other else None


def _first_word(question: str, language: str) -> Hint | None:
    word = fold(question).split()[0]
    is_told = word in _WH_WORDS and is_english(question, language)
    return Hint(Code.NOT_YES_OR_NO, word) if is_told else None


def _answered(question: str, rule_text: str) -> Hint | None:
    """A sentence with conditions, or with more to say than the question, is no answer yet."""
    return _closest(Code.ANSWERED_OUTRIGHT, question, _statements(rule_text))


def _statements(rule_text: str) -> Iterator[str]:
    texts = (block.text for block in markdown_blocks(rule_text) if block.kind != Kind.HEADING)
    for text in texts:
        for start, end in sentences(text):
            sentence = text[start:end]
            if not sentence.endswith((":", "：")) and _CONDITIONS.isdisjoint(terms(sentence)):
                yield sentence


def _existing(question: str, existing_questions: Iterable[str]) -> Hint | None:
    existing = list(existing_questions)
    same = next((other for other in existing if fold(other) == fold(question)), None)
    if same is not None:
        return Hint(Code.SAME_AS_EXISTING, same)
    return _closest(Code.CLOSE_TO_EXISTING, question, existing)


def _closest(code: Code, question: str, others: Iterable[str]) -> Hint | None:
    asked = _words(question)
    share, closest = max(
        ((_share(asked, _words(other)), other) for other in others), default=(0.0, "")
    )
    return Hint(code, closest) if share >= _CLOSE else None


def _share(ours: frozenset[str], theirs: frozenset[str]) -> float:
    either = ours | theirs
    return len(ours & theirs) / len(either) if either else 0.0


def _words(text: str) -> frozenset[str]:
    """The words that say what it is about."""
    words = set(terms(text))
    return frozenset(words - _FUNCTION_WORDS or words)
