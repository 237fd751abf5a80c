"""ShARC's measures (Saeidi et al. 2018, section 5): accuracy over four classes, and BLEU.

As its public evaluator: an answer that is not Yes, No or Irrelevant asks for more; micro accuracy
is the share of right classes, macro accuracy the mean over the gold file's classes; BLEU is over
the utterances where both gold and prediction ask something, smoothed (Lin and Och 2004). Tokens are
those of spaCy's English rules, as there (english_tokens.py).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from apps.exports.domain.english_tokens import tokens

LABELS = ("yes", "no", "more", "irrelevant")
MOST_WORDS = 4
"""Of the word groups that BLEU compares."""

Tokens = tuple[str, ...]


@dataclass(frozen=True)
class Scores:
    """Shares from 0 to 1. `macro` is None where the gold answers lack a class of `LABELS`.

    `by_class` has the share of right ones of each class that is there, `follow_ups` how many
    utterances BLEU is over, `bleu` BLEU-1 to BLEU-4.
    """

    count: int
    micro: float
    macro: float | None
    by_class: Mapping[str, float]
    follow_ups: int
    bleu: tuple[float, ...]


def evaluate(pairs: Iterable[tuple[str, str]]) -> Scores:
    """Of pairs of gold and predicted answers; at least one."""
    cut = [(tokenize(gold), tokenize(predicted)) for gold, predicted in pairs]
    classes = [(class_of(gold), class_of(predicted)) for gold, predicted in cut]
    total = Counter(gold for gold, _ in classes)
    right = Counter(gold for gold, predicted in classes if gold == predicted)
    by_class = {label: right[label] / total[label] for label in LABELS if total[label]}
    asked = [pair for pair in cut if all(map(_asks, pair))]
    return Scores(
        count=len(classes),
        micro=right.total() / len(classes),
        macro=sum(by_class.values()) / len(LABELS) if len(by_class) == len(LABELS) else None,
        by_class=by_class,
        follow_ups=len(asked),
        bleu=tuple(bleu(asked, order) for order in range(1, MOST_WORDS + 1)),
    )


def tokenize(text: str) -> Tokens:
    return tuple(token.lower() for token in tokens(text))


def class_of(answer: Tokens) -> str:
    """Of a tokenized answer; the word More is one, too."""
    return answer[0] if len(answer) == 1 and answer[0] in LABELS else "more"


def _asks(answer: Tokens) -> bool:
    """Says what to ask, and not only that it asks: the word More is no question."""
    return not (len(answer) == 1 and answer[0] in LABELS)


def bleu(pairs: Sequence[tuple[Tokens, Tokens]], order: int) -> float:
    """Of pairs of reference and translation, with word groups of up to `order`; 0 for none."""
    reference = sum(len(gold) for gold, _ in pairs)
    length = sum(len(predicted) for _, predicted in pairs)
    if not reference or not length:
        return 0.0
    precisions = [_precision(pairs, size) for size in range(1, order + 1)]
    mean = math.exp(sum(map(math.log, precisions)) / order)
    brevity = min(1.0, math.exp(1 - reference / length))
    return mean * brevity


def _precision(pairs: Iterable[tuple[Tokens, Tokens]], size: int) -> float:
    matches = possible = 0
    for gold, predicted in pairs:
        matches += (_groups(gold, size) & _groups(predicted, size)).total()
        possible += max(0, len(predicted) - size + 1)
    return (matches + 1) / (possible + 1)


def _groups(tokens: Tokens, size: int) -> Counter[Tokens]:
    return Counter(tokens[start : start + size] for start in range(len(tokens) - size + 1))
