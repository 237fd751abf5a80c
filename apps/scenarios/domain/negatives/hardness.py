"""How hard a negative is to tell from what belongs to its tree, by words alone."""

from collections.abc import Collection

from apps.snippets.domain.similarity import terms


def hardness(text: str, rule_words: Collection[str]) -> float:
    """The share of the different words of `text` that the rule text has too, from 0 to 1.

    Somebody who only compares words tells Irrelevant by it: 0 is the easiest. A text without a
    letter or a digit is 0. `rule_words` are `words(rule_text)`.
    """
    said = words(text)
    return sum(word in rule_words for word in said) / len(said) if said else 0.0


def words(text: str) -> frozenset[str]:
    """The different words of a text, after folding."""
    return frozenset(terms(text))
