"""1-of-100 accuracy (Henderson et al. 2019): how often a context finds its own response.

Examples are drawn into batches of 100 by a seed. In a batch each context ranks the 100 responses by
the words that they share; it is right when its own comes first, and nothing else does.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

BATCH = 100
_K1, _B = 1.2, 0.75  # as Robertson and Zaragoza 2009 recommend
_WORD = re.compile(r"\w+")

Example = tuple[str, str]
"""Context and response."""
Words = Counter[str]
Weigh = Callable[[Words], Mapping[str, float]]


def words(text: str) -> Words:
    return Counter(_WORD.findall(text.lower()))


def accuracy(examples: Iterable[Example], weigh: Weigh, seed: int) -> float | None:
    """The share of contexts that find their response; None with fewer than 100 examples."""
    right = batches = 0
    for batch in _batches(list(examples), seed):
        responses = [weigh(words(response)) for _, response in batch]
        asked = [words(context) for context, _ in batch]
        right += sum(_finds(told, responses, own) for own, told in enumerate(asked))
        batches += 1
    return right / (batches * BATCH) if batches else None


def _batches(examples: list[Example], seed: int) -> Iterator[list[Example]]:
    random.Random(seed).shuffle(examples)  # noqa: S311
    for start in range(0, len(examples) - BATCH + 1, BATCH):
        yield examples[start : start + BATCH]


def _finds(told: Words, responses: Sequence[Mapping[str, float]], own: int) -> bool:
    scores = [_score(told, response) for response in responses]
    best = max(scores)
    return best > 0 and scores.index(best) == own


def _score(told: Words, response: Mapping[str, float]) -> float:
    return sum(weight * told[word] for word, weight in response.items() if word in told)


class Corpus:
    """How rare words are, in the responses of all examples."""

    def __init__(self, responses: Iterable[str]) -> None:
        self._documents: Counter[str] = Counter()
        self._count = self._length = 0
        for response in responses:
            found = words(response)
            self._documents.update(found.keys())
            self._length += found.total()
            self._count += 1

    def tf_idf(self, response: Words) -> Mapping[str, float]:
        """Weights of a response, of length 1; squared rarity, since contexts only have counts."""
        weights = {word: count * self._rarity(word) for word, count in response.items()}
        length = math.sqrt(sum(weight**2 for weight in weights.values())) or 1.0
        return {word: weight * self._rarity(word) / length for word, weight in weights.items()}

    def _rarity(self, word: str) -> float:
        return math.log((1 + self._count) / (1 + self._documents[word])) + 1

    def bm25(self, response: Words) -> Mapping[str, float]:
        mean = self._length / max(1, self._count) or 1.0
        longer = _K1 * (1 - _B + _B * response.total() / mean)
        return {
            word: self._bm25_rarity(word) * count * (_K1 + 1) / (count + longer)
            for word, count in response.items()
        }

    def _bm25_rarity(self, word: str) -> float:
        here = self._documents[word]
        return math.log(1 + (self._count - here + 0.5) / (here + 0.5))
