"""Scripted people at work, each in a thread of their own."""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition, Thread

from django.db import connection
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Project
from apps.trees.models import Node, Tree
from apps.trees.simulation.hands import Hands, Tally
from apps.trees.simulation.person import Person
from apps.trees.simulation.proof import faults
from apps.trees.simulation.script import Rates, Script
from apps.trees.simulation.stuck import is_done, what_is_left
from apps.workers.models import Assignment
from apps.workers.services.leases import expire_leases

LOOK_AGAIN = 30.0
"""Seconds: then whoever found no work asks again, since other people may have freed some."""
SAY_AFTER = 2.0
"""Seconds between two lines of progress."""

CALLED = 2
"""How many of those who wait are called when a piece of work has ended: it opens a few branches."""

MakeHands = Callable[[User], Hands]


@dataclass(frozen=True)
class Report:
    """What came of a run. `stuck` is empty when nothing is left to do; `failure` is of a person
    who met something that is no refusal; `faults` are what must never be in a project, `before`
    those that were there when the run began."""

    seconds: float
    counts: dict[str, int]
    trees: int
    nodes: int
    submitted: int  # rows; as many as submits were acknowledged
    stuck: str
    failure: str
    faults: list[str]
    before: list[str] = field(default_factory=list)


class Room:
    """Where people wait while there is no work for them.

    `changes` counts pieces of work that ended. Who finds nothing remembers at which count; when
    that is so for all people at the count that it is now, nothing more can come. One change calls
    a few of them, and not all: most would ask in vain.
    """

    def __init__(self, people: int, *, until_done: bool) -> None:
        self.people = people
        self.until_done = until_done
        self.changes = 0
        self.idle: dict[int, int] = {}
        self.over = False
        self.failure = ""
        self.changed = Condition()

    def now(self) -> int:
        with self.changed:
            return self.changes

    def has_worked(self) -> None:
        with self.changed:
            self.changes += 1
            self.changed.notify(CALLED)

    def close(self, failure: str = "") -> None:
        with self.changed:
            self.failure = self.failure or failure
            self.over = True
            self.changed.notify_all()

    def wait(self, person: int, since: int) -> None:
        """Until something has changed since then."""
        with self.changed:
            if self.over or self.changes != since:
                return
            self.idle[person] = since
            if len(self.idle) == self.people:
                self.over = set(self.idle.values()) == {self.changes}
                self.changed.notify_all()
            if not self.over:
                self.changed.wait(LOOK_AGAIN)
            self.idle.pop(person, None)


@dataclass
class Run:
    """One run of the simulation."""

    project: Project
    people: list[User]
    hands: MakeHands
    rates: Rates
    seed: str
    until_done: bool
    progress: Callable[[str], object]
    tally: Tally = field(default_factory=Tally)

    def __call__(self) -> Report:
        began, before, odd = time.monotonic(), self._submitted(), faults(self.project)
        room = Room(len(self.people), until_done=self.until_done)
        threads = [
            Thread(target=self._work, args=(room, number), daemon=True)
            for number in range(len(self.people))
        ]
        for thread in threads:
            thread.start()
        self._watch(room, threads)
        now = timezone.now()
        expire_leases(now)
        trees = Tree.objects.filter(project=self.project)
        is_stuck = self.until_done and not is_done(self.project)
        return Report(
            seconds=time.monotonic() - began,
            counts=self.tally.counts(),
            trees=trees.finished().count(),
            nodes=Node.objects.live().filter(tree__in=trees).count(),
            stuck=what_is_left(self.project, self.people, now=now) if is_stuck else "",
            failure=room.failure,
            submitted=self._submitted() - before,
            faults=[line for line in faults(self.project) if line not in odd],
            before=odd,
        )

    def _submitted(self) -> int:
        done = Assignment.objects.filter(state=Assignment.State.SUBMITTED)
        return done.filter(project=self.project, worker__in=self.people).count()

    def _work(self, room: Room, number: int) -> None:
        user = self.people[number]
        script = Script(f"{self.seed} {user.username}", self.rates)
        try:
            self._work_on(room, number, Person(self.hands(user), script, self.tally))
        except Exception:
            room.close(traceback.format_exc())
        finally:
            connection.close()

    def _work_on(self, room: Room, number: int, person: Person) -> None:
        while not room.over:
            since = room.now()
            if person.work():
                room.has_worked()
                if not self.until_done:
                    return
            elif not self.until_done:
                return
            else:
                room.wait(number, since)

    def _watch(self, room: Room, threads: list[Thread]) -> None:
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(SAY_AFTER)
                    self._say()
            self._say()
        except KeyboardInterrupt:
            room.close()
            raise

    def _say(self) -> None:
        trees = Tree.objects.filter(project=self.project)
        mine = Assignment.objects.leased().filter(worker__in=self.people).count()
        self.progress(
            f"trees finished {trees.finished().count():,}, growing {trees.growing().count():,}; "
            f"accepted {self.tally['accepted']:,}; in work {mine:,}"
        )
