"""What a scenario is written on: any run of turns, and each turn gets its share."""

from collections import Counter
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from apps.scenarios.domain.prompts import Asked, place_among, prompt, prompts, whole_paths
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question, Turn
from tests.strategies import chain, full_tree, trees

YES, NO = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
seeds = st.text("0123456789abcdef", min_size=1, max_size=8)


def _is_within(run, path):
    return any(path[start : start + len(run)] == run for start in range(len(path)))


def keyed(tree, numbers=None):
    """The same tree, each question with a key of its own."""
    numbers = numbers or iter(range(10_000))
    if not isinstance(tree, Question):
        return tree
    key = next(numbers)
    return Question(tree.text, keyed(tree.yes, numbers), keyed(tree.no, numbers), key=key)


def test_the_whole_paths_of_a_tree():
    tree = Question("Old?", Question("Poor?", YES, NO, key=2), NO, key=1)
    old, poor = Asked(1, Turn("Old?", Answer.YES)), Asked(2, Turn("Poor?", Answer.YES))
    not_old, not_poor = Asked(1, Turn("Old?", Answer.NO)), Asked(2, Turn("Poor?", Answer.NO))
    assert list(whole_paths(tree)) == [(old, poor), (old, not_poor), (not_old,)]


def test_nobody_is_on_a_path_that_contradicts_itself_or_is_not_finished():
    again = Question("old", YES, NO, key=2)
    tree = Question("Old?", again, OpenBranch(), key=1)
    assert list(whole_paths(tree)) == [
        (Asked(1, Turn("Old?", Answer.YES)), Asked(2, Turn("old", Answer.YES)))
    ]


def test_a_tree_without_turns_has_no_prompt():
    assert prompt(YES, "seed", 0) is None


@given(trees().map(keyed), seeds, st.integers(1, 60))
def test_each_path_has_its_prompt_before_one_has_two(tree, seed, number):
    whole = list(whole_paths(tree))
    found = list(islice(prompts(tree, seed), number))
    assert len(found) == (number if whole else 0)
    for start in range(0, len(found), len(whole) or 1):
        assert _can_be_dealt(found[start : start + len(whole)], whole)


def _can_be_dealt(runs, whole):
    """Whether each run can be given a path of its own: paths are matched to runs."""
    taken: dict[int, int] = {}

    def place(run, seen):
        for number, path in enumerate(whole):
            if number in seen or not _is_within(runs[run], path):
                continue
            seen.add(number)
            if number not in taken or place(taken[number], seen):
                taken[number] = run
                return True
        return False

    return all(place(run, set()) for run in range(len(runs)))


@given(st.integers(1, 3), seeds, st.integers(1, 3))
def test_each_length_comes_equally_often(depth, seed, times):
    tree = keyed(full_tree(depth))
    found = islice(prompts(tree, seed), 2**depth * depth * times)
    lengths = Counter(len(run) for run in found)
    assert lengths == dict.fromkeys(range(1, depth + 1), 2**depth * times)


@given(trees().map(keyed), seeds, st.integers(1, 3))
def test_every_turn_gets_its_share(tree, seed, times):
    """In as many prompts as there are paths times the longest one, each turn comes at least once;
    in twice as many, twice."""
    whole = list(whole_paths(tree))
    longest = max((len(path) for path in whole), default=0)
    shown = Counter(
        asked for run in islice(prompts(tree, seed), len(whole) * longest * times) for asked in run
    )
    assert all(shown[asked] >= times for path in whole for asked in path)


@given(trees().map(keyed), seeds, st.integers(0, 40))
def test_the_seed_and_the_number_decide(tree, seed, number):
    assert prompt(tree, seed, number) == prompt(tree, seed, number)
    assert prompt(tree, seed, number) == next(islice(prompts(tree, seed), number, None), None)


def test_a_prompt_starts_anywhere_and_is_of_any_length():
    tree = keyed(chain(4))
    longest = max(whole_paths(tree), key=len)
    found = {prompt(tree, str(seed), number) for seed in range(200) for number in range(5)}
    runs = {longest[start:end] for start in range(4) for end in range(start + 1, 5)}
    assert runs <= found


def test_seven_prompts_of_a_small_tree_show_nearly_all_of_it():
    """As in a project that leaves the number as it is."""
    tree = keyed(full_tree(2))
    for seed in range(50):
        shown = {asked for run in islice(prompts(tree, str(seed)), 7) for asked in run}
        assert len(shown) >= 5


@given(st.integers(0, 9), seeds)
def test_what_is_put_in_stands_before_between_or_after(number, seed):
    assert 0 <= place_among([None] * number, seed) <= number


def test_it_is_put_in_anywhere():
    assert {place_among([1, 2], str(seed)) for seed in range(50)} == {0, 1, 2}
