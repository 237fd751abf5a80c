"""Which users get to a node: those whose facts leave it open or lead there."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from apps.trees.domain.tree import Path, Tree, Turn, nodes


def paths_through(path: Path, node: Tree) -> list[frozenset[tuple[str, str]]]:
    """The folded turns of each whole path that leads through `node`, which `path` leads to."""
    past = frozenset(turn.folded for turn in path)
    return [past | {turn.folded for turn in below} for below in _whole_paths(node)]


def leads_through(facts: Iterable[Turn], paths: Iterable[frozenset[tuple[str, str]]]) -> bool:
    """Whether one of the paths has all of the facts, of which there is at least one.

    It is the same question as whether the expansion (design 4.6) gives an utterance at the node.
    """
    told = {fact.folded for fact in facts}
    return bool(told) and any(told <= path for path in paths)


def _whole_paths(node: Tree) -> Iterator[Path]:
    """The paths that no other path goes on from."""
    found = [path for path, _ in nodes(node)]
    for path, following in pairwise([*found, ()]):
        if len(following) <= len(path):  # parents come first, so what follows lies elsewhere
            yield path
