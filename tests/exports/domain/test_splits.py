"""Splits by source (design 4.7)."""

from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.exports.domain.splits import (
    SPLITS,
    Group,
    Leak,
    RatiosError,
    Source,
    check_ratios,
    groups_of,
    leaks,
    place_sources,
)

pytestmark = pytest.mark.once

LETTERS = "abcdefghij"
texts = st.frozensets(st.sampled_from(LETTERS), max_size=2)


@st.composite
def some_sources(draw):
    number = draw(st.integers(0, 25))
    return [
        Source(
            key=f"https://{draw(st.sampled_from(['a', 'b', 'c']))}.example/{place}",
            domain=draw(st.sampled_from(["a", "b", "c", "d"])),
            trees=draw(st.integers(0, 9)),
            texts=draw(texts),
        )
        for place in range(number)
    ]


def equal_sources(number: int, domain: str = "a") -> list[Source]:
    return [Source(f"{domain}{place:03}", domain, 1) for place in range(number)]


def shares(placed: dict[str, str]) -> dict[str, int]:
    counted = Counter(placed.values())
    return {split: counted[split] for split in SPLITS}


def test_a_domain_is_shared_out_as_asked():
    assert shares(place_sources(equal_sources(100))) == {"train": 70, "dev": 10, "test": 20}


def test_each_domain_is_shared_out_by_itself():
    placed = place_sources([*equal_sources(10, "a"), *equal_sources(20, "b")])
    in_a = {key: split for key, split in placed.items() if key.startswith("a")}
    assert shares(in_a) == {"train": 7, "dev": 1, "test": 2}
    assert shares(placed) == {"train": 21, "dev": 3, "test": 6}


def test_domains_of_one_source_are_shared_out_together():
    sources = [Source(f"page{place}", f"host{place}", 1) for place in range(10)]
    assert shares(place_sources(sources)) == {"train": 7, "dev": 1, "test": 2}


@pytest.mark.parametrize(("hosts", "documents"), [(100, 2), (100, 3), (100, 4), (50, 5)])
def test_many_small_domains_make_the_shares_together(hosts, documents):
    sources = [
        source for host in range(hosts) for source in equal_sources(documents, f"h{host:02}")
    ]
    for seed in (0, 7):
        of_all = shares(place_sources(sources, seed=seed))
        assert [100 * number / len(sources) for number in of_all.values()] == [70, 10, 20]


def test_what_is_placed_does_not_turn_the_domains_that_come_later_upside_down():
    old = [replace(one, split="train") for one in equal_sources(100, "old")]
    new = equal_sources(20, "new")
    assert shares(place_sources([*old, *new]))["train"] >= 13


def test_trees_count_and_not_sources():
    sources = [Source("large", "a", 70), Source("middle", "a", 20), Source("small", "a", 10)]
    assert place_sources(sources) == {"large": "train", "middle": "test", "small": "dev"}


def test_groups_change_over_where_that_is_nearer():
    # The largest first would give 6 + 3 and 5 + 4; half of each is 5 + 4 and 6 + 3 either way.
    sources = [Source(f"page{trees}", "a", trees) for trees in (6, 5, 4, 3, 2)]
    placed = place_sources(sources, ratios=(0.5, 0, 0.5))
    of_train = sum(one.trees for one in sources if placed[one.key] == "train")
    assert of_train == 10


def test_sources_with_one_rule_text_stay_together():
    sources = [*equal_sources(30), Source("x", "a", 1, frozenset({"same"})),
               Source("y", "b", 1, frozenset({"same", "more"})),
               Source("z", "c", 1, frozenset({"more"}))]  # fmt: skip
    placed = place_sources(sources)
    assert len({placed["x"], placed["y"], placed["z"]}) == 1


def test_another_seed_draws_other_sources():
    assert place_sources(equal_sources(20), seed=1) != place_sources(equal_sources(20), seed=2)


def test_a_group_follows_the_source_that_is_placed():
    sources = [Source("x", "a", 1, frozenset({"same"}), "test"),
               Source("y", "a", 1, frozenset({"same"}))]  # fmt: skip
    assert place_sources(sources) == {"y": "test"}


def test_a_group_in_two_splits_is_left_and_reported():
    sources = [Source("x", "a", 1, frozenset({"same"}), "test"),
               Source("y", "a", 1, frozenset({"same"}), "train"),
               Source("z", "a", 1, frozenset({"same"}))]  # fmt: skip
    assert place_sources(sources) == {}
    assert leaks(sources) == [Leak(("train", "test"), ("x", "y"))]


def test_a_source_without_a_tree_waits():
    assert place_sources([Source("x", "a", 0)]) == {}


def test_a_group_is_of_the_domain_with_the_most_trees():
    group = Group((Source("x", "b", 1), Source("y", "a", 1), Source("z", "c", 0)))
    assert group.domain == "a"


@pytest.mark.parametrize("ratios", [(0.7, 0.3), (0.5, 0.5, 0.5), (1.2, -0.1, -0.1)])
def test_shares_that_are_none_are_refused(ratios):
    with pytest.raises(RatiosError):
        check_ratios(ratios)


def test_a_split_without_a_share_gets_nothing():
    placed = place_sources(equal_sources(10), ratios=(0.8, 0, 0.2))
    assert shares(placed) == {"train": 8, "dev": 0, "test": 2}


@given(some_sources(), st.integers(0, 5), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(sources, seed, chance):
    placed = place_sources(sources, seed=seed)
    shuffled = list(sources)
    chance.shuffle(shuffled)
    assert place_sources(shuffled, seed=seed) == placed


@given(some_sources())
def test_all_that_has_trees_is_placed_and_nothing_crosses(sources):
    placed = place_sources(sources)
    now = [replace(one, split=placed.get(one.key, one.split)) for one in sources]
    assert leaks(now) == []
    for group in groups_of(now):
        assert len({one.split for one in group.sources}) == 1
        assert (group.sources[0].split != "") == (group.trees > 0)
    assert place_sources(now) == {}


@given(some_sources(), some_sources())
def test_what_is_placed_stays_when_sources_come(sources, more):
    placed = place_sources(sources)
    now = [replace(one, split=placed.get(one.key, "")) for one in sources]
    new = [replace(one, key=f"{one.key}-new") for one in more]
    moved = place_sources([*now, *new])
    assert not {key for key in moved if placed.get(key)}


@given(st.lists(st.integers(1, 9), min_size=2, max_size=30))
def test_no_split_is_farther_from_its_share_than_the_largest_source(sizes):
    sources = [Source(f"page{place:03}", "a", size) for place, size in enumerate(sizes)]
    placed = place_sources(sources)
    trees: Counter[str] = Counter()
    for one in sources:
        trees[placed[one.key]] += one.trees
    for split, share in zip(SPLITS, (0.7, 0.1, 0.2), strict=True):
        assert abs(trees[split] - share * sum(sizes)) <= max(sizes)


@given(st.lists(st.lists(st.integers(1, 9), min_size=2, max_size=6), min_size=1, max_size=8))
def test_all_domains_are_as_near_as_each_of_them_can_be(domains):
    sources = [
        Source(f"{host}/{place}", f"{host}", size)
        for host, sizes in enumerate(domains)
        for place, size in enumerate(sizes)
    ]
    placed = place_sources(sources)
    trees: dict[str, Counter[str]] = defaultdict(Counter)
    for one in sources:
        trees[one.domain][placed[one.key]] += one.trees
        trees["all"][placed[one.key]] += one.trees
    largest = [*map(max, domains), max(map(max, domains))]
    for name, most in zip([*map(str, range(len(domains))), "all"], largest, strict=True):
        for split, share in zip(SPLITS, (0.7, 0.1, 0.2), strict=True):
            assert abs(trees[name][split] - share * trees[name].total()) <= most + 1e-9
