"""Fingerprints of trees: of what their utterances are made from, and of what the proof looks at.

Read as plain values, without a model instance each: most trees have not changed, and nothing more
is needed of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from apps.scenarios.domain.fingerprint import fingerprint
from apps.scenarios.models import (
    Fact,
    NegativeQuestion,
    NegativeScenario,
    Scenario,
    Utterance,
)
from apps.trees.models import Node, Tree

EXPANSION_RULE = 1
"""Grows when the rule of expansion changes, so that every tree is expanded anew."""

PROOF_RULE = 2
"""Grows when the rules of the proof change, so that every tree is looked at again."""

Keys = Sequence[int]


def prints_of_expansion(trees: Keys) -> dict[int, str]:
    """By the tree's key. Six queries."""
    texts = ("pk", "state", "question__snippet__text", "question__text")
    heads = _by_tree(Tree.objects.filter(pk__in=trees).values_list(*texts))
    nodes, facts = _nodes(trees, "pk"), _facts(trees)
    scenarios = Scenario.objects.in_force().filter(tree__in=trees).order_by("pk")
    written = _by_tree(scenarios.values_list("tree_id", "pk", "text_sha1"))
    questions = NegativeQuestion.objects.in_force().filter(tree__in=trees).order_by("pk")
    others = NegativeScenario.objects.in_force().filter(tree__in=trees).order_by("pk")
    attached = ("attached_place", "attached_scenario__text_sha1", "attached_scenario__state")
    negatives = [
        _by_tree(questions.values_list("tree_id", "pk", "text", *attached)),
        _by_tree(others.values_list("tree_id", "pk", "text")),
    ]
    return {
        tree: fingerprint(
            EXPANSION_RULE, heads[tree], nodes[tree], written[tree], facts[tree],
            *(some[tree] for some in negatives),
        )
        for tree in trees
    }  # fmt: skip


def prints_of_proof(trees: Keys) -> dict[int, str]:
    """By the tree's key. Corrections count by their versions. Four queries."""
    nodes, facts = _nodes(trees), _facts(trees)
    scenarios = Scenario.objects.in_force().filter(tree__in=trees).order_by("pk")
    written = _by_tree(scenarios.values_list("tree_id", "pk"))
    utterances = Utterance.objects.filter(tree__in=trees).order_by("pk")
    versions = _by_tree(utterances.values_list("tree_id", "pk", "version", "state"))
    return {
        tree: fingerprint(PROOF_RULE, nodes[tree], written[tree], facts[tree], versions[tree])
        for tree in trees
    }


def _nodes(trees: Keys, *more: str) -> dict[int, list[Any]]:
    rows = Node.objects.live().filter(tree__in=trees).order_by("place")
    return _by_tree(rows.values_list("tree_id", "place", "text", "answer", *more))


def _facts(trees: Keys) -> dict[int, list[Any]]:
    """In whatever order they were told: it makes no difference."""
    rows = Fact.objects.filter(scenario__tree__in=trees)
    columns = ("scenario__tree_id", "scenario_id", "follow_up_question", "follow_up_answer")
    return _by_tree(rows.order_by(*columns[1:]).values_list(*columns))


def _by_tree(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = defaultdict(list)
    for tree, *values in rows:
        found[tree].append(values)
    return found
