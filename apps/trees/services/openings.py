"""What is open for one worker, and, when nothing is, why: derived when somebody asks.

Nothing is leased here and nothing begins; `next_work.take_work` does that.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import chain, islice
from typing import Any

from apps.accounts.models import User
from apps.projects.models import Project
from apps.trees.domain.identifiers import tree_id
from apps.trees.domain.places import parse_slot
from apps.trees.models import Node, Tree
from apps.trees.services.open_work import (
    in_chunks,
    node_checks,
    open_questions,
    started_branches,
    waiting_questions,
)
from apps.workers.models import Assignment, Kind
from apps.workers.services.leases import Work

State = Assignment.State
COUNTED = 50
"""So many pieces of a kind are counted; what is more is "more than"."""
LEASES_AT_ONCE = 500
"""Looked at for the one that ends first."""


@dataclass(frozen=True)
class Openings:
    """How much is open for a worker; each number ends at COUNTED + 1."""

    branches: int  # of trees that have begun
    checks: int  # of turns that somebody rejected
    new_trees: int

    def __bool__(self) -> bool:
        return bool(self.branches or self.checks or self.new_trees)


class Why(StrEnum):
    IN_OTHER_HANDS = "in other hands"
    IN_DISPUTE = "in dispute"
    ENOUGH_TREES = "enough trees"
    NOT_FOR_YOU = "not for you"
    ALL_FINISHED = "all finished"
    NO_FIRST_QUESTION = "no first question"


SENTENCES = {
    Why.IN_OTHER_HANDS: "All that is open for you is in other people’s hands just now.",
    Why.IN_DISPUTE: "Somebody has rejected a turn above all that is open for you, and others look "
    "at it first.",
    Why.ENOUGH_TREES: "As many trees grow as this project wants at once, and what is open on them "
    "goes on from turns of yours, or you gave it back. A new tree begins when one is finished.",
    Why.NOT_FOR_YOU: "What is open goes on from turns or questions of yours, or you gave it back; "
    "other people go on there.",
    Why.ALL_FINISHED: "All trees are finished.",
    Why.NO_FIRST_QUESTION: "No first question is ready yet. Experts write them, and each begins a "
    "tree.",
}


@dataclass(frozen=True)
class Nothing:
    """Why nothing is open for a worker. `until`: when the first of other people's leases ends."""

    code: Why
    until: datetime | None = None

    @property
    def sentence(self) -> str:
        return SENTENCES[self.code]


def openings(project: Project, *, worker: User) -> Openings:
    """Counted with a constant number of queries, up to COUNTED."""
    branches = islice(started_branches(project, worker=worker), COUNTED + 1)
    return Openings(
        branches=sum(1 for _ in branches),
        checks=sum(1 for work, held in _checks(project, worker) if len(held) < work.needs),
        new_trees=_new_trees(project, worker),
    )


def why_nothing(project: Project, *, worker: User, now: datetime) -> Nothing:
    """The reason why nothing is open for this worker: `openings` has found nothing."""
    if until := _first_end(project, worker, now):
        return Nothing(Why.IN_OTHER_HANDS, until)
    return Nothing(_standing_reason(project, worker))


def _standing_reason(project: Project, worker: User) -> Why:
    growing = Tree.objects.growing().filter(project=project)
    waiting = waiting_questions(project)
    if _waits_for_votes(project, worker):
        return Why.IN_DISPUTE
    if growing.count() >= project.active_trees and _without_twins(project, worker):
        return Why.ENOUGH_TREES
    if growing.exists() or waiting.filter(created_by=worker).exists():
        return Why.NOT_FOR_YOU
    is_done = Tree.objects.filter(project=project).exists()
    return Why.ALL_FINISHED if is_done else Why.NO_FIRST_QUESTION


def _new_trees(project: Project, worker: User) -> int:
    room = project.active_trees - Tree.objects.growing().filter(project=project).count()
    return min(room, _without_twins(project, worker)) if room > 0 else 0


def _without_twins(project: Project, worker: User) -> int:
    """First questions of others that can begin a tree: none with the same id is there."""
    waiting = waiting_questions(project).exclude(created_by=worker)[: COUNTED + 1]
    ids = {tree_id(question.snippet.text, question.text) for question in waiting}
    return len(ids) - Tree.objects.filter(project=project, tree_id__in=ids).count()


def _checks(project: Project, worker: User) -> Iterator[tuple[Work, list[datetime]]]:
    """Checks that the worker may do, each with the ends of the leases that hold its slots."""
    works = list(islice(node_checks(project, worker=worker), COUNTED + 1))
    keys = [work.work_id for work in works]
    rows = Assignment.objects.holding().filter(kind=Kind.NODE_CHECK, work_id__in=keys)
    held = list(rows.values_list("work_id", "expires_at"))
    for work in works:
        yield work, [end for key, end in held if key == work.work_id]


# What others have in hand, and what waits for votes ---------------------------------------------


def _first_end(project: Project, worker: User, now: datetime) -> datetime | None:
    """When the first lease ends that others have on something the worker could do."""
    ends = [end for _, held in _checks(project, worker) for end in held if end > now]
    if of_path := _first_end_of_paths(project, worker, now):
        ends.append(of_path)
    return min(ends, default=None)


def _first_end_of_paths(project: Project, worker: User, now: datetime) -> datetime | None:
    """The leases that end first are looked at first, and mostly one of them is it."""
    others = Assignment.objects.lasting(now).filter(project=project, kind=Kind.PATH)
    in_order = others.exclude(worker=worker).order_by("expires_at", "pk")
    rows: Any = in_order.values_list("work_id", "part", "expires_at")
    mine = _Own(project, worker)
    return next(
        chain.from_iterable(_ends_for(some, mine) for some in in_chunks(rows, LEASES_AT_ONCE)),
        None,
    )


def _ends_for(leases: list[tuple[int, str, datetime]], mine: "_Own") -> Iterator[datetime]:
    """The ends of those that hold something the worker could do."""
    parents = [key for _, part, _ in leases if (key := parse_slot(part)[0])]
    places = dict(Node.objects.filter(pk__in=parents).values_list("pk", "place"))
    for tree, part, end in leases:
        parent, branch = parse_slot(part)
        place = places.get(parent, "") if parent else ""
        if not mine.keeps_from(tree, place) and not mine.had(tree, part, parent, branch):
            yield end


def _waits_for_votes(project: Project, worker: User) -> bool:
    """Whether a turn in dispute is all that stands between the worker and an open branch."""
    disputed = Node.objects.live().filter(tree__project=project, disputed_at__isnull=False)
    in_dispute: dict[int, list[str]] = {}
    for tree, place in disputed.values_list("tree_id", "place"):
        in_dispute.setdefault(tree, []).append(place)
    if not in_dispute:
        return False
    mine = _Own(project, worker)
    rows = open_questions(project).filter(tree__in=in_dispute).values_list("tree_id", "place")
    return any(
        _is_below(place, in_dispute[tree]) and not mine.keeps_from(tree, place)
        for tree, place in rows
    )


class _Own:
    """What keeps a worker from going on somewhere: their own turns, and branches they had."""

    def __init__(self, project: Project, worker: User) -> None:
        growing = Tree.objects.growing().filter(project=project)
        written = Node.objects.filter(tree__in=growing, created_by=worker)
        ended = Assignment.objects.filter(project=project, worker=worker, kind=Kind.PATH)
        ended = ended.filter(state__in=[State.SUBMITTED, State.RETURNED], work_id__in=growing)
        self._turns: dict[int, list[str]] = {}
        for tree, place in written.live().values_list("tree_id", "place"):
            self._turns.setdefault(tree, []).append(place)
        self._taken_out = set(written.values_list("tree_id", "parent_id", "branch"))
        self._had = set(ended.values_list("work_id", "part"))
        self._trees = set(growing.filter(question__created_by=worker).values_list("pk", flat=True))

    def keeps_from(self, tree: int, place: str) -> bool:
        """Whether the worker may not write under the question at the place."""
        return tree in self._trees or _is_below(place, self._turns.get(tree, ()))

    def had(self, tree: int, part: str, parent: int | None, branch: str) -> bool:
        return (tree, part) in self._had or (tree, parent, branch) in self._taken_out


def _is_below(place: str, turns: Collection[str]) -> bool:
    """Whether one of the turns, each by its place, is at the place or above it."""
    return any(place.startswith(turn) for turn in turns)
