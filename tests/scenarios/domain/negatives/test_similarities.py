"""A sample of candidate pairs, and what a threshold does to it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.scenarios.domain.negatives.pool import Pool
from apps.scenarios.domain.negatives.similarities import (
    BARS,
    Bar,
    around,
    distribution,
    sample_pairs,
    share_under,
)
from tests.scenarios.domain.negatives.test_pool import pools, tree

pytestmark = pytest.mark.once
cosines = st.lists(st.floats(0, 1))


@settings(max_examples=25)  # each makes vectors of its own
@given(pools(), st.integers(0, 9), st.integers(0, 3))
def test_pairs_are_candidates_and_none_comes_twice(pool, number, seed):
    pairs = sample_pairs(pool, number, seed=seed)
    assert pairs == sample_pairs(pool, number, seed=seed)
    assert len({frozenset((pair.one, pair.other)) for pair in pairs}) == len(pairs) <= number
    for pair in pairs:
        assert pool.trees[pair.one].document != pool.trees[pair.other].document
        assert pair.cosine == pool.cosine(pair.one, pair.other)
        assert not pool.scenario_trees or pair.other in pool.scenario_trees


def test_without_scenarios_any_tree_may_be_the_other():
    pool = Pool([tree(0, 0, "rent"), tree(1, 1, "rent")])
    assert [{pair.one, pair.other} for pair in sample_pairs(pool, 5, seed=0)] == [{0, 1}]
    assert sample_pairs(Pool([]), 5, seed=0) == []


@given(cosines)
def test_every_cosine_is_in_the_one_bar_that_it_belongs_to(found):
    bars = distribution(found)
    assert len(bars) == BARS
    assert sum(bar.number for bar in bars) == len(found)
    for bar in bars:
        low, high = bar.low - 1e-9, bar.high + (1e-9 if bar.high == 1 else 0)
        assert sum(low <= cosine < high for cosine in found) >= bar.number


def test_edges_belong_to_the_bar_above_them():
    bars = {bar.low: bar for bar in distribution([0.0, 0.05, 0.3, 1.0])}
    assert bars[0.05] == Bar(0.05, 0.1, 1)
    assert [bars[low].number for low in (0.0, 0.25, 0.3, 0.95)] == [1, 0, 1, 1]


@given(cosines, st.floats(0, 1), st.integers(0, 4))
def test_the_nearest_on_both_sides(found, threshold, number):
    under, above = around(found, threshold, number)
    values = [found[place] for place in under]
    assert values == sorted([one for one in found if one < threshold], reverse=True)[:number]
    values = [found[place] for place in above]
    assert values == sorted(one for one in found if one >= threshold)[:number]


def test_the_share_under_a_threshold():
    assert share_under([0.1, 0.2, 0.3, 0.4], 0.3) == 0.5
    assert share_under([], 0.3) is None
