"""Trees and nodes, the work of growing them, and what experts say about them."""

from apps.trees.models.review import Flag, FlagQuerySet, TreeComment, Wording
from apps.trees.models.tree import ANSWERS, Cut, Node, Tree, TreeQuerySet, build, draw_seed
from apps.trees.models.work import NodeCheck, PathStep

__all__ = [
    "ANSWERS",
    "Cut",
    "Flag",
    "FlagQuerySet",
    "Node",
    "NodeCheck",
    "PathStep",
    "Tree",
    "TreeComment",
    "TreeQuerySet",
    "Wording",
    "build",
    "draw_seed",
]
