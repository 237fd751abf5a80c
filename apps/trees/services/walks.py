"""A worker's walk along one path: what is before them, and each turn until they submit.

The turns are steps of the assignment; nodes are made of them when the path is submitted. So the
branches that the walk does not take are nobody's work while the worker may still take a turn back.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.db import transaction

from apps.projects.services import states
from apps.trees.domain.places import answers_on, parse_slot, place_below
from apps.trees.domain.simulated_user import simulated_answer
from apps.trees.domain.tree import Answer, Turn
from apps.trees.errors import (
    CheckFirstError,
    DepthReachedError,
    NothingToUndoError,
    PathEndedError,
    SpanMissingError,
    SpanOutsideError,
    StalePageError,
)
from apps.trees.models import Node, NodeCheck, PathStep, Tree
from apps.trees.services.checks import record_agreement
from apps.trees.services.open_work import lock_tree
from apps.trees.services.steps import carry_steps, work_of
from apps.trees.services.wording import refuse_text
from apps.workers.errors import LeaseEndedError
from apps.workers.models import Assignment, KeptText
from apps.workers.services.leases import own_lease, take_slot_again
from apps.workers.services.submits import keep_text

State = Assignment.State


@dataclass(frozen=True)
class HistoryTurn:
    """One turn above the branch: the node, the answer on the way, and whose it is."""

    node: Node
    answer: Answer
    is_own: bool


class Walk:
    """One path as its worker has it before them. A constant number of queries."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.tree = Tree.objects.with_source().get(pk=assignment.work_id)

    @cached_property
    def start(self) -> str:
        """The place where the worker goes on."""
        parent, branch = parse_slot(self.assignment.part)
        if parent is None:
            return ""
        return place_below(Node.objects.values_list("place", flat=True).get(pk=parent), branch)

    @cached_property
    def history(self) -> list[HistoryTurn]:
        """The turns above the branch, as they stand now."""
        if not self.start:
            return []
        nodes = self.tree.nodes.live().on_path_to(self.start[:-1])
        worker = self.assignment.worker_id
        return [
            HistoryTurn(node, answer, is_own=node.created_by_id == worker)
            for node, answer in zip(nodes, answers_on(self.start), strict=False)
        ]

    @cached_property
    def steps(self) -> list[PathStep]:
        """The worker's own turns, the final answer last if it was given."""
        return list(self.assignment.path_steps.standing())

    @cached_property
    def needs_check(self) -> bool:
        """Whether there are turns of others that the worker has not had a say about."""
        others = {turn.node.pk for turn in self.history if not turn.is_own}
        said = NodeCheck.objects.filter(node__in=others, checker=self.assignment.worker)
        return bool(others) and said.count() < len(others)

    @property
    def final(self) -> PathStep | None:
        return self.steps[-1] if self.steps and self.steps[-1].is_final else None

    @property
    def position(self) -> int:
        """The number of the next step."""
        return len(self.steps)

    @property
    def place(self) -> str:
        """Where the next step goes."""
        asked = [step for step in self.steps if not step.is_final]
        return self.start + "".join(step.answer[0].lower() for step in asked)

    @property
    def may_ask(self) -> bool:
        return self.final is None and len(self.place) < self.tree.max_depth

    @property
    def questions_left(self) -> int:
        return max(0, self.tree.max_depth - len(self.place))

    def turns(self) -> list[Turn]:
        """All turns so far, the worker's own included."""
        above = [Turn(turn.node.text, turn.answer) for turn in self.history]
        own = [Turn(step.text, Answer(step.answer)) for step in self.steps if not step.is_final]
        return above + own


def agree(assignment: Assignment, *, now: datetime) -> Assignment:
    """Everything so far is right. Raises LeaseEndedError."""
    with transaction.atomic():
        lease = hold(assignment, now=now)
        others = [turn.node for turn in Walk(lease).history if not turn.is_own]
        record_agreement(lease, others, now=now)
    return lease


def ask(
    assignment: Assignment, *, position: int, text: str, span: tuple[int, int] | None,
    now: datetime,
) -> PathStep:  # fmt: skip
    """The worker's next question, with the simulated user's answer to it.

    `position` is the number of the step that the page was at: sent twice, it counts once. Raises
    a GrowingError that says why it was not taken, or LeaseEndedError; the text is kept then.
    """
    refuse_text(text)
    try:
        return _step(assignment, position, {"text": text.strip(), "span": span}, now)
    except (StalePageError, LeaseEndedError):
        keep_text(assignment, KeptText.Reason.LEASE_ENDED, {"question": text}, now)
        raise


def give_final_answer(
    assignment: Assignment, *, position: int, answer: Answer, now: datetime
) -> PathStep:
    """The answer at the end of this path; another one replaces it until the submit."""
    return _step(assignment, position, {"text": "", "span": None, "answer": answer}, now)


@transaction.atomic
def _step(assignment: Assignment, position: int, wanted: dict[str, Any], now: datetime) -> PathStep:
    lease = hold(assignment, now=now)
    walk = Walk(lease)
    if position < walk.position and (done := _same_step(walk, position, wanted, now)):
        return done
    if position != walk.position:
        raise StalePageError
    _refuse_step(walk, wanted)
    start, end = wanted["span"] or (None, None)
    answer = wanted.get("answer") or simulated_answer(walk.tree.seed, walk.place)
    return PathStep.objects.create(
        assignment=lease, position=position, text=wanted["text"], span_start=start, span_end=end,
        answer=answer, at=now,
    )  # fmt: skip


def _same_step(walk: Walk, position: int, wanted: dict[str, Any], now: datetime) -> PathStep | None:
    """The step that is there, sent again; or the final answer, changed."""
    here = walk.steps[position]
    if here.is_final and not wanted["text"]:
        if here.answer != wanted["answer"]:
            PathStep.objects.filter(pk=here.pk).update(answer=wanted["answer"], at=now)
            here.answer = wanted["answer"]
        return here
    return here if here.text and here.text == wanted["text"] else None


def _refuse_step(walk: Walk, wanted: dict[str, Any]) -> None:
    if walk.needs_check:
        raise CheckFirstError
    if walk.final is not None:
        raise PathEndedError
    if not wanted["text"]:
        return
    if not walk.may_ask:
        raise DepthReachedError(walk.tree.max_depth)
    _refuse_span(walk.tree, wanted["span"])


def _refuse_span(tree: Tree, span: tuple[int, int] | None) -> None:
    if span is None:
        if tree.spans_required:
            raise SpanMissingError
        return
    start, end = span
    if not 0 <= start < end <= len(tree.question.snippet.text):
        raise SpanOutsideError


@transaction.atomic
def undo(assignment: Assignment, *, position: int, now: datetime) -> PathStep:
    """Takes the last turn back; it is returned, so that its text stands in the field again.

    `position` is the number of that turn: sent twice, one turn is taken back. Raises
    NothingToUndoError, StalePageError or LeaseEndedError.
    """
    lease = hold(assignment, now=now)
    taken_back = lease.path_steps.filter(position=position, undone_at__isnull=False)
    steps = list(lease.path_steps.standing())
    if not steps or position != steps[-1].position:
        if len(steps) == position and (before := taken_back.last()):
            return before
        raise StalePageError if steps else NothingToUndoError
    PathStep.objects.filter(pk=steps[-1].pk).update(undone_at=now)
    return steps[-1]


def hold(assignment: Assignment, *, now: datetime) -> Assignment:
    """The lease, locked with its tree for the rest of the transaction; its time begins anew.

    One that ran out is taken again with its turns, if the branch is still free. Raises
    LeaseEndedError.
    """
    lock_tree(assignment.work_id)  # always before a lease: whoever cuts has both, in this order
    mine = Assignment.objects.select_for_update(of=("self",)).select_related("project", "worker")
    lease = mine.get(pk=assignment.pk)
    if lease.state != State.LEASED or lease.expires_at <= now:
        return _take_again(lease, now)
    lease.expires_at = now + timedelta(minutes=lease.project.lease_minutes)
    lease.save(update_fields=["expires_at"])
    return lease


def _take_again(lease: Assignment, now: datetime) -> Assignment:
    """Only what nobody ended on purpose is taken again."""
    if lease.state not in {State.LEASED, State.EXPIRED}:
        raise LeaseEndedError
    states.move(
        Assignment.objects.overdue(now).filter(pk=lease.pk), State.EXPIRED, actor=None, now=now,
        ended_at=now,
    )  # fmt: skip
    work = work_of(lease)
    if mine := own_lease(work, worker=lease.worker, now=now):
        return hold(mine, now=now)  # another click, or another window, was first
    again = take_slot_again(
        lease, work, now=now, draft=lease.draft, draft_version=lease.draft_version,
        draft_saved_at=lease.draft_saved_at,
    )  # fmt: skip
    if again is None:
        raise LeaseEndedError
    carry_steps(lease, again)
    return again
