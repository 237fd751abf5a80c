"""Hands that work through the services, as the pages do."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import BoundedSemaphore
from typing import Any, TypeVar
from uuid import uuid4

from django.conf import settings
from django.db import connection
from django.db.models import F
from django.utils import timezone
from django.utils.module_loading import import_string

from apps.accounts.models import User
from apps.projects.errors import StudioError
from apps.projects.models import Project
from apps.trees.domain.places import OPEN_ROOT
from apps.trees.domain.simulated_user import SEED_BYTES
from apps.trees.domain.tree import Answer
from apps.trees.models import NodeCheck, Tree
from apps.trees.services.checks import Rejection, reject_turn, vote_to_keep, vote_to_reject
from apps.trees.services.paths import return_path, submit_path
from apps.trees.services.walks import Walk, agree, ask, give_final_answer, undo
from apps.trees.simulation.hands import RefusedError
from apps.trees.simulation.script import Asked, Ended, Script, Seen
from apps.workers.models import Assignment, Kind
from apps.workers.services.leases import return_work
from apps.workers.services.next_work import take_work
from apps.workers.services.submits import NotTaken, Submitted

T = TypeVar("T")
# A second click has a connection of its own, and PostgreSQL has a limited number of them.
_SECOND_CLICKS = BoundedSemaphore(4)


class DoubleClickError(AssertionError):
    """Two clicks at once were answered in two ways: a fault of the engine."""


class ServiceHands:
    """One person's. `seed`, if not empty, is for the simulated users of trees that they begin."""

    def __init__(self, project: Project, worker: User, seed: str = "") -> None:
        self.project = project
        self.worker = worker
        self.seed = seed
        self.work: Assignment | None = None
        self.second_click = False

    @property
    def in_hand(self) -> Assignment:
        assert self.work is not None  # noqa: S101 - a person acts on what they have taken
        return self.work

    # Steps --------------------------------------------------------------------------------

    def take(self) -> Seen | None:
        self.work = self._do(
            lambda: take_work(self.project, worker=self.worker, now=timezone.now())
        )
        if self.work is None:
            return None
        if self.seed and self.work.part == OPEN_ROOT:
            self._sow(self.work)
        return self._seen()

    def agree(self) -> Seen:
        return self._step(lambda: agree(self.in_hand, now=timezone.now()))

    def ask(self, asked: Asked) -> Seen:
        position = Walk(self.in_hand).position
        return self._step(
            lambda: ask(
                self.in_hand, position=position, text=asked.text, span=asked.span,
                now=timezone.now(),
            ).assignment
        )  # fmt: skip

    def answer(self, seen: Seen, answer: Answer) -> Seen:
        return self._step(
            lambda: (
                give_final_answer(
                    self.in_hand, position=seen.position, answer=answer, now=timezone.now()
                ).assignment
            )
        )

    def take_back(self, seen: Seen) -> Seen:
        return self._step(
            lambda: undo(self.in_hand, position=seen.position - 1, now=timezone.now()).assignment
        )

    def submit(self) -> Ended:
        key = uuid4().hex
        return self._end(lambda: submit_path(self.in_hand, key=key, now=timezone.now()))

    def reject(self, turn: int, reason: NodeCheck.Reason) -> Ended:
        key = uuid4().hex
        others = [turn.node for turn in Walk(self.in_hand).history if not turn.is_own]
        if turn >= len(others):
            raise RefusedError("lease_ended")  # what they look at was taken out just now
        return self._end(
            lambda: reject_turn(
                self.in_hand, others[turn], Rejection(reason), key=key, now=timezone.now()
            )
        )

    def vote(self, reason: NodeCheck.Reason | None) -> Ended:
        key = uuid4().hex
        if reason is None:
            return self._end(lambda: vote_to_keep(self.in_hand, key=key, now=timezone.now()))
        return self._end(
            lambda: vote_to_reject(self.in_hand, Rejection(reason), key=key, now=timezone.now())
        )

    def give_back(self, reason: str) -> bool:
        give = return_path if self.in_hand.kind == Kind.PATH else return_work
        return give(self.in_hand, reason=reason, now=timezone.now())

    def let_time_run_out(self) -> None:
        let_time_run_out(self.in_hand)

    def click_twice(self) -> None:
        self.second_click = True

    # How ----------------------------------------------------------------------------------

    def _sow(self, work: Assignment) -> None:
        """The simulated user of a tree that begins is of this run's seed."""
        unbegun = Tree.objects.filter(pk=work.work_id, nodes=None)
        if work.path_steps.exists() or work.round or not unbegun.exists():
            return
        number = Tree.objects.filter(project=self.project, pk__lte=work.work_id).count()
        seed = hashlib.sha256(f"{self.seed} {number}".encode()).hexdigest()[: 2 * SEED_BYTES]
        Tree.objects.filter(pk=work.work_id).update(seed=seed)

    def _seen(self) -> Seen:
        work = self.in_hand
        if work.kind == Kind.NODE_CHECK:
            return Seen(is_check=True)
        if work.kind != Kind.PATH:
            return Seen(other_work=partial(self._other_work, settings.SIMULATED_WORK[work.kind]))
        walk = Walk(work)
        return Seen(
            needs_check=walk.needs_check,
            others=sum(not turn.is_own for turn in walk.history),
            position=walk.position,
            may_ask=walk.may_ask,
            has_final_answer=walk.final is not None,
            rule_text=walk.tree.question.snippet.text,
            span_wanted=walk.tree.spans_required,
        )

    def _other_work(self, name: str, script: Script) -> Callable[[], Ended]:
        """Work of an app that this one must not know goes by name."""
        end = _told(lambda: import_string(name)(self.in_hand, script))
        return lambda: self._end(lambda: end(self.in_hand))

    def _step(self, act: Callable[[], Assignment]) -> Seen:
        self.work = self._do(act)
        return self._seen()

    def _end(self, act: Callable[[], Submitted | NotTaken]) -> Ended:
        answer = self._do(act)
        if isinstance(answer, Submitted):
            return Ended.ACCEPTED
        if answer.again is None:
            return Ended.LOST
        self.work = answer.again
        return Ended.AGAIN

    def _do(self, act: Callable[[], T]) -> T:
        """Does it, twice at the same moment if that was wanted; both must be answered alike."""
        if not self.second_click:
            return _told(act)
        self.second_click = False
        with _SECOND_CLICKS, ThreadPoolExecutor(1) as pool:
            second = pool.submit(_in_thread, act)
            first = _outcome(act)
            other = second.result()
        told: T | RefusedError = _what_counts(first, other)
        if isinstance(told, RefusedError):
            raise told
        return told


def let_time_run_out(lease: Assignment) -> None:
    """As if it had been taken long ago."""
    begin, end = F("leased_at"), F("expires_at")
    Assignment.objects.leased().filter(pk=lease.pk).update(
        leased_at=begin - (end - begin) - (end - timezone.now()),
        expires_at=timezone.now(),
    )


def _told(act: Callable[[], T]) -> T:
    try:
        return act()
    except StudioError as refusal:
        code = getattr(refusal, "code", "")
        if not code:
            raise
        raise RefusedError(code) from refusal


def _outcome(act: Callable[[], Any]) -> Any:
    try:
        return _told(act)
    except RefusedError as refusal:
        return refusal


def _in_thread(act: Callable[[], Any]) -> Any:
    try:
        return _outcome(act)
    finally:
        connection.close()


def _what_counts(first: Any, other: Any) -> Any:
    """What two clicks came to. Between them others may have acted, so that one of them gets work
    or a refusal and the other does not; but one submit cannot count once and not the other time,
    and two pieces of work cannot come of it.
    """
    taken, of_other = _taken(first), _taken(other)
    if taken != of_other and (
        isinstance(taken, Submitted) or isinstance(of_other, Submitted) or (taken and of_other)
    ):
        raise DoubleClickError(f"{first!r} and {other!r}")
    return first if taken is not None else other


def _taken(outcome: Any) -> Submitted | Assignment | None:
    if isinstance(outcome, NotTaken):
        return outcome.again
    return outcome if isinstance(outcome, Submitted | Assignment) else None
