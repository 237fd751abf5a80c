"""Drawing negatives (design 4.5)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.scenarios.domain import negatives
from apps.scenarios.domain.negatives import ONE_DOCUMENT, TOO_FEW, TOO_LIKE, Candidate, Pool, Result

pytestmark = pytest.mark.once

WORDS = ["age", "rent", "child", "work", "tax", "visa"]


@st.composite
def pools(draw):
    number = draw(st.integers(0, 12))
    trees = [
        Candidate(
            tree_id=f"{place:040}",
            document=draw(st.integers(0, 3)),
            question=draw(st.sampled_from("abcdef")),
            follow_ups=" ".join(draw(st.lists(st.sampled_from(WORDS), max_size=4))),
        )
        for place in range(number)
    ]
    owners = st.lists(st.integers(0, max(0, number - 1)), max_size=15 if number else 0)
    return Pool(trees, sorted(draw(owners)))


def tree(place: int, document: int, words: str = "", question: str = "") -> Candidate:
    return Candidate(f"{place:040}", document, question or f"question {place}", words)


@settings(max_examples=30)  # each makes vectors of its own
@given(pools(), st.integers(0, 4), st.integers(0, 3))
def test_questions_come_from_other_documents_and_none_comes_twice(pool, wanted, seed):
    for place, me in enumerate(pool.trees):
        result = pool.draw_questions(place, wanted, seed=seed)
        sources = [pool.trees[one.index] for one in result.drawn]
        assert all(source.document != me.document for source in sources)
        questions = [source.question for source in sources]
        assert len({*questions, me.question}) == len(questions) + 1
        assert len(questions) + result.missing == wanted
        possible = {t.question for t in pool.trees if t.document != me.document} - {me.question}
        assert len(questions) == min(wanted, len(possible))
        assert bool(result.reason) == bool(result.missing)


@settings(max_examples=30)  # each makes vectors of its own
@given(pools(), st.integers(0, 4), st.integers(0, 3), st.floats(0, 1))
def test_scenarios_come_from_other_documents_below_the_threshold(pool, wanted, seed, threshold):
    for place, me in enumerate(pool.trees):
        result = pool.draw_scenarios(place, wanted, threshold=threshold, seed=seed)
        for one in result.drawn:
            source = pool.scenario_trees[one.index]
            assert pool.trees[source].document != me.document
            assert one.cosine == pool.cosine(place, source) < threshold
        numbers = [one.index for one in result.drawn]
        assert len(set(numbers)) == len(numbers)
        possible = sum(
            pool.trees[other].document != me.document and pool.cosine(place, other) < threshold
            for other in pool.scenario_trees
        )
        assert len(numbers) == min(wanted, possible)
        assert result.missing == wanted - len(numbers)


@settings(max_examples=30)  # each makes vectors of its own
@given(pools(), st.integers(0, 3))
def test_the_same_seed_draws_the_same(pool, seed):
    again = Pool(pool.trees, pool.scenario_trees)
    for place in reversed(range(len(pool.trees))):
        one = pool.draw_scenarios(place, 3, threshold=0.5, seed=seed)
        assert again.draw_scenarios(place, 3, threshold=0.5, seed=seed) == one
        assert again.draw_questions(place, 3, seed=seed) == pool.draw_questions(place, 3, seed=seed)


def test_another_seed_draws_others():
    pool = Pool([tree(place, place) for place in range(50)])
    drawn = {pool.draw_questions(0, 1, seed=seed).drawn[0].index for seed in range(20)}
    assert len(drawn) > 5


def test_what_a_tree_has_is_not_drawn_again():
    pool = Pool([tree(place, place) for place in range(4)], [1, 2, 3])
    first = pool.draw_questions(0, 2, seed=0)
    more = pool.draw_questions(0, 1, seed=0, taken=[one.index for one in first.drawn])
    assert {one.index for one in (*first.drawn, *more.drawn)} == {1, 2, 3}
    taken = pool.draw_scenarios(0, 3, threshold=0.5, seed=0, taken=[0, 2])
    assert [one.index for one in taken.drawn] == [1]
    assert (taken.missing, taken.reason) == (2, TOO_FEW)


def test_one_document_gives_nothing():
    pool = Pool([tree(0, 1), tree(1, 1)], [0, 1])
    assert pool.draw_questions(0, 2, seed=0) == Result((), 2, ONE_DOCUMENT)
    assert pool.draw_scenarios(0, 1, threshold=1.0, seed=0) == Result((), 1, ONE_DOCUMENT)
    assert pool.draw_questions(0, 0, seed=0) == pool.draw_scenarios(0, 0, threshold=1, seed=0)


def test_trees_that_are_all_alike_give_no_scenario():
    pool = Pool([tree(place, place, "rent work") for place in range(5)], [0, 1, 2, 3, 4])
    assert pool.draw_scenarios(2, 1, threshold=0.9, seed=0) == Result((), 1, TOO_LIKE)


def test_without_words_nothing_is_alike():
    pool = Pool([tree(0, 0), tree(1, 1)], [0, 1])
    assert pool.cosine(0, 1) == 0.0
    assert pool.draw_scenarios(0, 1, threshold=0.1, seed=0).drawn[0].index == 1


def test_what_fits_is_found_without_luck(monkeypatch):
    monkeypatch.setattr(negatives, "DRAWS", 0)
    trees = [tree(place, place, "rent") for place in range(30)]
    trees[17] = tree(17, 17, "visa")
    pool = Pool(trees, [place for place in range(30) if place != 3])
    found = pool.draw_scenarios(3, 2, threshold=0.5, seed=4)
    assert [(pool.scenario_trees[one.index], one.cosine) for one in found.drawn] == [(17, 0.0)]
    assert (found.missing, found.reason) == (1, TOO_FEW)
    assert len(pool.draw_questions(3, 5, seed=4).drawn) == 5
    assert Pool(trees, []).draw_scenarios(3, 1, threshold=0.5, seed=4).missing == 1
    assert Pool([tree(0, 0), tree(1, 1)], [0, 1]).draw_scenarios(0, 1, threshold=1, seed=0).drawn
