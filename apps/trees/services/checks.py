"""What people say about turns that others wrote: agreement, rejection, and votes on rejections."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction

from apps.trees.domain.places import parse_slot
from apps.trees.errors import BranchGoneError, NodeGoneError, NotYoursToRejectError
from apps.trees.models import Cut, Node, NodeCheck, Tree
from apps.trees.services.cuts import take_out
from apps.trees.services.open_work import NodeCheckWork, lock_tree
from apps.trees.services.steps import carry_steps, work_of
from apps.workers.models import Assignment, KeptText, Kind
from apps.workers.services.leases import release_all
from apps.workers.services.submits import NotTaken, Submitted, keep_text, submit

Verdict = NodeCheck.Verdict


@dataclass(frozen=True)
class Rejection:
    """Why a turn is wrong: one of the reasons, and what the worker adds."""

    reason: NodeCheck.Reason
    note: str = ""

    @property
    def in_words(self) -> str:
        return f"{self.reason.label}. {self.note}" if self.note else f"{self.reason.label}."


def record_agreement(assignment: Assignment, nodes: Iterable[Node], *, now: datetime) -> None:
    """The worker finds these turns of others right; said before, it stays as it was said."""
    checks = [_check(assignment, node, verdict=Verdict.AGREES, at=now) for node in nodes]
    NodeCheck.objects.bulk_create(checks, ignore_conflicts=True)


def reject_turn(
    assignment: Assignment, node: Node, rejection: Rejection, *, key: str, now: datetime
) -> Submitted | NotTaken:
    """Ends a path with a rejection of a turn above it, which counts as soon as enough say so.

    Raises NotYoursToRejectError; or BranchGoneError when the turn is out already, and then the
    lease is over.
    """
    take = partial(_reject, node=node, rejection=rejection, now=now)
    return _vote(assignment, node, take, note=rejection.note, key=key, now=now)


def vote_to_reject(
    assignment: Assignment, rejection: Rejection, *, key: str, now: datetime
) -> Submitted | NotTaken:
    """The work of checking a turn in dispute, ended with a rejection. Raises as reject_turn."""
    node = Node.objects.get(pk=assignment.work_id)
    return reject_turn(assignment, node, rejection, key=key, now=now)


def vote_to_keep(assignment: Assignment, *, key: str, now: datetime) -> Submitted | NotTaken:
    """The work of checking a turn in dispute, ended with agreement. Raises BranchGoneError."""
    node = Node.objects.get(pk=assignment.work_id)
    take = partial(_agree, node=node, now=now)
    return _vote(assignment, node, take, note="", key=key, now=now)


def _vote(
    assignment: Assignment, node: Node, take: Any, *, note: str, key: str, now: datetime
) -> Submitted | NotTaken:
    content = {"note": note} if note else {}
    on_path = assignment.kind == Kind.PATH
    try:
        with transaction.atomic():
            lock_tree(node.tree_id)
            answer = submit(
                assignment.pk, worker=assignment.worker, key=key, content=content, take=take,
                work=work_of(assignment) if on_path else check_of(assignment), now=now,
            )  # fmt: skip
            if isinstance(answer, NotTaken) and answer.again is not None and on_path:
                carry_steps(assignment, answer.again)
            return answer
    except NodeGoneError as error:
        end_void_work(assignment, content, now=now)
        raise BranchGoneError from error


def check_of(lease: Assignment) -> NodeCheckWork:
    return NodeCheckWork(Kind.NODE_CHECK, lease.work_id, round=lease.round)


def _agree(assignment: Assignment, *, node: Node, now: datetime) -> dict[str, Any]:
    _refuse_gone(node)
    _write(assignment, node, verdict=Verdict.AGREES, reason="", note="", at=now)
    return {"kept": node.pk, **_count_votes(assignment, node, now)}


def _reject(
    assignment: Assignment, *, node: Node, rejection: Rejection, now: datetime
) -> dict[str, Any]:
    _refuse_gone(node)
    if not can_be_rejected(assignment, node):
        raise NotYoursToRejectError
    _write(
        assignment, node, verdict=Verdict.REJECTS, reason=rejection.reason, note=rejection.note,
        at=now,
    )  # fmt: skip
    if node.disputed_at is None:
        Node.objects.filter(pk=node.pk).update(disputed_at=now)
        node.disputed_at = now
    return {"rejected": node.pk, **_count_votes(assignment, node, now)}


def _refuse_gone(node: Node) -> None:
    node.refresh_from_db(fields=["taken_out_at", "disputed_at"])
    if node.taken_out_at is not None:
        raise NodeGoneError


def can_be_rejected(assignment: Assignment, node: Node) -> bool:
    """Whether the turn is another person's, and on the path that the worker has before them."""
    if node.kind != Node.Kind.QUESTION or node.created_by_id == assignment.worker_id:
        return False
    if assignment.kind == Kind.NODE_CHECK:
        return assignment.work_id == node.pk
    parent, _ = parse_slot(assignment.part)
    if parent is None or assignment.work_id != node.tree_id:
        return False
    last = Node.objects.get(pk=parent)
    return last.place.startswith(node.place)


def _count_votes(assignment: Assignment, node: Node, now: datetime) -> dict[str, Any]:
    """Takes the turn out, lets it stand, or waits for more votes."""
    tree = node.tree
    votes = node.checks.votes(node.disputed_at or now)
    against = votes.filter(verdict=Verdict.REJECTS).order_by("pk")
    if len(against) >= tree.rejection_votes:
        first = against[0]
        why = Rejection(NodeCheck.Reason(first.reason), first.note).in_words
        take_out(
            node, kind=Cut.Kind.REJECTED, actor=assignment.worker, reason=why, now=now,
            submitting=assignment,
        )  # fmt: skip
        return {"taken_out": True}
    if _can_still_fall(tree, against=len(against), votes=votes.count()):
        return {"taken_out": False}
    Node.objects.filter(pk=node.pk).update(disputed_at=None)
    waiting = Assignment.objects.leased().of_work(Kind.NODE_CHECK, node.pk)
    release_all(waiting.exclude(pk=assignment.pk), actor=None, now=now, reason="the turn stands")
    return {"taken_out": False}


def _can_still_fall(tree: Tree, *, against: int, votes: int) -> bool:
    return against + (tree.rejection_voters - votes) >= tree.rejection_votes


def _check(assignment: Assignment, node: Node, **said: Any) -> NodeCheck:
    return NodeCheck(
        node=node, checker=assignment.worker, author_id=node.created_by_id, assignment=assignment,
        **said,
    )  # fmt: skip


def _write(assignment: Assignment, node: Node, **said: Any) -> None:
    """What the worker says now counts; they may have agreed before."""
    NodeCheck.objects.update_or_create(
        node=node, checker=assignment.worker,
        defaults={"author_id": node.created_by_id, "assignment": assignment, **said},
    )  # fmt: skip


@transaction.atomic
def end_void_work(assignment: Assignment, content: dict[str, Any], *, now: datetime) -> None:
    """What was worked on is not there any more: the lease ends, what was typed is kept."""
    if content:
        keep_text(assignment, KeptText.Reason.LEASE_ENDED, content, now)
    held = Assignment.objects.leased().filter(pk=assignment.pk)
    release_all(held, actor=None, now=now, reason="what was worked on was taken out of the tree")
