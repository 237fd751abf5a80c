"""How like the candidate pairs of a project are, to choose a threshold by."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from apps.scenarios.domain.negatives.pool import Pool

BARS = 20
"""Ranges of cosines from 0 to 1."""

TRIES = 20
"""Draws for each pair wanted: pairs of one document, or of two languages, are no candidates."""


@dataclass(frozen=True)
class Pair:
    """Two trees of different documents, by their numbers, and how like they are."""

    one: int
    other: int
    cosine: float


@dataclass(frozen=True)
class Bar:
    """How many cosines lie from `low` on and under `high`; the last has 1 as well."""

    low: float
    high: float
    number: int


def sample_pairs(pool: Pool, number: int, *, seed: int) -> list[Pair]:
    """Pairs as mining would test them: any tree, and the tree of any scenario (of any tree, where
    there are no scenarios). None twice, in either order; fewer when there are not so many."""
    return list(islice(_pairs(pool, number * TRIES, seed), number))


def _pairs(pool: Pool, tries: int, seed: int) -> Iterator[Pair]:
    chance = random.Random(f"{seed} similarities")  # noqa: S311 - to be repeated
    others = pool.scenario_trees or range(len(pool.trees))
    seen: set[tuple[int, int]] = set()
    for _ in range(tries if pool.trees else 0):
        one, other = chance.randrange(len(pool.trees)), chance.choice(others)
        pair = min(one, other), max(one, other)
        if pair in seen or not pool.trees[other].may_lend_to(pool.trees[one]):
            continue
        seen.add(pair)
        yield Pair(one, other, pool.cosine(one, other))


def distribution(cosines: Sequence[float]) -> list[Bar]:
    """`BARS` bars from 0 to 1."""
    numbers = [0] * BARS
    for cosine in cosines:
        numbers[min(BARS - 1, int(cosine * BARS + 1e-9))] += 1
    return [Bar(place / BARS, (place + 1) / BARS, number) for place, number in enumerate(numbers)]


def share_under(cosines: Sequence[float], threshold: float) -> float | None:
    """The share of pairs that the threshold lets pass; None without pairs."""
    return sum(cosine < threshold for cosine in cosines) / len(cosines) if cosines else None


def around(cosines: Sequence[float], threshold: float, number: int) -> tuple[list[int], list[int]]:
    """The places of the nearest cosines under the threshold, and of those at it or above it, each
    with the nearest first."""
    under = sorted(
        (place for place, cosine in enumerate(cosines) if cosine < threshold),
        key=lambda place: -cosines[place],
    )
    above = sorted(
        (place for place, cosine in enumerate(cosines) if cosine >= threshold),
        key=cosines.__getitem__,
    )
    return under[:number], above[:number]
