"""Fills what 0003 added: the places of nodes, a seed for each tree, and a cut for each subtree
that was taken out.
"""

import secrets
from collections import defaultdict

from django.db import migrations

AT_ONCE = 500


def fill(apps, schema_editor):
    Tree, Node, Cut = (apps.get_model("trees", name) for name in ("Tree", "Node", "Cut"))
    trees = list(Tree.objects.all())
    for tree in trees:
        tree.seed = secrets.token_hex(16)
    Tree.objects.bulk_update(trees, ["seed"], batch_size=AT_ONCE)
    _fill_places(Node)
    _fill_cuts(Node, Cut)


def _fill_places(Node):
    children = defaultdict(list)
    for key, parent, branch in Node.objects.values_list("pk", "parent", "branch"):
        children[parent].append((key, branch))
    places, level = {}, [(key, "") for key, _ in children[None]]
    while level:
        places.update(level)
        level = [
            (key, place + branch[0]) for above, place in level for key, branch in children[above]
        ]
    nodes = [Node(pk=key, place=place) for key, place in places.items() if place]
    Node.objects.bulk_update(nodes, ["place"], batch_size=AT_ONCE)


def _fill_cuts(Node, Cut):
    out = Node.objects.filter(taken_out_at__isnull=False)
    for top in out.order_by("place"):
        if top.parent and top.parent.taken_out_at == top.taken_out_at:
            Node.objects.filter(pk=top.pk).update(cut=Node.objects.get(pk=top.parent_id).cut_id)
            continue
        cut = Cut.objects.create(
            tree=top.tree, parent=top.parent, branch=top.branch, kind="rejected",
            reason=top.taken_out_reason, at=top.taken_out_at, by=top.taken_out_by,
        )
        Node.objects.filter(pk=top.pk).update(cut=cut)


class Migration(migrations.Migration):
    dependencies = [("trees", "0003_work_and_review")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
