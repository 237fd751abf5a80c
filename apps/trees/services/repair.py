"""Computes anew what is kept beside the nodes of trees, and brings in line what differs.

Nothing here should ever find anything: everybody who changes nodes calls derived.refresh. It is
for rows that were changed by hand, restored in part, or written by an older version.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from apps.projects.models import Project
from apps.trees.domain import tree as domain
from apps.trees.domain.places import parse_slot, place_below
from apps.trees.models import Flag, Node, Tree, build
from apps.trees.services.derived import Found, flags_of, logic_class_of, refresh
from apps.trees.services.near_questions import near_in, write_near_flags
from apps.trees.services.open_work import lock_tree
from apps.workers.models import Assignment, Kind
from apps.workers.services.leases import release_all

TREES_AT_ONCE = 100
LEASES_AT_ONCE = 400
DANGLING = "what was worked on is not there any more"


@dataclass(frozen=True)
class Difference:
    """What a row says, and what it should say. `tree` is the key of the tree."""

    tree: int
    tree_id: str
    what: str


def differences(project: Project) -> Iterator[Difference]:
    """All of them, tree by tree, then leases that hang in the air. Reads only."""
    for tree in _trees_of(project):
        yield from _differences_of(tree)
    for lease, tree_id in _dangling(project):
        yield Difference(lease.work_id, tree_id, f"{lease.get_kind_display()} of {lease.worker}, "
                         f"in work since {lease.leased_at:%Y-%m-%d %H:%M}: {DANGLING}")  # fmt: skip


def repair(project: Project, found: list[Difference], *, now: datetime) -> list[Difference]:
    """Brings all of it in line; returns what still differs, which is nothing."""
    for key in dict.fromkeys(difference.tree for difference in found):
        if Tree.objects.filter(project=project, pk=key).exists():
            _repair_tree(key, now)
    leases = [lease.pk for lease, _ in _dangling(project)]
    for start in range(0, len(leases), LEASES_AT_ONCE):
        held = Assignment.objects.leased().filter(pk__in=leases[start : start + LEASES_AT_ONCE])
        release_all(held, actor=None, now=now, reason=DANGLING)
    return list(differences(project))


def raise_flags(project: Project, *, now: datetime) -> None:
    """Brings the flags of finished trees in line, and touches no tree where they are."""
    for tree in _trees_of(project):
        if tree.state == Tree.State.FINISHED and any(_flag_differences(tree, _shape_of(tree))):
            with transaction.atomic():
                refresh(lock_tree(tree.pk), actor=None, now=now)


def _trees_of(project: Project) -> Iterator[Tree]:
    trees = Tree.objects.filter(project=project).select_related("project").order_by("pk")
    with_parts = trees.prefetch_related("nodes", "flags")
    return with_parts.iterator(chunk_size=TREES_AT_ONCE)


def _shape_of(tree: Tree) -> domain.Tree:
    return build(node for node in tree.nodes.all() if node.taken_out_at is None)


# What differs -------------------------------------------------------------------------------


def _differences_of(tree: Tree) -> Iterator[Difference]:
    shape = _shape_of(tree)
    for what in (
        *_state_difference(tree, shape), *_place_differences(tree),
        *_flag_differences(tree, shape), *_logic_difference(tree, shape), *_disputes_gone(tree),
    ):  # fmt: skip
        yield Difference(tree.pk, tree.tree_id, what)


def _state_difference(tree: Tree, shape: domain.Tree) -> Iterator[str]:
    should = Tree.State.FINISHED if domain.is_finished(shape) else Tree.State.GROWING
    if tree.state != should:
        yield f"its state is {tree.state}, and should be {should}"


def _place_differences(tree: Tree) -> Iterator[str]:
    for node, place in _places(tree):
        if node.place != place:
            yield f"the place of “{node}” is “{node.place}”, and should be “{place}”"


def _places(tree: Tree) -> Iterator[tuple[Node, str]]:
    """Each node with the place that its parents give it, parents first."""
    below: dict[int | None, list[Node]] = {}
    for node in tree.nodes.all():
        below.setdefault(node.parent_id, []).append(node)
    waiting = [(node, "") for node in below.get(None, [])]
    while waiting:
        node, place = waiting.pop(0)
        yield node, place
        waiting += [(row, place_below(place, row.branch)) for row in below.get(node.pk, [])]


def _flag_differences(tree: Tree, shape: domain.Tree) -> Iterator[str]:
    standing = [flag for flag in tree.flags.all() if flag.state in {"open", "kept"}]
    here = {Found(flag.node_id, Flag.Kind(flag.kind)) for flag in standing}
    found = set(flags_of(shape))
    if tree.near_looked_at and domain.is_finished(shape):
        found |= {Found(node, Flag.Kind.NEAR) for node in near_in(tree, shape)}
    else:
        here = {flag for flag in here if flag.kind != Flag.Kind.NEAR}
    texts = {node.pk: str(node) for node in tree.nodes.all()}
    for flag in sorted(here - found, key=lambda flag: flag.node):
        yield f"the flag “{flag.kind.label}” on “{texts.get(flag.node)}” does not hold"
    if domain.is_finished(shape):
        for flag in sorted(found - here, key=lambda flag: flag.node):
            yield f"the flag “{flag.kind.label}” on “{texts[flag.node]}” is missing"


def _logic_difference(tree: Tree, shape: domain.Tree) -> Iterator[str]:
    should = logic_class_of(shape)
    if tree.logic_class != should:
        here = tree.logic_class or "none"
        yield f"its class of logic is {here}, and should be {should or 'none'}"


def _disputes_gone(tree: Tree) -> Iterator[str]:
    for node in tree.nodes.all():
        if node.disputed_at is not None and node.taken_out_at is not None:
            yield f"“{node}” was taken out, and is still said to be in dispute"


def _dangling(project: Project) -> Iterator[tuple[Assignment, str]]:
    """Leases on branches that are not open, and on turns that are not in dispute."""
    kinds = [Kind.PATH, Kind.NODE_CHECK]
    leases = Assignment.objects.leased().filter(project=project, kind__in=kinds)
    held = list(leases.select_related("worker").order_by("pk"))
    for start in range(0, len(held), LEASES_AT_ONCE):
        yield from _dangling_among(held[start : start + LEASES_AT_ONCE])


def _dangling_among(held: list[Assignment]) -> Iterator[tuple[Assignment, str]]:
    on_paths = {lease.pk: parse_slot(lease.part) for lease in held if lease.kind == Kind.PATH}
    checked = [lease.work_id for lease in held if lease.kind == Kind.NODE_CHECK]
    parents = [parent for parent, _ in on_paths.values() if parent]
    trees = [lease.work_id for lease in held if lease.kind == Kind.PATH]
    nodes = Node.objects.live().filter(
        Q(pk__in=checked) | Q(pk__in=parents) | Q(parent__in=parents)
        | Q(parent=None, tree__in=trees)
    )  # fmt: skip
    rows = {node.pk: node for node in nodes.select_related("tree")}
    taken = {(node.parent_id or -node.tree_id, node.branch) for node in rows.values()}
    ids = dict(Tree.objects.filter(pk__in=trees).values_list("pk", "tree_id"))
    for lease in held:
        if lease.kind == Kind.PATH:
            parent, branch = on_paths[lease.pk]
            above = rows.get(parent) if parent else None
            hangs = lease.work_id in ids if parent is None else _asks(above, lease.work_id)
            if not hangs or (parent or -lease.work_id, branch) in taken:
                yield lease, ids.get(lease.work_id, "")
        elif lease.work_id not in rows or rows[lease.work_id].disputed_at is None:
            node = rows.get(lease.work_id)
            yield lease, node.tree.tree_id if node else ""


def _asks(node: Node | None, tree: int) -> bool:
    return node is not None and node.tree_id == tree and node.kind == Node.Kind.QUESTION


# Bringing it in line ------------------------------------------------------------------------


@transaction.atomic
def _repair_tree(key: int, now: datetime) -> None:
    tree = lock_tree(key)
    looked_at = tree.near_looked_at
    for node, place in _places(tree):
        if node.place != place:
            Node.objects.filter(pk=node.pk).update(place=place)
    tree.nodes.filter(taken_out_at__isnull=False, disputed_at__isnull=False).update(
        disputed_at=None
    )
    refresh(tree, actor=None, now=now)
    if looked_at and tree.state == Tree.State.FINISHED:
        write_near_flags(tree, near_in(tree, tree.to_domain()), now=now)
