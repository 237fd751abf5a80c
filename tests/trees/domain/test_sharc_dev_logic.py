"""The logic of the trees of the official ShARC dev set, where this machine has it."""

from collections import Counter
from pathlib import Path as FilePath

import pytest

from apps.trees.domain.logic.classes import LogicClass, logic
from apps.trees.domain.logic.comparison import difference
from apps.trees.domain.tree import Tree
from tests.scenarios.domain.sharc_dev import read_dev_set
from tests.trees.domain.logic_trees import asked, asked_in_another_order

pytestmark = pytest.mark.once  # no database

ALWAYS_THE_SAME = {"12c6078e", "f4a2ed22", "2161030a", "566837f8", "e9282acc", "b7f3ad3a"}
NOT_READ_ONCE = {"45c0b83e", "95222ed4"}


def dev_trees(folder: FilePath) -> dict[str, Tree]:
    """By the first eight digits of their ids."""
    trees = read_dev_set(folder).trees()
    return {tree_id[:8]: rebuilt.tree for tree_id, rebuilt in trees.items()}


def test_classes(sharc_dev: FilePath) -> None:
    found = {tree_id: logic(tree) for tree_id, tree in dev_trees(sharc_dev).items()}
    assert Counter(one.kind for one in found.values()) == {
        LogicClass.ONE_QUESTION: 32,
        LogicClass.OR: 10,
        LogicClass.AND: 8,
        LogicClass.NEGATED_QUESTION: 6,
        LogicClass.WITH_NOT: 5,
        LogicClass.NOT_READ_ONCE: 2,
        LogicClass.CONSTANT: 6,
    }
    of_kind = {kind: {i for i, one in found.items() if one.kind is kind} for kind in LogicClass}
    assert of_kind[LogicClass.CONSTANT] == ALWAYS_THE_SAME
    assert of_kind[LogicClass.NOT_READ_ONCE] == NOT_READ_ONCE
    assert all(one.expression for one in found.values())


def test_words(sharc_dev: FilePath) -> None:
    trees = dev_trees(sharc_dev)
    assert logic(trees["c741ce4d"]).words == (
        "Yes, if “Are you eligible for it?” and not “Have you contracted out of the state?”"
    )
    assert logic(trees["31dde373"]).words == "Yes, unless “Does Species+ say the animal is banned?”"


def test_asking_in_another_order_is_agreement(sharc_dev: FilePath) -> None:
    trees = dev_trees(sharc_dev).values()
    reversed_trees = [asked_in_another_order(tree, asked(tree)[::-1]) for tree in trees]
    for tree, other in zip(trees, reversed_trees, strict=True):
        assert difference(tree, other) is None
        assert logic(other).kind is logic(tree).kind
