"""Which turns of a tree its scenarios are written on (design 4.4).

A prompt is a run of turns on one path: from one turn to the whole path, from anywhere on. The
prompts of a tree are an endless list that its seed alone decides, so that each piece of work has
its own place in it. However many of them are taken, from the first on:

* the paths of the tree have had the same number of prompts, give or take one;
* a path of n turns has had each length from 1 to n once in every n prompts;
* each turn of it was shown at least once in every n prompts.
"""

import random
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from apps.trees.domain.tree import Answer, FinalAnswer, Question, Tree, Turn, contradictions


@dataclass(frozen=True)
class Asked:
    """A turn of a tree, with the key of its question there."""

    key: Hashable
    turn: Turn


Run = tuple[Asked, ...]


def whole_paths(tree: Tree) -> Iterator[Run]:
    """The turns on the way to each leaf, YES before NO; a tree that is one leaf has none.

    Paths that answer one question both ways are left out: no person is on them.
    """
    waiting: list[tuple[Run, Tree]] = [((), tree)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, Question):
            for answer in (Answer.NO, Answer.YES):
                asked = Asked(node.key, node.turn(answer))
                waiting.append(((*path, asked), node.branch(answer)))
        elif isinstance(node, FinalAnswer) and path and _is_possible(path):
            yield path


def _is_possible(path: Run) -> bool:
    return not any(contradictions(asked.turn for asked in path))


def prompts(tree: Tree, seed: str) -> Iterator[Run]:
    """The prompts of a tree, without end; none for a tree without a path of turns."""
    chance = random.Random(f"{seed} prompts")  # noqa: S311 - to be repeated
    paths = list(whole_paths(tree))
    shown: Counter[Asked] = Counter()
    lengths: list[list[int]] = [[] for _ in paths]
    while paths:
        for number in _shuffled(range(len(paths)), chance):
            path, left = paths[number], lengths[number]
            if not left:
                left += _shuffled(range(1, len(path) + 1), chance)
            run = _run_of(path, left.pop(), shown, chance)
            shown.update(run)
            yield run


def prompt(tree: Tree, seed: str, number: int) -> Run | None:
    """The prompt with this number, from 0; None when the tree gives none."""
    return next(islice(prompts(tree, seed), number, None), None)


def place_among(turns: Sequence[object], seed: str) -> int:
    """Where among the turns something else is put in: before the turn with this number."""
    return random.Random(f"{seed} place").randint(0, len(turns))  # noqa: S311 - to be repeated


def _run_of(path: Run, length: int, shown: Counter[Asked], chance: random.Random) -> Run:
    """So many turns in a row, the one among them that was shown least so far."""
    fewest = min(shown[asked] for asked in path)
    places = [place for place, asked in enumerate(path) if shown[asked] == fewest]
    place = chance.choice(places)
    start = chance.randint(max(0, place - length + 1), min(place, len(path) - length))
    return path[start : start + length]


def _shuffled(numbers: range, chance: random.Random) -> list[int]:
    return chance.sample(numbers, len(numbers))
