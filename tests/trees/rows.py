"""Trees of the database as services leave them: with state, flags and logic."""

from typing import Any

from django.utils import timezone

from apps.projects.models import Project
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question
from apps.trees.domain.tree import Tree as Shape
from apps.trees.models import Flag, Node, Tree
from apps.trees.services.derived import refresh
from tests.factories import make_tree

YES, NO = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
OPEN = OpenBranch()
NEEDLESS = Question("Needless?", YES, YES)
REDUNDANT = Question("Over 18?", NEEDLESS, NO)


def grow(project: Project, shape: Shape = REDUNDANT, **fields: Any) -> Tree:
    tree = make_tree(project, shape, **fields)
    refresh(tree, actor=None, now=timezone.now())
    return tree


def node(tree: Tree, text: str) -> Node:
    """The live question with this text."""
    return tree.nodes.live().select_related("tree__project", "parent").get(text=text)


def leaf(tree: Tree, place: str) -> Node:
    return tree.nodes.live().select_related("tree__project", "parent").get(place=place)


def flags(tree: Tree) -> list[tuple[str, str, str]]:
    """Question, kind and state of each flag, in the order in which they were found."""
    rows = Flag.objects.filter(tree=tree).order_by("pk")
    return [(str(flag.node), flag.kind, flag.state) for flag in rows.select_related("node")]


def flag_on(tree: Tree, text: str) -> Flag:
    return Flag.objects.standing().get(tree=tree, node__text=text)
