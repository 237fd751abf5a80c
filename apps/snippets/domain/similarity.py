"""Texts that are nearly the same, by the words that they have in common."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from apps.snippets.domain.folding import fold
from apps.snippets.domain.words import UNSPACED

MOST_AT_ONCE = 2_000_000
"""Cosines held in memory at once, about 24 MB of them."""


_UNSPACED = re.compile(f"[{UNSPACED}]")


def terms(text: str) -> list[str]:
    """The words of `text` after folding; pairs of letters where words are written together."""
    return [term for word in fold(text).split() for term in _terms(word)]


def _terms(word: str) -> list[str]:
    if len(word) == 1 or not _UNSPACED.search(word):
        return [word]
    return [above + below for above, below in pairwise(word)]


def near_duplicates(
    texts: Sequence[str], threshold: float, *, most_at_once: int = MOST_AT_ONCE
) -> Iterator[tuple[int, int, float]]:
    """Pairs (i, j, cosine) with i < j and a cosine of `threshold` (over 0) or more, in order.

    The cosine is that of TF-IDF vectors over `terms`, as scikit-learn makes them. A text without a
    letter or a digit is like no other. Memory grows with the number of texts, not with its square.
    """
    if threshold <= 0:
        raise ValueError("with a threshold of 0, every pair would be a near-duplicate")
    terms_of_texts = [terms(text) for text in texts]
    if not any(terms_of_texts):
        return
    # Takes 0.9 s to import, and only this function needs it.
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

    vectors = TfidfVectorizer(analyzer=list, sublinear_tf=True).fit_transform(terms_of_texts)
    at_once = max(1, most_at_once // len(texts))
    for start in range(0, len(texts), at_once):
        cosines = (vectors[start : start + at_once] @ vectors[start:].T).tocoo()
        # The cosine of equal texts is 1 but for the last digits.
        is_pair = (cosines.data >= threshold - 1e-9) & (cosines.row < cosines.col)
        found = zip(cosines.row[is_pair], cosines.col[is_pair], cosines.data[is_pair], strict=True)
        for row, column, cosine in sorted(found):
            yield start + int(row), start + int(column), min(1.0, float(cosine))


def near_among_few(texts: Sequence[str], threshold: float) -> Iterator[tuple[int, int, float]]:
    """The same pairs as near_duplicates, without scikit-learn, whose import takes a second.

    For the texts of one page, while somebody types: the work grows with the square of their number.
    """
    vectors = _vectors([terms(text) for text in texts])
    for (i, one), (j, other) in combinations(enumerate(vectors), 2):
        cosine = sum(weight * other.get(term, 0.0) for term, weight in one.items())
        if cosine and cosine >= threshold - 1e-9:
            yield i, j, min(1.0, cosine)


def _vectors(texts: list[list[str]]) -> list[Mapping[str, float]]:
    """TF-IDF vectors of length 1 (no terms: of length 0), as scikit-learn defines them."""
    found_in = Counter(term for text in texts for term in set(text))
    rarity = {term: 1 + math.log((1 + len(texts)) / (1 + n)) for term, n in found_in.items()}
    return [_of_length_1(text, rarity) for text in texts]


def _of_length_1(text: list[str], rarity: Mapping[str, float]) -> Mapping[str, float]:
    weights = {term: (1 + math.log(n)) * rarity[term] for term, n in Counter(text).items()}
    length = math.hypot(*weights.values())
    return {term: weight / length for term, weight in weights.items()}
