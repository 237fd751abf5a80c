"""Drawing negatives (design 4.5)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.scenarios.domain.negatives import pool as pools_module
from apps.scenarios.domain.negatives.hardness import hardness, words
from apps.scenarios.domain.negatives.pool import (
    ONE_DOCUMENT,
    ONE_DOCUMENT_OF_BOTH,
    ONE_DOCUMENT_OF_LANGUAGE,
    ONE_DOCUMENT_OF_SPLIT,
    TOO_FEW,
    TOO_FEW_UNLIKE,
    TOO_LIKE,
    Attached,
    Candidate,
    Pool,
    Result,
)

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
            domain=draw(st.sampled_from(["a.example", "b.example"])),
            rule_text=" ".join(draw(st.lists(st.sampled_from([*WORDS, *"abcdef"]), max_size=4))),
            places=draw(st.sampled_from([(), ("n", "y")])),
        )
        for place in range(number)
    ]
    owners = st.lists(st.integers(0, max(0, number - 1)), max_size=15 if number else 0)
    scenario_trees = sorted(draw(owners))
    texts = [f"{WORDS[place % 6]} {WORDS[place % 5]}" for place in range(len(scenario_trees))]
    return Pool(trees, scenario_trees, texts)


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
    again = Pool(pool.trees, pool.scenario_trees, pool.scenario_texts)
    for place in reversed(range(len(pool.trees))):
        assert again.draw_questions(place, 3, seed=seed) == pool.draw_questions(place, 3, seed=seed)
        assert again.attach(place, 0, seed=seed) == pool.attach(place, 0, seed=seed)
        for name in ("draw_scenarios", "draw_hard_scenarios", "draw_hard_questions"):
            one, other = getattr(pool, name), getattr(again, name)
            drawn = one(place, 3, threshold=0.5, seed=seed)
            assert other(place, 3, threshold=0.5, seed=seed) == drawn


@settings(max_examples=30)  # each makes vectors of its own
@given(pools(), st.integers(0, 4), st.floats(0, 1))
def test_hard_ones_are_as_admissible_and_as_many(pool, wanted, threshold):
    for place, me in enumerate(pool.trees):
        questions = pool.draw_hard_questions(place, wanted, threshold=threshold, seed=1)
        sources = [pool.trees[one.index] for one in questions.drawn]
        asked = [source.question for source in sources]
        assert all(source.document != me.document for source in sources)
        assert all(one.cosine < threshold for one in questions.drawn)
        assert len({*asked, me.question}) == len(asked) + 1
        possible = {
            tree.question
            for number, tree in enumerate(pool.trees)
            if tree.document != me.document and pool.cosine(place, number) < threshold
        } - {me.question}
        assert len(asked) == min(wanted, len(possible))
        scenarios = pool.draw_hard_scenarios(place, wanted, threshold=threshold, seed=1)
        usual = pool.draw_scenarios(place, wanted, threshold=threshold, seed=1)
        assert len(scenarios.drawn) == len(usual.drawn)
        assert len({one.index for one in scenarios.drawn}) == len(scenarios.drawn)
        for one in scenarios.drawn:
            source = pool.scenario_trees[one.index]
            assert pool.trees[source].document != me.document
            assert pool.cosine(place, source) == one.cosine < threshold


@given(pools(), st.integers(0, 3))
def test_what_is_attached_belongs_to_the_tree(pool, seed):
    for place, me in enumerate(pool.trees):
        found = pool.attach(place, 0, seed=seed)
        assert found.place in ("", *me.places)
        assert found.scenario is None or pool.scenario_trees[found.scenario] == place


def test_hard_ones_come_from_the_same_domain_and_share_the_most_words():
    def one(place: int, domain: str, question: str) -> Candidate:
        return Candidate(f"{place:040}", place, question, f"word{place}", domain, "you pay rent")

    trees = [
        one(0, "a", "me"), one(1, "a", "do you pay"), one(2, "a", "is it"), one(3, "b", "pay rent")
    ]  # fmt: skip
    pool = Pool(trees, [1, 2, 3], ["I pay.", "It is so.", "You pay rent."])

    def hard(draw, wanted: int) -> list[int]:
        return [one.index for one in draw(0, wanted, threshold=0.5, seed=3).drawn]

    assert [hard(pool.draw_hard_questions, wanted) for wanted in (1, 2, 3)] == [
        [1], [1, 2], [1, 2, 3],
    ]  # fmt: skip
    assert [hard(pool.draw_hard_scenarios, wanted) for wanted in (1, 3)] == [[0], [0, 1, 2]]
    assert pool.draw_hard_questions(0, 4, threshold=0.5, seed=3).reason == TOO_FEW_UNLIKE


def test_each_form_is_attached_about_as_often():
    pool = Pool([Candidate("a", 1, "a", "", places=("y", "n")), tree(1, 2)], [0, 0])
    forms = [pool.attach(0, 1, seed=seed) for seed in range(400)]
    assert {(one.scenario is not None, bool(one.place)) for one in forms} == {
        (False, False), (False, True), (True, False), (True, True),
    }  # fmt: skip
    assert 60 < forms.count(Attached()) < 140
    assert pool.attach(1, 0, seed=0) == Attached()


def test_the_cost_grows_with_what_is_wanted_and_not_with_the_trees(monkeypatch):
    looked: list[int] = []

    def count(self, one: int, other: int) -> float:
        looked.append(other)
        return 0.0

    monkeypatch.setattr(Pool, "cosine", count)
    for number in (100, 10_000):
        trees = [tree(place, place) for place in range(number)]
        pool = Pool(trees, range(number), [""] * number)
        for draw in (pool.draw_scenarios, pool.draw_hard_scenarios, pool.draw_hard_questions):
            looked.clear()
            draw(7, 5, threshold=0.5, seed=0)
            assert len(looked) <= 6  # itself may be drawn, once


def test_hardness_is_the_share_of_words_that_the_rule_has():
    rule = words("You can claim if you PAY rent.")
    assert hardness("Do you pay, you pay?", rule) == 2 / 3
    assert [hardness(text, rule) for text in ("Rent!", "Is tea hot?", "…")] == [1.0, 0.0, 0.0]


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
    for draw in (pool.draw_hard_questions, pool.draw_hard_scenarios):
        assert draw(0, 2, threshold=1.0, seed=0) == Result((), 2, ONE_DOCUMENT)


def test_only_trees_of_one_split_lend_to_each_other():
    splits = ["train", "train", "dev", "train", "dev", "test"]
    trees = [
        Candidate(f"{place:040}", place, f"question {place}", "", "a", "", (), split)
        for place, split in enumerate(splits)
    ]
    pool = Pool(trees, range(6), [""] * 6)
    for draw in (pool.draw_scenarios, pool.draw_hard_scenarios, pool.draw_hard_questions):
        assert {one.index for one in draw(0, 6, threshold=0.5, seed=0).drawn} == {1, 3}
        assert draw(5, 1, threshold=0.5, seed=0) == Result((), 1, ONE_DOCUMENT_OF_SPLIT)
    assert [one.index for one in pool.draw_questions(2, 2, seed=0).drawn] == [4]


def test_trees_that_are_all_alike_give_no_scenario():
    pool = Pool([tree(place, place, "rent work") for place in range(5)], [0, 1, 2, 3, 4])
    assert pool.draw_scenarios(2, 1, threshold=0.9, seed=0) == Result((), 1, TOO_LIKE)
    hard = pool.draw_hard_questions(2, 1, threshold=0.9, seed=0)
    assert hard == Result((), 1, TOO_FEW_UNLIKE)


def test_trees_that_ask_the_same_are_looked_at_once(monkeypatch):
    monkeypatch.setattr(pools_module, "LOOKED_KEPT", 1)
    looked: list[int] = []
    look_up = Pool._look_up

    def count(self, what: str, one: int, threshold: float):
        looked.append(one)
        return look_up(self, what, one, threshold)

    monkeypatch.setattr(Pool, "_look_up", count)
    trees = [tree(place, place, "rent work") for place in range(4)] + [tree(4, 4, "rent")]
    pool = Pool(trees, range(5))
    for place in range(5):
        assert pool.draw_scenarios(place, 1, threshold=0.1, seed=0).missing == 1
    assert looked == [0, 4]


def test_without_words_nothing_is_alike():
    pool = Pool([tree(0, 0), tree(1, 1)], [0, 1])
    assert pool.cosine(0, 1) == 0.0
    assert pool.draw_scenarios(0, 1, threshold=0.1, seed=0).drawn[0].index == 1


def test_what_fits_is_found_without_luck(monkeypatch):
    monkeypatch.setattr(pools_module, "DRAWS", 0)
    trees = [tree(place, place, "rent") for place in range(30)]
    trees[17] = tree(17, 17, "visa")
    pool = Pool(trees, [place for place in range(30) if place != 3])
    found = pool.draw_scenarios(3, 2, threshold=0.5, seed=4)
    assert [(pool.scenario_trees[one.index], one.cosine) for one in found.drawn] == [(17, 0.0)]
    assert (found.missing, found.reason) == (1, TOO_FEW)
    assert len(pool.draw_questions(3, 5, seed=4).drawn) == 5
    assert Pool(trees, []).draw_scenarios(3, 1, threshold=0.5, seed=4).missing == 1
    assert Pool([tree(0, 0), tree(1, 1)], [0, 1]).draw_scenarios(0, 1, threshold=1, seed=0).drawn


@pytest.mark.parametrize("hard", [False, True])
def test_only_trees_of_one_language_lend_to_each_other(hard):
    trees = [
        Candidate(
            f"{place:040}", place, f"question {place}", WORDS[place], language="en" * (place < 3)
        )
        for place in range(6)
    ]
    pool = Pool(trees, range(6), WORDS)
    for place in range(6):
        own = {0, 1, 2} if place < 3 else {3, 4, 5}
        draws = (
            [pool.draw_hard_questions, pool.draw_hard_scenarios] if hard
            else [lambda *all, threshold, **more: pool.draw_questions(*all, **more),
                  pool.draw_scenarios]
        )  # fmt: skip
        for draw in draws:
            found = {one.index for one in draw(place, 3, threshold=1, seed=0).drawn}
            assert found == own - {place}


@pytest.mark.parametrize(
    ("kin", "reason"),
    [
        (("dev", "en"), ONE_DOCUMENT),
        (("train", "en"), ONE_DOCUMENT_OF_SPLIT),
        (("dev", "ja"), ONE_DOCUMENT_OF_LANGUAGE),
        (("train", "ja"), ONE_DOCUMENT_OF_BOTH),
    ],
)
def test_a_tree_alone_among_its_kin_says_which_that_is(kin, reason):
    split, language = kin
    other = 1 if kin == ("dev", "en") else 2
    trees = [
        Candidate("a", 1, "one", "", group="dev", language="en"),
        Candidate("b", other, "two", "", group=split, language=language),
    ]
    assert Pool(trees).draw_questions(0, 1, seed=0).reason == reason


def test_trees_that_ask_the_same_are_not_under_a_threshold_of_one():
    asked = " ".join(f"{word} {number}" for number, word in enumerate(WORDS * 3))
    trees = [tree(0, 0, asked), tree(1, 1, asked), tree(2, 2, "something else")]
    pool = Pool(trees, [0, 1])
    assert pool.cosine(0, 1) == 1
    assert pool.draw_scenarios(0, 1, threshold=1.0, seed=0).reason == TOO_LIKE
