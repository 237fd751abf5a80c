"""Checks of scenarios by other workers: what they read in a text, and whether it may stay.

A scenario is sent back as soon as more than half of the checks that it needs say so. When all are
there and it stays, it is part of the dataset, or waits for an expert where half of the checkers
read another fact in it than its sheet has, or miss the fact from another document, or find that
it contradicts the tree: their votes alone change no fact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from apps.accounts.models import User
from apps.projects.models import Project
from apps.projects.services import states
from apps.scenarios.domain.fact_sheet import Sheet, Stated, disputed, sheet_of
from apps.scenarios.models import Scenario, ScenarioCheck, ScenarioQuerySet
from apps.scenarios.scenario_errors import ScenarioNotWaitingError
from apps.snippets.domain.folding import fold
from apps.trees.services.checks import end_void_work
from apps.trees.services.open_work import lock_tree
from apps.workers.models import Assignment, AssignmentQuerySet, Kind
from apps.workers.services.leases import Work, release_all
from apps.workers.services.submits import NotTaken, Submitted, submit

State = Scenario.State
Verdict = ScenarioCheck.Verdict
SETTLED = "the scenario was settled"


@dataclass(frozen=True)
class Reading:
    """What a checker reads in a scenario: by question of the tree, as it is worded there."""

    says: Mapping[str, Stated]
    own_words: bool
    verdict: ScenarioCheck.Verdict
    reason: str = ""
    unrelated: Unrelated | None = None


@dataclass(frozen=True)
class Unrelated:
    """What a checker reads about the question of another document, if one was to slip in."""

    says: Stated
    contradicts: bool


@dataclass(frozen=True)
class ScenarioCheckWork(Work):
    """A scenario that waits for checks: `work_id` is the scenario."""

    def is_open(self) -> bool:
        scenario = Scenario.objects.filter(pk=self.work_id).first()
        if scenario is None:
            return False
        lock_tree(scenario.tree_id)
        return Scenario.objects.filter(pk=scenario.pk, state=State.WAITING).exists()


def scenario_checks(project: Project, *, worker: User) -> Iterator[Work]:
    """A source of work (see settings.WORK_SOURCES): scenarios of others, the oldest first."""
    waiting = checkable(project, worker=worker).order_by("pk")
    for key, wanted in waiting.values_list("pk", "checks_wanted"):
        yield ScenarioCheckWork(Kind.SCENARIO_CHECK, key, needs=wanted)


def checkable(project: Project, *, worker: User) -> ScenarioQuerySet:
    """Scenarios that wait for a check, that the worker neither wrote nor had."""
    work = Assignment.objects.of_work(Kind.SCENARIO_CHECK, OuterRef("pk"))
    had = work.filter(worker=worker).exclude(
        state__in=[Assignment.State.EXPIRED, Assignment.State.RELEASED]
    )
    waiting = Scenario.objects.filter(tree__project=project, state=State.WAITING)
    found: ScenarioQuerySet = waiting.filter(~Exists(had)).exclude(created_by=worker)
    return found


def submit_check(
    lease: Assignment, reading: Reading, *, key: str, now: datetime
) -> Submitted | NotTaken:
    """Raises ScenarioNotWaitingError; then the lease is over, and what was typed is kept."""
    scenario = Scenario.objects.select_related("tree__project").get(pk=lease.work_id)
    content = {"note": reading.reason} if reading.reason else {}
    work = ScenarioCheckWork(Kind.SCENARIO_CHECK, scenario.pk, needs=scenario.checks_wanted)
    take = partial(_check, scenario=scenario, reading=reading, now=now)
    try:
        with transaction.atomic():
            lock_tree(scenario.tree_id)
            return submit(
                lease.pk, worker=lease.worker, key=key, content=content, take=take, work=work,
                now=now,
            )  # fmt: skip
    except ScenarioNotWaitingError:
        end_void_work(lease, content, now=now)
        raise


def _check(
    lease: Assignment, *, scenario: Scenario, reading: Reading, now: datetime
) -> dict[str, Any]:
    scenario.refresh_from_db(fields=["state"])
    if scenario.state != State.WAITING:
        raise ScenarioNotWaitingError
    ScenarioCheck.objects.create(
        scenario=scenario, checker=lease.worker, author_id=scenario.created_by_id,
        assignment=lease, says=dict(reading.says), own_words=reading.own_words,
        verdict=reading.verdict, reason=reading.reason, at=now,
        unrelated_says=reading.unrelated.says if reading.unrelated else "",
        unrelated_contradicts=reading.unrelated.contradicts if reading.unrelated else None,
    )  # fmt: skip
    to, why = _outcome(scenario)
    if to is not None:
        settle(scenario, to, actor=lease.worker, reason=why, now=now, but=lease)
    return {"check of": scenario.pk, "state": scenario.state}


def _outcome(scenario: Scenario) -> tuple[Scenario.State | None, str]:
    """The state that the checks so far give, and why; none while more are needed."""
    checks = list(scenario.checks.all())
    against = [check.reason for check in checks if check.verdict == Verdict.SENDS_BACK]
    if 2 * len(against) > scenario.checks_wanted:
        return State.SENT_BACK, " / ".join(against)[:500]
    if len(checks) < scenario.checks_wanted:
        return None, ""
    if disputed(sheet_now(scenario), [votes_of(check) for check in checks]):
        return State.DISPUTED, "checkers read other facts"
    if _is_unrelated_disputed(scenario, checks):
        return State.DISPUTED, "checkers miss the fact from another document, or it contradicts"
    return State.STANDS, ""


def _is_unrelated_disputed(scenario: Scenario, checks: Sequence[ScenarioCheck]) -> bool:
    """Whether half of those who were asked, or more, say that it is not there as it was shown, or
    that it contradicts the tree."""
    told = scenario.prompt.unrelated if scenario.prompt else None
    asked = [check for check in checks if check.unrelated_says]
    if told is None or not asked:
        return False
    against = [
        check.unrelated_contradicts or check.unrelated_says != told.follow_up_answer.value
        for check in asked
    ]
    return 2 * sum(against) >= len(asked)


def settle(
    scenario: Scenario, to: Scenario.State, *, actor: User, reason: str, now: datetime,
    but: Assignment | None = None,
) -> bool:  # fmt: skip
    """The scenario goes to the state; checks of it that are in work end (`but` not: it ends by
    itself). False: it was there, or may not go there. The tree is locked."""
    rows = Scenario.objects.filter(pk=scenario.pk)
    if not states.move(rows, to, actor=actor, now=now, reason=reason):
        return False
    scenario.state = to
    held: AssignmentQuerySet = Assignment.objects.leased()
    held = held.of_work(Kind.SCENARIO_CHECK, scenario.pk)
    if but is not None:
        held = held.exclude(pk=but.pk)
    release_all(held, actor=None, now=now, reason=SETTLED)
    return True


def sheet_now(scenario: Scenario) -> Sheet:
    """Each question of the tree with what the scenario's facts say to it."""
    return sheet_of(scenario.tree.to_domain(), [fact.turn for fact in scenario.facts.all()])


def votes_of(check: ScenarioCheck) -> Sheet:
    """By folded question: its wording may have changed since."""
    return {fold(question): Stated(said) for question, said in check.says.items()}
