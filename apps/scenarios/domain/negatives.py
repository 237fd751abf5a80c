"""Draws negatives: questions and scenarios of other trees that say nothing about this one (4.5).

Candidates are drawn at random and then tested, so that the cost grows with the number of negatives
wanted and not with the square of the scenarios. Each tree has a generator of its own, seeded by
the run's seed and the tree's id: the result depends neither on the order of the trees nor on how
they are dealt out to several processes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from apps.snippets.domain.similarity import terms

DRAWS = 200
"""Candidates drawn for one negative before all of them are looked at, one after the other."""


@dataclass(frozen=True)
class Candidate:
    """A tree as a source of negatives. `document` is what it must not share with the other tree.

    `question` is the first question, folded; `follow_ups` are all follow-up questions.
    """

    tree_id: str
    document: Hashable
    question: str
    follow_ups: str


@dataclass(frozen=True)
class Drawn:
    """A negative: the number of the tree or scenario it comes from, and how like the trees are."""

    index: int
    cosine: float


@dataclass(frozen=True)
class Result:
    """What was drawn for one tree, in this order, and why there is not more."""

    drawn: tuple[Drawn, ...]
    missing: int = 0
    reason: str = ""


ONE_DOCUMENT = "all trees come from one source document"
TOO_LIKE = "all scenarios of other documents belong to trees whose questions are too like these"
TOO_FEW = "other documents have too few"


class Pool:
    """Everything that negatives are drawn from, in an order of its own.

    `trees` are sorted by id; `scenario_trees` says for each scenario the number of its tree, and is
    sorted by it.
    """

    def __init__(self, trees: Sequence[Candidate], scenario_trees: Sequence[int] = ()) -> None:
        self.trees = trees
        self.scenario_trees = scenario_trees

    @cached_property
    def vectors(self) -> Any:
        """TF-IDF of each tree's follow-up questions, a row each; one without a word has none."""
        # Takes 0.9 s to import, and only this function needs it.
        from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

        texts = [tree.follow_ups for tree in self.trees]
        if not any(terms(text) for text in texts):
            return None
        return TfidfVectorizer(analyzer=terms, sublinear_tf=True).fit_transform(texts)

    def cosine(self, one: int, other: int) -> float:
        """How like the follow-up questions of two trees are, from 0 to 1."""
        if self.vectors is None:
            return 0.0
        return min(1.0, float(self.vectors[one].multiply(self.vectors[other]).sum()))

    def draw_questions(
        self, tree: int, wanted: int, *, seed: int, taken: Collection[int] = ()
    ) -> Result:
        """First questions of other documents' trees; none twice, and none that this tree asks.

        `taken` are the trees whose question this one has already.
        """
        if self._is_one_document:
            return Result((), wanted, ONE_DOCUMENT if wanted else "")
        me = self.trees[tree]
        used = {me.question, *(self.trees[other].question for other in taken)}

        def test(other: int) -> Drawn | None:
            candidate = self.trees[other]
            if candidate.document == me.document or candidate.question in used:
                return None
            used.add(candidate.question)
            return Drawn(other, self.cosine(tree, other))

        chance = _chance(seed, me, "questions")
        drawn = _draw(len(self.trees), wanted, test, chance, lambda: range(len(self.trees)))
        return _result(drawn, wanted, TOO_FEW)

    def draw_scenarios(
        self, tree: int, wanted: int, *, threshold: float, seed: int, taken: Collection[int] = ()
    ) -> Result:
        """Scenarios of other documents' trees that are less like this one than `threshold`.

        `taken` are the numbers of scenarios that this tree has already.
        """
        if self._is_one_document:
            return Result((), wanted, ONE_DOCUMENT if wanted else "")
        me = self.trees[tree]
        used = set(taken)

        def test(scenario: int) -> Drawn | None:
            other = self.scenario_trees[scenario]
            if scenario in used or self.trees[other].document == me.document:
                return None
            if (cosine := self.cosine(tree, other)) >= threshold:
                return None
            used.add(scenario)
            return Drawn(scenario, cosine)

        chance = _chance(seed, me, "scenarios")
        number = len(self.scenario_trees)
        drawn = _draw(number, wanted, test, chance, lambda: self._near_misses(tree, threshold))
        return _result(drawn, wanted, TOO_FEW if drawn or taken else TOO_LIKE)

    def _near_misses(self, tree: int, threshold: float) -> Sequence[int]:
        """The scenarios that may pass, all cosines computed at once; a little too many."""
        if self.vectors is None:
            return range(len(self.scenario_trees))
        import numpy as np  # noqa: PLC0415 - comes with scikit-learn, and is imported with it

        cosines = (self.vectors @ self.vectors[tree].T).toarray().ravel()
        may_pass = cosines < threshold + 1e-9  # summed in another order
        found: list[int] = np.flatnonzero(may_pass[np.asarray(self.scenario_trees)]).tolist()
        return found

    @cached_property
    def _is_one_document(self) -> bool:
        return len({tree.document for tree in self.trees}) < 2


def _result(drawn: list[Drawn], wanted: int, reason: str) -> Result:
    missing = wanted - len(drawn)
    return Result(tuple(drawn), missing, reason if missing else "")


def _chance(seed: int, tree: Candidate, what: str) -> random.Random:
    return random.Random(f"{seed} {what} {tree.tree_id}")  # noqa: S311 - to be repeated


def _draw(
    number: int,
    wanted: int,
    test: Callable[[int], Drawn | None],
    chance: random.Random,
    others: Callable[[], Sequence[int]],
) -> list[Drawn]:
    """Draws and tests; when many draws gave nothing, looks at all `others` from anywhere on, so
    that nothing that fits is overlooked."""
    drawn: list[Drawn] = []
    while number and len(drawn) < wanted:
        draws = (chance.randrange(number) for _ in range(DRAWS))
        found = next((hit for one in draws if (hit := test(one))), None)
        if found is None:
            return drawn + _take(others(), wanted - len(drawn), test, chance)
        drawn.append(found)
    return drawn


def _take(
    others: Sequence[int], wanted: int, test: Callable[[int], Drawn | None], chance: random.Random
) -> list[Drawn]:
    if not others:
        return []
    start = chance.randrange(len(others))
    in_turn = (others[(start + step) % len(others)] for step in range(len(others)))
    return list(islice((hit for one in in_turn if (hit := test(one))), wanted))
