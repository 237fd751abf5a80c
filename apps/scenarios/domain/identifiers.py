"""Public ids of utterances: the same content always gets the same id."""

from collections.abc import Iterable
from hashlib import sha1

from apps.trees.domain.tree import Turn


def utterance_id(
    rule_text: str, question: str, scenario: str, history: Iterable[Turn], answer: str
) -> str:
    """40 hex digits: SHA-1 of the UTF-8 of all parts, joined without a separator.

    ShARC's own formula, found by recomputing its dev set. Evidence is not a part of it: utterances
    that differ in evidence only are one utterance.
    """
    told = "".join(turn.follow_up_question + turn.follow_up_answer for turn in history)
    content = rule_text + question + scenario + told + answer
    return sha1(content.encode(), usedforsecurity=False).hexdigest()
