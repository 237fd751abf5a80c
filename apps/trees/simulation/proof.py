"""Looks at all that a project's trees and assignments say, for what must never be."""

from collections import defaultdict
from collections.abc import Iterator

from django.db.models import Count, Exists, F, OuterRef, Q

from apps.projects.models import Project
from apps.trees.domain.tree import is_finished
from apps.trees.models import Node, NodeCheck, Tree, build
from apps.workers.models import Assignment, Kind

State = Assignment.State
HELD = Q(state__in=[State.LEASED, State.SUBMITTED])


def faults(project: Project) -> list[str]:
    """One line for each; an empty list is the proof."""
    return [
        line
        for look in (_states, _branches, _own_turns, _own_checks, _too_many, _again, _origins)
        for line in look(project)
    ]


def _states(project: Project) -> Iterator[str]:
    for tree in Tree.objects.filter(project=project).with_live_nodes():
        nodes = list(tree.nodes.all())
        if is_finished(build(nodes)) != (tree.state == Tree.State.FINISHED):
            yield f"tree {tree}: {tree.state}, with {len(nodes)} live nodes"


def _branches(project: Project) -> Iterator[str]:
    live = Node.objects.live().filter(tree__project=project)
    twice = live.values("tree", "parent", "branch").annotate(number=Count("pk"))
    for row in twice.filter(number__gt=1):
        yield f"{row['number']} live nodes on one branch: {row}"
    for node in live.filter(Q(parent__taken_out_at__isnull=False) | Q(parent__kind="answer")):
        yield f"node {node.pk} hangs under what is no live question"


def _own_turns(project: Project) -> Iterator[str]:
    """Nobody goes on from what they wrote in another walk."""
    live = Node.objects.live().filter(tree__project=project, assignment__isnull=False)
    trees: dict[int, dict[str, Node]] = defaultdict(dict)
    for node in live:
        trees[node.tree_id][node.place] = node
    for nodes in trees.values():
        for node in nodes.values():
            above = [nodes.get(node.place[:end]) for end in range(len(node.place))]
            if any(one and _is_of_another_walk(one, node) for one in above):
                yield f"node {node.pk}: its author went on below a turn of their own"


def _is_of_another_walk(above: Node, node: Node) -> bool:
    same_author = above.created_by_id == node.created_by_id
    return same_author and above.assignment_id != node.assignment_id


def _own_checks(project: Project) -> Iterator[str]:
    own = NodeCheck.objects.filter(node__tree__project=project, checker=F("node__created_by"))
    for check in own:
        yield f"check {check.pk} is of the author of the turn"


def _too_many(project: Project) -> Iterator[str]:
    """No work went to more people than it needs."""
    held = Assignment.objects.filter(HELD, project=project)
    given = held.values("kind", "work_id", "part", "round").annotate(number=Count("pk"))
    for row in given.filter(kind__in=[Kind.PATH, Kind.SCENARIO], number__gt=1):
        yield f"given to too many: {row}"
    voters = dict(Node.objects.filter(tree__project=project).values_list(
        "pk", "tree__rejection_voters"
    ))  # fmt: skip
    for row in given.filter(kind=Kind.NODE_CHECK, number__gt=1):
        if row["number"] >= voters[row["work_id"]]:
            yield f"given to too many: {row}"


def _again(project: Project) -> Iterator[str]:
    """Nobody gets a branch that they had to its end, or gave back."""
    same = Assignment.objects.filter(
        kind=Kind.PATH, work_id=OuterRef("work_id"), part=OuterRef("part"),
        worker=OuterRef("worker"), pk__lt=OuterRef("pk"),
        state__in=[State.SUBMITTED, State.RETURNED],
    )  # fmt: skip
    for lease in Assignment.objects.filter(Exists(same), project=project, kind=Kind.PATH):
        yield f"assignment {lease.pk}: {lease.worker} had it before"


def _origins(project: Project) -> Iterator[str]:
    """Nodes come from submits, and each by the one whose work it was."""
    of_work = Node.objects.filter(tree__project=project, assignment__isnull=False)
    odd = of_work.exclude(assignment__state=State.SUBMITTED) | of_work.exclude(
        assignment__worker=F("created_by")
    )
    for node in odd:
        yield f"node {node.pk} is of assignment {node.assignment_id}, which was not submitted so"
