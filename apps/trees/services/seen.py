"""Whether what a page showed is still so. Whoever asks holds the tree's lock."""

from apps.trees.domain.changes import fingerprint
from apps.trees.errors import TreeChangedError
from apps.trees.models import Node


def fingerprint_of(node: Node) -> str:
    """Of a live node and all that stands below it."""
    live = Node.objects.live().filter(tree=node.tree_id).below(node.place)
    return fingerprint((row.pk, str(row)) for row in live)


def refuse_changed(node: Node, seen: str) -> None:
    """Raises TreeChangedError unless `seen` is the fingerprint of the node and all below it."""
    if fingerprint_of(node) != seen:
        raise TreeChangedError
