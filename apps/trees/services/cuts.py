"""Takes subtrees out, and restores them. Nothing is deleted."""

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from apps.accounts.models import User
from apps.projects.services import audit
from apps.trees.domain.places import slot_name
from apps.trees.domain.tree import Answer
from apps.trees.errors import BranchOccupiedError, CutNotInForceError, NodeGoneError
from apps.trees.models import Cut, Node, Tree
from apps.trees.services.derived import refresh
from apps.trees.services.open_work import is_branch_open, lock_tree
from apps.workers.models import Assignment, AssignmentQuerySet, Kind
from apps.workers.services.leases import release_all

TAKEN_OUT = "what was worked on was taken out of the tree"
RESTORED = "the branch was restored"


@transaction.atomic
def take_out(
    node: Node, *, kind: Cut.Kind, actor: User | None, reason: str, now: datetime,
    submitting: Assignment | None = None,
) -> Cut:  # fmt: skip
    """Takes the node and all below it out; the branch is open work again at once.

    Leases on what goes end (not `submitting`, which is about to end by itself). Raises
    NodeGoneError.
    """
    tree = lock_tree(node.tree_id)
    cut = _cut(
        tree, node, kind=kind, actor=actor, reason=reason, now=now, submitting=submitting
    )  # fmt: skip
    refresh(tree, actor=actor, now=now)
    return cut


@transaction.atomic
def put_answer(
    node: Node, answer: Answer, *, actor: User, reason: str, now: datetime
) -> tuple[Cut, Node]:
    """The actor's final answer in the place of the node and all below it, which are taken out.

    Raises NodeGoneError.
    """
    tree = lock_tree(node.tree_id)
    cut = _cut(tree, node, kind=Cut.Kind.SETTLED, actor=actor, reason=reason, now=now)
    leaf = Node.at(
        tree, node.parent, node.branch, kind=Node.Kind.ANSWER, answer=answer, created_by=actor,
        created_at=now,
    )  # fmt: skip
    leaf.save(force_insert=True)
    refresh(tree, actor=actor, now=now)
    return cut, leaf


def _cut(
    tree: Tree, node: Node, *, kind: Cut.Kind, actor: User | None, reason: str, now: datetime,
    submitting: Assignment | None = None,
) -> Cut:  # fmt: skip
    live = tree.nodes.live()
    if not live.filter(pk=node.pk).exists():
        raise NodeGoneError
    below = live.below(node.place)
    keys = list(below.values_list("pk", flat=True))
    cut = Cut.objects.create(
        tree=tree, parent_id=node.parent_id, branch=node.branch, kind=kind, reason=reason, at=now,
        by=actor,
    )  # fmt: skip
    below.update(taken_out_at=now, cut=cut, disputed_at=None)
    held = leases_on(tree.pk, keys)
    if submitting is not None:
        held = held.exclude(pk=submitting.pk)
    release_all(held, actor=actor, now=now, reason=TAKEN_OUT)
    audit.record(
        actor, f"take out: {cut.kind}", node, project=tree.project, reason=reason, nodes=len(keys)
    )
    return cut


@transaction.atomic
def restore(cut: Cut, *, actor: User, now: datetime) -> None:
    """Puts the nodes of the cut back where they were.

    Raises CutNotInForceError, or BranchOccupiedError when something stands there now, or the
    question above was taken out.
    """
    tree = lock_tree(cut.tree_id)
    in_force = Cut.objects.in_force().filter(pk=cut.pk)
    if not in_force.update(restored_at=now, restored_by=actor):
        raise CutNotInForceError
    slot = slot_name(cut.parent_id, cut.branch)
    if not is_branch_open(tree, slot):
        raise BranchOccupiedError
    nodes = Node.objects.filter(cut=cut)
    # Parents first: the database wants a live one.
    for place in sorted(set(nodes.values_list("place", flat=True)), key=len):
        nodes.filter(place=place).update(taken_out_at=None)
    nodes.update(cut=None)
    held = Assignment.objects.leased().of_work(Kind.PATH, tree.pk).filter(part=slot)
    release_all(held, actor=actor, now=now, reason=RESTORED)
    refresh(tree, actor=actor, now=now)
    audit.record(actor, "restore", cut, project=tree.project)


def leases_on(tree: int, nodes: list[int]) -> AssignmentQuerySet:
    """What is being worked on under these nodes, or about them."""
    slots = [slot_name(key, branch) for key in nodes for branch in ("yes", "no")]
    on_paths = Q(kind=Kind.PATH, work_id=tree, part__in=slots)
    return Assignment.objects.leased().filter(on_paths | Q(kind=Kind.NODE_CHECK, work_id__in=nodes))
