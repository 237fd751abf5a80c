"""Train, dev and test by source (design 4.7): never by utterance.

A *source* is a page with all its versions. Sources that share a rule text (after folding) are one
*group*, which goes to one split as a whole. Groups are placed domain by domain, so that each split
gets its share of the trees of each domain, as near as whole groups allow. Domains of one group
cannot be shared out; they are placed together, as if they were one domain. Then the domains are
evened out against each other: what rounding takes from a split in each of many small domains it
would lack in all of them together.

The result depends on contents and seed alone, not on the order of rows, and what is placed stays.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations

SPLITS = ("train", "dev", "test")
DEFAULT_RATIOS = (0.7, 0.1, 0.2)


@dataclass(frozen=True)
class Source:
    """A page. `texts` are its folded rule texts; `split` is where it is now, "" for nowhere.

    A pinned one stays there, also when splits are drawn anew.
    """

    key: str
    domain: str
    trees: int
    texts: frozenset[str] = frozenset()
    split: str = ""
    is_pinned: bool = False


@dataclass(frozen=True)
class Group:
    """Sources that belong together, in the order of their keys."""

    sources: tuple[Source, ...]

    @property
    def key(self) -> str:
        return self.sources[0].key

    @property
    def domain(self) -> str:
        """That of the most trees, the first by name among equals."""
        trees: Counter[str] = Counter()
        for source in self.sources:
            trees[source.domain] += source.trees
        return min(trees, key=lambda name: (-trees[name], name))

    @property
    def trees(self) -> int:
        return sum(source.trees for source in self.sources)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that its sources are in now, in the order of SPLITS; two or more: a leak."""
        here = {source.split for source in self.sources}
        return tuple(split for split in SPLITS if split in here)


class RatiosError(ValueError):
    """Shares that are no shares."""


def check_ratios(ratios: Sequence[float]) -> tuple[float, float, float]:
    """The shares of train, dev and test. Raises RatiosError unless they are and make 1."""
    if len(ratios) != len(SPLITS) or not all(0 <= share <= 1 for share in ratios):
        raise RatiosError("three shares between 0 and 1 are needed, for train, dev and test")
    if abs(sum(ratios) - 1) > 1e-6:
        raise RatiosError(f"the shares of train, dev and test make {sum(ratios):g}, not 1")
    train, dev, test = ratios
    return train, dev, test


def groups_of(sources: Iterable[Source]) -> list[Group]:
    """The groups, in the order of their keys."""
    by_key = {source.key: source for source in sources}
    above = {key: key for key in by_key}

    def top(key: str) -> str:
        while above[key] != key:
            above[key] = key = above[above[key]]
        return key

    first_with: dict[str, str] = {}
    for key in sorted(by_key):
        for text in by_key[key].texts:
            one, other = top(first_with.setdefault(text, key)), top(key)
            above[max(one, other)] = min(one, other)
    members: dict[str, list[Source]] = defaultdict(list)
    for key in sorted(by_key):
        members[top(key)].append(by_key[key])
    return [Group(tuple(members[key])) for key in sorted(members)]


def place_sources(
    sources: Iterable[Source], *, ratios: Sequence[float] = DEFAULT_RATIOS, seed: int = 0
) -> dict[str, str]:
    """Key -> split, for each source that has to be placed or moved to its group's split.

    A source that is placed stays, and its group follows it; a group in two splits is left as it
    is, for the leak report. A group without a tree waits until it has one.
    """
    shares = check_ratios(ratios)
    strata = [_Stratum(groups, shares, seed) for groups in _strata(groups_of(sources))]
    _even_out(strata, _open_splits(shares), seed)
    return {
        source.key: split
        for stratum in strata
        for group, split in stratum.placed
        for source in group.sources
        if source.split != split
    }


def _strata(groups: list[Group]) -> Iterator[list[Group]]:
    by_domain: dict[str, list[Group]] = defaultdict(list)
    for group in groups:
        if group.trees:
            by_domain[group.domain].append(group)
    alone = [some[0] for some in by_domain.values() if len(some) == 1]
    yield from (by_domain[name] for name in sorted(by_domain) if len(by_domain[name]) > 1)
    if alone:
        yield alone


class _Stratum:
    """Groups that are shared out among themselves first: wanted and had trees by split."""

    def __init__(self, groups: list[Group], shares: tuple[float, float, float], seed: int) -> None:
        total = sum(group.trees for group in groups)
        self.wanted = {split: share * total for split, share in zip(SPLITS, shares, strict=True)}
        self.have: Counter[str] = Counter()
        self.free: list[Group] = []
        self._follows: list[tuple[Group, str]] = []
        for group in groups:
            self._see(group)
        self.free.sort(key=lambda group: (-group.trees, _drawn(seed, group.key)))
        self.chosen = _greedy(self.free, self.wanted, self.have, shares)
        _improve(self.free, self.chosen, self.wanted, self.have)

    def _see(self, group: Group) -> None:
        if len(group.splits) == 1:
            self._follows.append((group, group.splits[0]))
        if group.splits:
            self.have[group.splits[0]] += group.trees
        else:
            self.free.append(group)

    @property
    def placed(self) -> Iterator[tuple[Group, str]]:
        yield from self._follows
        yield from ((group, self.chosen[group.key]) for group in self.free)

    def may_move(self, group: Group, target: str) -> bool:
        """A split may be farther from its share here by less than what moves, or as it was."""
        source = self.chosen[group.key]
        return (
            source != target
            and self.have[source] >= self.wanted[source] - 1e-9
            and self.have[target] <= self.wanted[target] + 1e-9
        )

    def cost(self, group: Group, target: str) -> float:
        return _cost(self.chosen[group.key], target, group.trees, self.wanted, self.have)

    def move(self, group: Group, target: str) -> None:
        self.have[self.chosen[group.key]] -= group.trees
        self.have[target] += group.trees
        self.chosen[group.key] = target


def _even_out(strata: list[_Stratum], targets: list[str], seed: int) -> None:
    """Moves groups for the sake of all strata together, those first that cost theirs least."""
    wanted = {split: sum(one.wanted[split] for one in strata) for split in SPLITS}
    have = sum((one.have for one in strata), Counter[str]())

    def gain(stratum: _Stratum, group: Group, target: str) -> float:
        if not stratum.may_move(group, target):
            return 0
        overall = _cost(stratum.chosen[group.key], target, group.trees, wanted, have)
        return -(overall + stratum.cost(group, target))

    def round_of_moves() -> bool:
        able = [
            (stratum.cost(group, target), _drawn(seed, group.key), target, stratum, group)
            for stratum in strata
            for group in stratum.free
            for target in targets
            if gain(stratum, group, target) > 1e-9
        ]
        for _, _, target, stratum, group in sorted(able, key=lambda one: one[:3]):
            if gain(stratum, group, target) > 1e-9:
                have[stratum.chosen[group.key]] -= group.trees
                have[target] += group.trees
                stratum.move(group, target)
        return bool(able)

    while round_of_moves():
        pass


def _drawn(seed: int, key: str) -> str:
    return sha256(f"{seed}\n{key}".encode()).hexdigest()


def _open_splits(shares: tuple[float, float, float]) -> list[str]:
    return [split for split, share in zip(SPLITS, shares, strict=True) if share]


def _greedy(
    groups: list[Group],
    wanted: Mapping[str, float],
    have: Counter[str],
    shares: tuple[float, float, float],
) -> dict[str, str]:
    """The largest first, each to the split that lacks most."""
    chosen = {}
    for group in groups:
        split = max(_open_splits(shares), key=lambda name: wanted[name] - have[name])
        chosen[group.key] = split
        have[split] += group.trees
    return chosen


def _improve(
    groups: list[Group], chosen: dict[str, str], wanted: Mapping[str, float], have: Counter[str]
) -> None:
    """Changes two groups over, as long as that brings the shares nearer.

    To move a single one never does: each went to where most was lacking.
    """
    while _change_over(groups, chosen, wanted, have):
        pass


def _change_over(
    groups: list[Group], chosen: dict[str, str], wanted: Mapping[str, float], have: Counter[str]
) -> bool:
    # Groups of one size and split are alike: one of each is enough to look at.
    alike = {(group.trees, chosen[group.key]): group for group in groups}
    for one, other in combinations(alike.values(), 2):
        here, there = chosen[one.key], chosen[other.key]
        if _shift(here, there, one.trees - other.trees, wanted, have):
            chosen[one.key], chosen[other.key] = there, here
            return True
    return False


def _shift(
    source: str, target: str, trees: int, wanted: Mapping[str, float], have: Counter[str]
) -> bool:
    """Moves so many trees, when the two splits are nearer to their shares then."""
    if source == target or not trees or _cost(source, target, trees, wanted, have) >= -1e-9:
        return False
    have[source] -= trees
    have[target] += trees
    return True


def _cost(
    source: str, target: str, trees: int, wanted: Mapping[str, float], have: Mapping[str, int]
) -> float:
    """Half of what a move adds to the sum of squared distances; below 0: nearer then."""
    lack = wanted[target] - have[target] - (wanted[source] - have[source])
    return trees * (trees - lack)


@dataclass(frozen=True)
class Leak:
    """Sources of one group that are in different splits."""

    splits: tuple[str, ...]
    keys: tuple[str, ...]


def leaks(sources: Iterable[Source]) -> list[Leak]:
    """What crosses: the same rule text (after folding) in two splits."""
    return [
        Leak(group.splits, tuple(one.key for one in group.sources if one.split))
        for group in groups_of(sources)
        if len(group.splits) > 1
    ]
