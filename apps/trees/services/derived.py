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
    shape = tree.to_domain() if finished else domain.OpenBranch()
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
    """What an expert has to look at in a finished tree; nothing in one that grows."""
    if not domain.is_finished(shape):
        return
    for redundant in highest_redundant(shape):
        yield Found(_key(redundant.question), KINDS[redundant.reason])
    for repeated in repeated_questions(shape):
        yield Found(_key(repeated.question), Flag.Kind.ASKED_TWICE)


def _key(question: domain.Question) -> int:
    assert isinstance(question.key, int)  # noqa: S101 - trees of the database have such keys.
    return question.key


def write_flags(tree: Tree, found: set[Found], *, now: datetime) -> None:
    """Raises what is new, and ends what is not there any more; what was kept stays kept."""
    computed = tree.flags.exclude(kind=Flag.Kind.NEAR)
    here = {
        Found(flag.node_id, Flag.Kind(flag.kind)): flag
        for flag in computed.filter(state__in=[Flag.State.OPEN, Flag.State.KEPT])
    }
    gone = [flag.pk for what, flag in here.items() if what not in found]
    if gone:
        states.move(Flag.objects.filter(pk__in=gone), Flag.State.GONE, actor=None, now=now)
    near = Flag.objects.open().filter(tree=tree, kind=Flag.Kind.NEAR)
    states.move(near.filter(node__taken_out_at__isnull=False), Flag.State.GONE, actor=None, now=now)
    Flag.objects.bulk_create(
        Flag(tree=tree, node_id=what.node, kind=what.kind, found_at=now)
        for what in sorted(found - set(here), key=lambda what: (what.node, what.kind))
    )


def write_logic(tree: Tree, shape: domain.Tree) -> None:
    """The class of its truth function; none while it grows."""
