"""Who did what to a tree, when, and how long it took."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from django.db.models import Q

from apps.accounts.models import User
from apps.projects.models import StateChange
from apps.trees.domain.places import parse_slot
from apps.trees.models import Flag, Node, NodeCheck, Tree, Wording
from apps.workers.models import Assignment, Kind

State = Assignment.State
HOW_IT_ENDED = {
    State.LEASED: "has it in hand",
    State.SUBMITTED: "submitted",
    State.RETURNED: "gave it back",
    State.EXPIRED: "ran out of time",
    State.RELEASED: "it was taken back",
}
STATES = {Tree.State.FINISHED: "Finished", Tree.State.GROWING: "Grows again"}


@dataclass(frozen=True)
class Event:
    """`about` is in people's own words; `took` is from lease to end, `active` what was spent."""

    at: datetime
    what: str
    who: User | None = None
    about: str = ""
    reason: str = ""
    took: timedelta | None = None
    active: timedelta | None = None

    @property
    def how_long(self) -> str:
        """From taking the work to its end, and in brackets what was spent on it."""
        if self.took is None:
            return ""
        return _in_words(self.took) + (f" ({_in_words(self.active)})" if self.active else "")


def history_of(tree: Tree) -> list[Event]:
    """All of it, newest first, in a constant number of queries."""
    nodes = {node.pk: node for node in tree.nodes.all()}
    events = chain(
        _beginning(tree), _work(tree, nodes), _rejections(tree), _cuts(tree, nodes),
        _wordings(tree, nodes), _kept(tree), _comments(tree), _states(tree),
    )  # fmt: skip
    return sorted(events, key=lambda event: event.at, reverse=True)


def _in_words(time: timedelta) -> str:
    minutes, seconds = divmod(round(time.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes} min"
    if minutes:
        return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
    return f"{seconds} s"


def _beginning(tree: Tree) -> Iterator[Event]:
    what = "Imported" if tree.job_id else "First question accepted, tree begun"
    yield Event(tree.created_at, what, tree.created_by, str(tree.question))


def _work(tree: Tree, nodes: dict[int, Node]) -> Iterator[Event]:
    on_tree = Q(kind__in=[Kind.PATH, Kind.SCENARIO], work_id=tree.pk)
    on_nodes = Q(kind=Kind.NODE_CHECK, work_id__in=tree.nodes.values("pk"))
    work = Assignment.objects.filter(on_tree | on_nodes, project=tree.project_id)
    released = StateChange.objects.filter(
        object_type="assignment", to_state=State.RELEASED, object_id__in=work.values("pk")
    ).select_related("actor")
    by_work = {change.object_id: change for change in released}
    for one in work.select_related("worker"):
        change = by_work.get(one.pk) if one.state == State.RELEASED else None
        yield Event(
            one.ended_at or one.leased_at,
            f"{one.get_kind_display()}: {HOW_IT_ENDED[State(one.state)]}",
            change.actor if change else one.worker,
            _about(one, nodes),
            f"From {one.worker}: {change.reason}." if change else one.return_reason,
            one.ended_at - one.leased_at if one.ended_at else None,
            timedelta(seconds=one.active_seconds) if one.active_seconds else None,
        )


def _about(work: Assignment, nodes: dict[int, Node]) -> str:
    if work.kind == Kind.NODE_CHECK:
        return str(nodes[work.work_id])
    if not work.part:
        return ""
    parent, branch = parse_slot(work.part)
    if parent is None:
        return "from the first question on"
    return f"{nodes[parent]} {branch.capitalize()}" if parent in nodes else ""


def _rejections(tree: Tree) -> Iterator[Event]:
    checks = NodeCheck.objects.filter(node__tree=tree, verdict=NodeCheck.Verdict.REJECTS)
    for check in checks.select_related("checker", "node"):
        reason = ". ".join(filter(None, [check.get_reason_display(), check.note]))
        yield Event(check.at, "Rejected a turn", check.checker, str(check.node), reason)


def _cuts(tree: Tree, nodes: dict[int, Node]) -> Iterator[Event]:
    for cut in tree.cuts.select_related("by", "restored_by"):
        where = f"{nodes[cut.parent_id]} {cut.branch.capitalize()}" if cut.parent_id else ""
        kind = cut.get_kind_display().lower()
        yield Event(cut.at, f"Took a branch out ({kind})", cut.by, where, cut.reason)
        if cut.restored_at:
            yield Event(cut.restored_at, "Restored a branch", cut.restored_by, where)


def _wordings(tree: Tree, nodes: dict[int, Node]) -> Iterator[Event]:
    """Each with the wording that came after it."""
    after: dict[int, str] = {}
    for row in Wording.objects.filter(node__tree=tree).select_related("replaced_by"):
        new = after.get(row.node_id, str(nodes[row.node_id]))
        after[row.node_id] = row.text
        yield Event(
            row.replaced_at, "Changed a wording", row.replaced_by, new, f"It was: {row.text}"
        )


def _kept(tree: Tree) -> Iterator[Event]:
    kept = tree.flags.filter(settled_at__isnull=False).exclude(
        state__in=[Flag.State.PRUNED, Flag.State.SETTLED]
    )
    for flag in kept.select_related("settled_by", "node"):
        if flag.settled_at:
            yield Event(
                flag.settled_at, "Kept a question", flag.settled_by, str(flag.node), flag.reason
            )


def _comments(tree: Tree) -> Iterator[Event]:
    for comment in tree.comments.select_related("author", "node"):
        about = str(comment.node) if comment.node else ""
        yield Event(comment.at, "Commented", comment.author, about, comment.text)


def _states(tree: Tree) -> Iterator[Event]:
    changes = StateChange.objects.filter(object_type="tree", object_id=tree.pk)
    for change in changes.select_related("actor"):
        yield Event(change.at, STATES[Tree.State(change.to_state)], change.actor)
