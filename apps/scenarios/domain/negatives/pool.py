"""Draws negatives from all trees of a project.

Candidates are drawn at random and then tested, so that the cost grows with the number of negatives
wanted and not with the square of the scenarios. Each tree has a generator of its own, seeded by
the run's seed and the tree's id: the result depends neither on the order of the trees nor on how
they are dealt out to several processes.
"""

from __future__ import annotations

import random
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from apps.scenarios.domain.negatives.hardness import hardness, words
from apps.snippets.domain.similarity import terms

DRAWS = 200
"""Candidates drawn for one negative before all of them are looked at, one after the other."""

LOOKED_KEPT = 8
"""How many looks at all candidates are kept; a million scenarios take 8 MB each."""

LOOKS = 32
"""Candidates among which the hardest are chosen."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tree as a source of negatives. `document` is what it must not share with the other tree.

    `question` is the first question, folded; `follow_ups` are all follow-up questions. Hard
    negatives look at `domain` and `rule_text`. `places` are the ways to its nodes below the root,
    where a history can be attached. Only trees of one `group` (a split) and one `language` lend to
    each other.
    """

    tree_id: str
    document: Hashable
    question: str
    follow_ups: str
    domain: str = ""
    rule_text: str = ""
    places: tuple[str, ...] = ()
    group: str = ""
    language: str = ""

    @property
    def kin(self) -> tuple[str, str]:
        """Only trees of one kin lend to each other."""
        return self.group, self.language

    def may_lend_to(self, other: Candidate) -> bool:
        return self.document != other.document and self.kin == other.kin


@dataclass(frozen=True)
class Drawn:
    """A negative: the number of the tree or scenario it comes from, and how like the trees are."""

    index: int
    cosine: float


@dataclass(frozen=True)
class Attached:
    """What stands before an irrelevant question: a scenario of its tree (a number), a way down."""

    scenario: int | None = None
    place: str = ""


@dataclass(frozen=True)
class Result:
    """What was drawn for one tree, in this order, and why there is not more."""

    drawn: tuple[Drawn, ...]
    missing: int = 0
    reason: str = ""


ONE_DOCUMENT = "all trees come from one source document"
ONE_DOCUMENT_OF_SPLIT = "all trees of its split come from one source document"
ONE_DOCUMENT_OF_LANGUAGE = "all trees of its language come from one source document"
ONE_DOCUMENT_OF_BOTH = "all trees of its split and language come from one source document"
TOO_LIKE = "all scenarios of other documents belong to trees whose questions are too like these"
TOO_FEW = "other documents have too few"
TOO_FEW_UNLIKE = "other documents have too few that are under the threshold"

Test = Callable[[int], Drawn | None]


class Pool:
    """Everything that negatives are drawn from, in an order of its own.

    `trees` are sorted by id; `scenario_trees` says for each scenario the number of its tree, and is
    sorted by it. `scenario_texts` are needed for hard scenarios only.
    """

    def __init__(
        self, trees: Sequence[Candidate], scenario_trees: Sequence[int] = (),
        scenario_texts: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.trees = trees
        self.scenario_trees = scenario_trees
        self.scenario_texts = scenario_texts
        self._looked: dict[tuple[str, str, float], array[int]] = {}

    # How like two trees are ------------------------------------------------------------------

    @cached_property
    def vectors(self) -> Any:
        """TF-IDF of each tree's follow-up questions, a row each; one without a word has none."""
        # Takes 0.9 s to import, and only this function needs it.
        from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

        texts = [tree.follow_ups for tree in self.trees]
        if not any(terms(text) for text in texts):
            return None
        vectors = TfidfVectorizer(analyzer=terms, sublinear_tf=True).fit_transform(texts)
        vectors.sort_indices()
        return vectors

    def cosine(self, one: int, other: int) -> float:
        """How like the follow-up questions of two trees are, from 0 to 1."""
        if self.vectors is None:
            return 0.0
        # By hand: a product of sparse rows takes forty times as long.
        mine = dict(self._row(one))
        cosine = sum(weight * mine[term] for term, weight in self._row(other) if term in mine)
        # Rounded: two trees that ask the same are at 1, and not a hair under a threshold of 1.
        return min(1.0, round(float(cosine), 12))

    def _row(self, tree: int) -> zip[tuple[int, float]]:
        start, end = self.vectors.indptr[tree : tree + 2]
        weights = self.vectors.data[start:end].tolist()
        return zip(self.vectors.indices[start:end].tolist(), weights, strict=True)

    def _unlike_trees(self, tree: int, threshold: float) -> Sequence[int]:
        """The trees that may be under the threshold, all at once; a little too many."""
        return self._looked_up("trees", tree, threshold)

    def _scenarios_of_unlike_trees(self, tree: int, threshold: float) -> Sequence[int]:
        return self._looked_up("scenarios", tree, threshold)

    def _looked_up(self, what: str, tree: int, threshold: float) -> Sequence[int]:
        """Kept for trees that ask the same: in a project of trees that are all alike, each would
        look at all others."""
        key = what, self.trees[tree].follow_ups, threshold
        if key not in self._looked:
            if len(self._looked) == LOOKED_KEPT:
                self._looked.clear()
            self._looked[key] = self._look_up(what, tree, threshold)
        return self._looked[key]

    def _look_up(self, what: str, tree: int, threshold: float) -> array[int]:
        import numpy as np  # noqa: PLC0415 - comes with scikit-learn, and is imported with it

        may_pass = np.ones(len(self.trees), dtype=bool)
        if self.vectors is not None:
            cosines = (self.vectors @ self.vectors[tree].T).toarray().ravel()
            may_pass = cosines < threshold + 1e-9  # summed in another order
        if what == "scenarios":
            may_pass = may_pass[np.asarray(self.scenario_trees)]
        return array("q", may_pass.nonzero()[0].astype(np.int64).tobytes())

    # Irrelevant questions --------------------------------------------------------------------

    def draw_questions(
        self, tree: int, wanted: int, *, seed: int, taken: Collection[int] = ()
    ) -> Result:
        """First questions of other documents' trees; none twice, and none that this tree asks.

        `taken` are the trees whose question this one has already.
        """
        if reason := self._why_none(tree):
            return _result([], wanted, reason)
        test = self._question_test(tree, taken, threshold=None)
        chance = _chance(seed, self.trees[tree], "questions")
        some = self._trees_of_language[self.trees[tree].language]
        drawn = _draw(some, wanted, test, chance, lambda: some)
        return _result(drawn, wanted, TOO_FEW)

    def draw_hard_questions(
        self, tree: int, wanted: int, *, threshold: float, seed: int, taken: Collection[int] = ()
    ) -> Result:
        """As `draw_questions`, and from trees that are less like this one than `threshold`.

        Of some candidates of the same domain those with the most words of the rule text; what the
        domain lacks comes from everywhere in the same way, and then by the usual draw.
        """
        if reason := self._why_none(tree):
            return _result([], wanted, reason)
        me = self.trees[tree]
        test = self._question_test(tree, taken, threshold=threshold)
        chance = _chance(seed, me, "hard questions")
        rule = words(me.rule_text)
        of_language = self._trees_of_language[me.language]
        drawn = _hardest(
            (self._trees_of_domain[me.domain], of_language), wanted, test,
            lambda other: hardness(self.trees[other].question, rule), chance,
        )  # fmt: skip

        def others() -> Sequence[int]:
            return self._unlike_trees(tree, threshold)

        drawn += _draw(of_language, wanted - len(drawn), test, chance, others)
        return _result(drawn, wanted, TOO_FEW_UNLIKE)

    def _question_test(self, tree: int, taken: Collection[int], *, threshold: float | None) -> Test:
        me = self.trees[tree]
        used = {me.question, *(self.trees[other].question for other in taken)}

        def test(other: int) -> Drawn | None:
            candidate = self.trees[other]
            if not candidate.may_lend_to(me) or candidate.question in used:
                return None
            cosine = self.cosine(tree, other)
            if threshold is not None and cosine >= threshold:
                return None
            used.add(candidate.question)
            return Drawn(other, cosine)

        return test

    def attach(self, tree: int, question: int, *, seed: int) -> Attached:
        """What to put before the question of the tree `question`: with equal chance nothing, a
        scenario of this tree, a history of it, or both, as far as this tree has them."""
        me = self.trees[tree]
        chance = _chance(seed, me, f"attached to {self.trees[question].tree_id}")
        first = bisect_left(self.scenario_trees, tree)
        own = range(first, bisect_left(self.scenario_trees, tree + 1))
        scenario, place = chance.choice(
            [(s, p) for s in (False, True) for p in (False, True)
             if (own or not s) and (me.places or not p)]
        )  # fmt: skip
        return Attached(
            chance.choice(own) if scenario else None, chance.choice(me.places) if place else ""
        )

    # Irrelevant scenarios --------------------------------------------------------------------

    def draw_scenarios(
        self, tree: int, wanted: int, *, threshold: float, seed: int, taken: Collection[int] = ()
    ) -> Result:
        """Scenarios of other documents' trees that are less like this one than `threshold`.

        `taken` are the numbers of scenarios that this tree has already.
        """
        if reason := self._why_none(tree):
            return _result([], wanted, reason)
        test = self._scenario_test(tree, taken, threshold)
        chance = _chance(seed, self.trees[tree], "scenarios")
        return self._filled([], tree, wanted, threshold, taken, test, chance)

    def draw_hard_scenarios(
        self, tree: int, wanted: int, *, threshold: float, seed: int, taken: Collection[int] = ()
    ) -> Result:
        """As `draw_scenarios`; of some candidates of the same domain those with the most words of
        the rule text, then of some from everywhere, then by the usual draw."""
        if reason := self._why_none(tree):
            return _result([], wanted, reason)
        me = self.trees[tree]
        test = self._scenario_test(tree, taken, threshold)
        chance = _chance(seed, me, "hard scenarios")
        rule = words(me.rule_text)
        groups = (self._scenarios_of_domain[me.domain], self._scenarios_of_language[me.language])
        drawn = _hardest(
            groups, wanted, test, lambda one: hardness(self.scenario_texts[one], rule), chance
        )
        return self._filled(drawn, tree, wanted, threshold, taken, test, chance)

    def _scenario_test(self, tree: int, taken: Collection[int], threshold: float) -> Test:
        me, used = self.trees[tree], set(taken)

        def test(scenario: int) -> Drawn | None:
            other = self.scenario_trees[scenario]
            if scenario in used or not self.trees[other].may_lend_to(me):
                return None
            if (cosine := self.cosine(tree, other)) >= threshold:
                return None
            used.add(scenario)
            return Drawn(scenario, cosine)

        return test

    def _filled(
        self, drawn: list[Drawn], tree: int, wanted: int, threshold: float,
        taken: Collection[int], test: Test, chance: random.Random,
    ) -> Result:  # fmt: skip
        def others() -> Sequence[int]:
            return self._scenarios_of_unlike_trees(tree, threshold)

        some = self._scenarios_of_language[self.trees[tree].language]
        drawn = drawn + _draw(some, wanted - len(drawn), test, chance, others)
        return _result(drawn, wanted, TOO_FEW if drawn or taken else TOO_LIKE)

    # Groups ----------------------------------------------------------------------------------

    def _why_none(self, tree: int) -> str:
        """Why no other tree can lend to this one; empty where one can."""
        documents = self._documents_of_kin
        if len(documents[self.trees[tree].kin]) > 1:
            return ""
        groups, languages = (len(set(names)) for names in zip(*documents, strict=True))
        return {
            (False, False): ONE_DOCUMENT,
            (True, False): ONE_DOCUMENT_OF_SPLIT,
            (False, True): ONE_DOCUMENT_OF_LANGUAGE,
            (True, True): ONE_DOCUMENT_OF_BOTH,
        }[groups > 1, languages > 1]

    @cached_property
    def _documents_of_kin(self) -> dict[tuple[str, str], set[Hashable]]:
        found: dict[tuple[str, str], set[Hashable]] = defaultdict(set)
        for tree in self.trees:
            found[tree.kin].add(tree.document)
        return found

    @cached_property
    def _trees_of_language(self) -> dict[str, array[int]]:
        return _grouped(tree.language for tree in self.trees)

    @cached_property
    def _scenarios_of_language(self) -> dict[str, array[int]]:
        return _grouped(self.trees[tree].language for tree in self.scenario_trees)

    @cached_property
    def _trees_of_domain(self) -> dict[str, array[int]]:
        return _grouped(tree.domain for tree in self.trees)

    @cached_property
    def _scenarios_of_domain(self) -> dict[str, array[int]]:
        return _grouped(self.trees[tree].domain for tree in self.scenario_trees)


def _grouped(domains: Any) -> dict[str, array[int]]:
    groups: dict[str, array[int]] = defaultdict(lambda: array("l"))
    for number, domain in enumerate(domains):
        groups[domain].append(number)
    return groups


def _result(drawn: list[Drawn], wanted: int, reason: str) -> Result:
    missing = wanted - len(drawn)
    return Result(tuple(drawn), missing, reason if missing else "")


def _chance(seed: int, tree: Candidate, what: str) -> random.Random:
    return random.Random(f"{seed} {what} {tree.tree_id}")  # noqa: S311 - to be repeated


def _hardest(
    groups: Sequence[Sequence[int]], wanted: int, test: Test, hardness_of: Callable[[int], float],
    chance: random.Random,
) -> list[Drawn]:  # fmt: skip
    """Of `LOOKS` candidates of each group in turn the hardest that fit, until there are enough."""
    drawn: list[Drawn] = []
    for group in groups:
        if len(drawn) < wanted:
            some = chance.sample(group, min(LOOKS, len(group)))
            by_hardness = sorted(some, key=hardness_of, reverse=True)
            drawn += islice((hit for one in by_hardness if (hit := test(one))), wanted - len(drawn))
    return drawn


def _draw(
    candidates: Sequence[int],
    wanted: int,
    test: Test,
    chance: random.Random,
    others: Callable[[], Sequence[int]],
) -> list[Drawn]:
    """Draws and tests; when many draws gave nothing, looks at all `others` from anywhere on, so
    that nothing that fits is overlooked."""
    drawn: list[Drawn] = []
    while candidates and len(drawn) < wanted:
        draws = (candidates[chance.randrange(len(candidates))] for _ in range(DRAWS))
        found = next((hit for one in draws if (hit := test(one))), None)
        if found is None:
            return drawn + _take(others(), wanted - len(drawn), test, chance)
        drawn.append(found)
    return drawn


def _take(others: Sequence[int], wanted: int, test: Test, chance: random.Random) -> list[Drawn]:
    if not others:
        return []
    start = chance.randrange(len(others))
    in_turn = (others[(start + step) % len(others)] for step in range(len(others)))
    return list(islice((hit for one in in_turn if (hit := test(one))), wanted))
