"""Whether trees follow the text: questions in its order, one for each list item."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from apps.scenarios.domain.audit.rows import Share, share
from apps.snippets.domain.similarity import terms


def asked_in_text_order(paths: Iterable[Sequence[str]], rule_text: str) -> list[bool]:
    """For each pair of questions that follow each other on a path whether the rule text has them
    in that order; pairs whose place cannot be told are left out. Each pair counts once."""
    pairs = {pair for path in paths for pair in pairwise(path)}
    places = {question: place_of(question, rule_text) for pair in pairs for question in pair}
    known = [(places[one], places[other]) for one, other in sorted(pairs)]
    return [
        one < other
        for one, other in known
        if one is not None and other is not None and one != other
    ]


def place_of(question: str, rule_text: str) -> int | None:
    """The line of the rule text that has most of the question's words; None when no line, or more
    than one, has most."""
    asked = set(terms(question))
    shared = [len(asked & set(terms(line))) for line in rule_text.splitlines()]
    most = max(shared, default=0)
    return shared.index(most) if most and shared.count(most) == 1 else None


def as_many_questions_as_items(trees: Iterable[tuple[int, int]]) -> Share:
    """Of the trees whose rule has a list, those with one question for each item.

    `trees` are (number of different questions, number of list items).
    """
    return share([questions == items for questions, items in trees if items])
