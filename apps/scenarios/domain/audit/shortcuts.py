"""Shortcuts: what somebody gets right who never reads the rule."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.scenarios.domain.audit.rows import IRRELEVANT, Row, Share, share
from apps.trees.domain.tree import Tree, paths


@dataclass(frozen=True)
class Shortcuts:
    """Each with how often it is right.

    irrelevant_if_empty   no history and no scenario, so Irrelevant
    irrelevant_found      the Irrelevant ones that are found so
    last_answer           the final answer is the last answer of the history
    last_evidence         the final answer is the last answer of the evidence (no history)
    leaf_is_last_edge     a leaf gives the answer on its last edge
    trees_of_last_edges   trees all of whose leaves do
    """

    irrelevant_if_empty: Share
    irrelevant_found: Share
    last_answer: Share
    last_evidence: Share
    leaf_is_last_edge: Share
    trees_of_last_edges: Share


def find_shortcuts(rows: Sequence[Row], trees: Iterable[Tree]) -> Shortcuts:
    """The table of shortcuts of `rows` and of the finished trees they come from."""
    empty = [row for row in rows if not row.history and not row.scenario]
    irrelevant = [row for row in rows if row.label == IRRELEVANT]
    told = [row for row in rows if row.history and row.is_decided]
    inferred = [row for row in rows if row.evidence and not row.history and row.is_decided]
    edges = [_edges(tree) for tree in trees]
    return Shortcuts(
        irrelevant_if_empty=share([row.label == IRRELEVANT for row in empty]),
        irrelevant_found=share([not row.history and not row.scenario for row in irrelevant]),
        last_answer=share([row.history[-1].follow_up_answer == row.answer for row in told]),
        last_evidence=share([row.evidence[-1].follow_up_answer == row.answer for row in inferred]),
        leaf_is_last_edge=share([same for tree in edges for same in tree]),
        trees_of_last_edges=share([all(tree) for tree in edges]),
    )


def _edges(tree: Tree) -> list[bool]:
    """For each leaf whether it gives the answer on its last edge; a lone leaf has no edge."""
    return [
        path[-1].follow_up_answer == leaf.answer if path else False for path, leaf in paths(tree)
    ]
