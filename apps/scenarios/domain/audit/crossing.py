"""What stands in two splits: whoever trained on one of them knows it in the other."""

from collections.abc import Iterable

from apps.scenarios.domain.audit.rows import Row, Share, share
from apps.snippets.domain.similarity import near_duplicates

MOST_TEXTS = 5_000
"""Texts compared with each other: the time grows with the square of their number."""

NEGATIVE_SCENARIO = "negative_scenario"

Placed = Iterable[tuple[str, str]]
"""Texts, each with its split; empty: in none yet, which is no split."""


def in_two_splits(texts: Placed) -> Share:
    """Of the different texts, those that stand in more than one split."""
    return share([len(splits) > 1 for splits in _splits_of(texts).values()])


def near_in_two_splits(texts: Placed, threshold: float) -> Share:
    """Of the different texts, those that have a near-duplicate in another split: a TF-IDF cosine of
    `threshold` or more. Of more than `MOST_TEXTS`, a part that is spread evenly."""
    splits = _splits_of(texts)
    some = sorted(splits)[:: 1 + len(splits) // (MOST_TEXTS + 1)]
    if len({split for text in some for split in splits[text]}) < 2:
        return Share(0, len(some))
    near: set[int] = set()
    for one, other, _ in near_duplicates(some, threshold):
        both = splits[some[one]], splits[some[other]]
        if all(both) and len(both[0] | both[1]) > 1:
            near |= {one, other}
    return Share(len(near), len(some))


def lent_to_another_split(rows: Iterable[Row]) -> Share:
    """Of the irrelevant scenarios, those whose text was written for a tree of another split."""
    own: dict[str, set[str]] = {}
    lent: dict[tuple[str, str], None] = {}
    for row in rows:
        if row.kind == NEGATIVE_SCENARIO:
            lent[row.scenario, row.split] = None
        elif row.scenario and row.split:
            own.setdefault(row.scenario, set()).add(row.split)
    return share([split not in own[text] for text, split in lent if split and text in own])


def _splits_of(texts: Placed) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for text, split in texts:
        found.setdefault(text, set()).update([split] if split else [])
    return found
