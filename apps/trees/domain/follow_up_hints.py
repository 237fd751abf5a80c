"""Hints on a follow-up question while it is written. They never forbid anything.

A follow-up question asks one thing that the path has not asked yet, that the rule text makes the
answer depend on, and that the user answers with Yes or No.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from apps.snippets.domain import question_hints
from apps.snippets.domain.folding import fold
from apps.snippets.domain.similarity import near_among_few, terms
from apps.snippets.domain.words import count_words, has_words, is_english

LONGEST = 40
"""Words, as `count_words` counts them."""

Similar = Callable[[Sequence[str], float], Iterable[tuple[int, int, float]]]
"""Pairs of texts with a cosine of a threshold or more, as `near_among_few` gives them."""


class FollowUpCode(StrEnum):
    NO_QUESTION_MARK = "no question mark"
    NOT_YES_OR_NO = "not a question of yes or no"
    DOUBLE_NEGATION = "a double negation"
    TWO_QUESTIONS = "two questions in one"
    LONG = "very long"
    ALREADY_ASKED = "asked on this path already"
    CLOSE_TO_ASKED = "close to a question on this path"
    NOT_IN_RULE_TEXT = "no word of the rule text"


@dataclass(frozen=True, slots=True)
class FollowUpHint:
    """`about` is the part of the text, or the earlier question, that the hint points to."""

    code: FollowUpCode
    about: str = ""

    @property
    def sentence(self) -> str:
        """What is the matter and what to do. Ends with a colon where `about` is to follow."""
        return _SENTENCES[self.code]


_SENTENCES = {
    FollowUpCode.NO_QUESTION_MARK: "There is no question mark. Ask a question and end it with one.",
    FollowUpCode.NOT_YES_OR_NO: (
        "Yes or No may not answer it. Begin with a word like “Are”, “Do” or “Have” instead of:"
    ),
    FollowUpCode.TWO_QUESTIONS: (
        "These look like two questions. Ask one now; the other is a follow-up question of its own:"
    ),
    FollowUpCode.DOUBLE_NEGATION: (
        "Two negations are easily answered the wrong way round. Ask it without one of them:"
    ),
    FollowUpCode.LONG: "The question is very long. Ask for one condition, in few words.",
    FollowUpCode.ALREADY_ASKED: (
        "This has been asked and answered already. Ask something else, or give the final answer:"
    ),
    FollowUpCode.CLOSE_TO_ASKED: (
        "This is close to a question that has been answered already. Make sure that it asks"
        " something else:"
    ),
    FollowUpCode.NOT_IN_RULE_TEXT: (
        "No word of it is in the rule text. Ask for something that the rule text names."
    ),
}


def follow_up_hints(
    text: str,
    *,
    asked: Iterable[str],
    rule_text: str,
    language: str,
    threshold: float,
    similar: Similar = near_among_few,
) -> list[FollowUpHint]:
    """What to think about, at most one hint of each code. None for a text without a word.

    `asked` are the questions of the path so far. `threshold` is the TF-IDF cosine from which on
    two of them are close; 0 or less says that none is. `language` is a BCP 47 tag, or empty; what
    depends on words of grammar is said in English only.
    """
    if not fold(text):
        return []
    found = [_mark(text, language), *(_english(text) if is_english(text, language) else ())]
    found += [_two_questions(text, language), _long(text)]
    found += [_asked(text, list(asked), threshold, similar), _not_in_rule_text(text, rule_text)]
    return [hint for hint in found if hint]


_AUXILIARIES = {
    "am", "is", "are", "was", "were", "do", "does", "did", "have", "has", "had", "can", "could",
    "will", "would", "shall", "should", "must", "may", "might", "ought",
}  # fmt: skip
_CONTRACTED = {"cannot": "can", "can't": "can", "won't": "will", "shan't": "shall"}
_LINKS = {"and", "but", "or", "so", "then", "also", "now"}
_WH_WORDS = {"what", "which", "who", "whom", "whose", "why", "how"}
_LONGEST_LEAD_IN = 15
_LEAD_IN_END = re.compile(r"[,.:;–—\n]")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")

_MARKS = "?？؟\u037e՞፧⁇⁈⁉‽"
_MARK = re.compile(f"([{_MARKS}])")
_PRONOUN = "i|you|he|she|it|we|they|there|this|that|these|those"
# "bought and is the only one" goes on with one question; "and is it", "and does the" begin another.
_ANOTHER_QUESTION = re.compile(
    rf"\w\W+((?:and|or)\s+(?:(?:{'|'.join(sorted(_AUXILIARIES))})\s+(?:{_PRONOUN})\b"
    r"|(?:does|did|can|could|will|would|should)\s+(?:the|your|his|her|their|our|my|any|an?)\b))",
    re.IGNORECASE,
)

_NEGATIONS = {"not", "no", "never", "nobody", "nothing", "none", "without", "cannot"}
_NUMBERED = re.compile(r"\bno\.", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[,.;:!?()–—]|\b(?:and|or|but|if|unless|because|when)\b", re.IGNORECASE)
# Unable, unfit, uninsured; not under, unit, university, until, uncle, unless, unanimous.
_UN_WORD = re.compile(r"un(?!der|i(?!n|mp)|til|cle|less|anim)[a-z]{3,}")
_OTHER_NEGATIVE = {"illegal", "impossible", "incapable", "ineligible", "invalid"}

_FUNCTION_WORDS = _AUXILIARIES | {
    "a", "about", "after", "all", "also", "an", "and", "any", "as", "at", "be", "been",
    "before", "being", "by", "during", "else", "ever", "for", "from", "he", "her", "his", "i",
    "if", "in", "into", "it", "its", "me", "more", "my", "no", "not", "of", "off", "on", "once",
    "one", "or", "other", "our", "out", "over", "same", "she", "so", "some", "such", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to",
    "under", "until", "up", "us", "we", "what", "when", "where", "which", "while", "who",
    "with", "within", "without", "yes", "you", "your",
}  # fmt: skip
_STEM = 5
"""Letters that two words of one stem begin with: employed, employees."""


def _mark(text: str, language: str) -> FollowUpHint | None:
    found = question_hints.hints(text, "", (), language)
    is_missing = any(hint.code is question_hints.Code.NO_QUESTION_MARK for hint in found)
    return FollowUpHint(FollowUpCode.NO_QUESTION_MARK) if is_missing else None


def _english(text: str) -> Iterator[FollowUpHint | None]:
    plain = text.lower().replace("’", "'")
    if not _begins_as_yes_or_no(plain):
        yield FollowUpHint(FollowUpCode.NOT_YES_OR_NO, fold(text).split()[0])
    yield _double_negation(plain)


def _begins_as_yes_or_no(plain: str) -> bool:
    """Also after a short lead-in: "If you are ill, can you …"."""
    before: list[str] = []
    for piece in _LEAD_IN_END.split(plain):
        words = _WORD.findall(piece)
        if _is_auxiliary(next((word for word in words if word not in _LINKS), "")):
            return True
        before += words
        if len(before) > _LONGEST_LEAD_IN or not _WH_WORDS.isdisjoint(before[:1]):
            return False
    return False


def _is_auxiliary(word: str) -> bool:
    return _CONTRACTED.get(word, word.removesuffix("n't")) in _AUXILIARIES


def _double_negation(plain: str) -> FollowUpHint | None:
    """Within one clause: not … no, not … unable; not "unable … not", where each may stand alone."""
    for clause in _CLAUSE_END.split(_NUMBERED.sub(" ", plain)):
        words = iter(_WORD.findall(clause))
        first = next((word for word in words if _is_negation(word)), None)
        second = next((word for word in words if _is_negation(word) or _is_negative(word)), None)
        if first and second:
            return FollowUpHint(FollowUpCode.DOUBLE_NEGATION, f"{first} … {second}")
    return None


def _is_negation(word: str) -> bool:
    return word in _NEGATIONS or word.endswith("n't")


def _is_negative(word: str) -> bool:
    return word in _OTHER_NEGATIVE or _UN_WORD.fullmatch(word) is not None


def _two_questions(text: str, language: str) -> FollowUpHint | None:
    pieces = _MARK.split(text)
    with_marks = zip(pieces[::2], pieces[1::2], strict=False)  # what follows the last has none
    asked_out = [(part + mark).strip() for part, mark in with_marks if has_words(part)]
    if len(asked_out) > 1:
        return FollowUpHint(FollowUpCode.TWO_QUESTIONS, asked_out[1])
    another = _ANOTHER_QUESTION.search(text) if is_english(text, language) else None
    return FollowUpHint(FollowUpCode.TWO_QUESTIONS, another[1]) if another else None


def _long(text: str) -> FollowUpHint | None:
    return FollowUpHint(FollowUpCode.LONG) if count_words(text) > LONGEST else None


def _asked(
    text: str, asked: Sequence[str], threshold: float, similar: Similar
) -> FollowUpHint | None:
    same = next((question for question in asked if fold(question) == fold(text)), None)
    if same is not None:
        return FollowUpHint(FollowUpCode.ALREADY_ASKED, same)
    if not asked or threshold <= 0:
        return None
    pairs = similar([*asked, text], threshold)
    close = [(cosine, -earlier) for earlier, later, cosine in pairs if later == len(asked)]
    return FollowUpHint(FollowUpCode.CLOSE_TO_ASKED, asked[-max(close)[1]]) if close else None


def _not_in_rule_text(text: str, rule_text: str) -> FollowUpHint | None:
    """A text or rule text of words of grammar only says nothing about it."""
    asked, ruled = _stems(text), _stems(rule_text)
    is_apart = asked and ruled and asked.isdisjoint(ruled)
    return FollowUpHint(FollowUpCode.NOT_IN_RULE_TEXT) if is_apart else None


def _stems(text: str) -> set[str]:
    """Of the words that say what it is about: one for "employed" and "employees"."""
    return {term.removesuffix("s")[:_STEM] for term in terms(text) if term not in _FUNCTION_WORDS}
