"""What follows from the nodes of a tree and is kept beside them: its state, its flags, its logic.

Everybody who changes nodes calls `refresh` while they hold the tree's lock. The command
`repair_trees` computes all of it anew and reports what differs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from apps.accounts.models import User
from apps.projects.services import states
from apps.trees.domain import tree as domain
from apps.trees.domain.logic.classes import logic
from apps.trees.domain.redundancy import (
    RedundancyReason,
    highest_redundant,
    repeated_questions,
)
from apps.trees.models import Flag, Node, Tree

KINDS = {
    RedundancyReason.ONE_ANSWER: Flag.Kind.ONE_ANSWER,
    RedundancyReason.SAME_BRANCHES: Flag.Kind.SAME_BRANCHES,
}


@dataclass(frozen=True)
class Found:
    """Something that an expert has to look at: the key of the question, and what it is."""

    node: int
    kind: Flag.Kind


def refresh(tree: Tree, *, actor: User | None, now: datetime) -> None:
    """Brings state, flags and logic in line with the live nodes. The tree is locked."""
    finished = is_full(tree)
    to = Tree.State.FINISHED if finished else Tree.State.GROWING
    if to != tree.state:
        states.move(Tree.objects.filter(pk=tree.pk), to, actor=actor, now=now)
        tree.state = to
    shape: domain.Tree = domain.OpenBranch()
    if finished or tree.flags.standing().exists():
        shape = tree.to_domain()
        write_flags(tree, set(flags_of(shape)), now=now)
    write_logic(tree, shape)


def is_full(tree: Tree) -> bool:
    """Whether every live question has both branches, and there is a root. One query.

    The database sees to it that nodes form a tree, so the numbers tell.
    """
    number = tree.nodes.live().aggregate(
        nodes=Count("pk"), questions=Count("pk", filter=Q(kind=Node.Kind.QUESTION))
    )
    return bool(number["nodes"] == 2 * number["questions"] + 1)


def flags_of(shape: domain.Tree) -> Iterator[Found]:
    """What an expert has to look at. Nothing above an open branch is called redundant."""
    for redundant in highest_redundant(shape):
        yield Found(_key(redundant.question), KINDS[redundant.reason])
    for repeated in repeated_questions(shape):
        yield Found(_key(repeated.question), Flag.Kind.ASKED_TWICE)


def _key(question: domain.Question) -> int:
    assert isinstance(question.key, int)  # noqa: S101 - trees of the database have such keys.
    return question.key


def write_flags(tree: Tree, found: set[Found], *, now: datetime) -> None:
    """Raises what is new in a finished tree, and ends what is not there any more.

    While the tree grows, what was raised before stays as long as it is true: an expert who prunes
    one question finds the others still to settle, and what was kept is not asked again.
    """
    standing = list(tree.flags.standing().select_related("node"))
    computed = [flag for flag in standing if flag.kind != Flag.Kind.NEAR]
    here = {Found(flag.node_id, Flag.Kind(flag.kind)): flag for flag in computed}
    gone = [flag.pk for what, flag in here.items() if what not in found]
    gone += [flag.pk for flag in standing if _is_near_nothing(flag)]
    if gone:
        states.move(Flag.objects.filter(pk__in=gone), Flag.State.GONE, actor=None, now=now)
    if tree.state == Tree.State.FINISHED:
        Flag.objects.bulk_create(new_flags(tree, found - set(here), now=now))


def _is_near_nothing(flag: Flag) -> bool:
    """What is near to what is compared in the background; that a question is out is known now."""
    return flag.kind == Flag.Kind.NEAR and flag.node.taken_out_at is not None


def new_flags(tree: Tree, found: set[Found], *, now: datetime) -> list[Flag]:
    """Rows that are not saved, the first questions first."""
    in_order = sorted(found, key=lambda what: (what.node, what.kind))
    return [Flag(tree=tree, node_id=what.node, kind=what.kind, found_at=now) for what in in_order]


def logic_class_of(shape: domain.Tree) -> str:
    """The name of the class of a finished tree's truth function; "" while it grows."""
    return logic(shape).kind.name.lower() if domain.is_finished(shape) else ""


def write_logic(tree: Tree, shape: domain.Tree) -> None:
    """The class of its truth function; its questions have to be compared anew."""
    kind = logic_class_of(shape)
    differs = ~Q(logic_class=kind) | Q(near_looked_at__isnull=False)
    Tree.objects.filter(differs, pk=tree.pk).update(logic_class=kind, near_looked_at=None)
    tree.logic_class, tree.near_looked_at = kind, None
