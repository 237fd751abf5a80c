"""Finds questions of one path that are nearly the same: in the background, never in a request.

Whoever changes a finished tree leaves `near_looked_at` empty (derived.refresh); a periodic task
sees to these trees, and so does `find_redundant`.
"""

from datetime import datetime

from django.db import transaction

from apps.projects.services import states
from apps.trees.domain import tree as domain
from apps.trees.domain.near import near_questions
from apps.trees.models import Flag, Tree, TreeQuerySet
from apps.trees.services.open_work import lock_tree

MOST_AT_ONCE = 500
"""Trees seen to by one run of the periodic task: about five seconds."""

Near = dict[int, int]
"""Keys of questions, each with the key of the one above that it is nearest to."""


def look_for_near_questions(trees: TreeQuerySet, *, now: datetime, most: int = MOST_AT_ONCE) -> int:
    """Sees to those of the trees that changed since; returns how many."""
    waiting = trees.finished().filter(near_looked_at__isnull=True).order_by("pk")
    keys = list(waiting.values_list("pk", flat=True)[:most])
    for key in keys:
        _look_at(key, now)
    return len(keys)


@transaction.atomic
def _look_at(key: int, now: datetime) -> None:
    tree = lock_tree(key)
    if tree.state != Tree.State.FINISHED:
        return
    write_near_flags(tree, near_in(tree, tree.to_domain()), now=now)


def near_in(tree: Tree, shape: domain.Tree) -> Near:
    threshold = tree.project.near_question_threshold
    return {
        int(str(near.question.key)): int(str(near.earlier.key))
        for near in near_questions(shape, threshold)
    }


def write_near_flags(tree: Tree, near: Near, *, now: datetime) -> None:
    """Raises what is new and ends what is not there any more. The tree is locked."""
    here = dict(tree.flags.standing().filter(kind=Flag.Kind.NEAR).values_list("node", "pk"))
    gone = [flag for node, flag in here.items() if node not in near]
    states.move(Flag.objects.filter(pk__in=gone), Flag.State.GONE, actor=None, now=now)
    Flag.objects.bulk_create(
        Flag(tree=tree, node_id=node, other_id=other, kind=Flag.Kind.NEAR, found_at=now)
        for node, other in sorted(near.items()) if node not in here
    )  # fmt: skip
    Tree.objects.filter(pk=tree.pk).update(near_looked_at=now)
