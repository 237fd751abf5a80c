"""Workers who write and check scenarios, for several test files."""

from datetime import UTC, datetime, timedelta
from typing import Any

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.scenarios.domain.fact_sheet import Stated
from apps.scenarios.models import Scenario, ScenarioCheck
from apps.scenarios.services.scenario_checks import Reading, Unrelated, submit_check
from apps.scenarios.services.scenario_work import (
    prompt_of,
    report_contradiction,
    say_that_it_fits,
    scenarios,
    submit_scenario,
)
from apps.trees.domain.tree import Answer, FinalAnswer, Question
from apps.trees.models import Tree
from apps.workers.models import Assignment, Kind
from apps.workers.services.leases import lease_first
from apps.workers.services.next_work import take_work
from apps.workers.services.submits import NotTaken, Submitted
from tests.factories import make_member, make_project, make_tree

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SOON = NOW + timedelta(minutes=1)
LATE = NOW + timedelta(minutes=61)  # a lease of NOW has run out

YES, NO = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
OLD, POOR, RICH = "Are you old?", "Are you poor?", "Are you rich?"
SHAPE = Question(OLD, Question(POOR, YES, NO), NO)
OTHER_SHAPE = Question(RICH, YES, NO)


def make_writing(wanted: int = 1, **settings: Any) -> tuple[Project, Tree]:
    """A project with a finished tree that needs so many scenarios, and another document's tree
    that has all that it needs."""
    project = make_project(scenarios_per_finished_tree=wanted, **settings)
    tree = make_tree(project, SHAPE, seed="ab" * 16)
    make_other_tree(project, wanted)
    return project, tree


def make_other_tree(project: Project, wanted: int) -> Tree:
    other = make_tree(project, OTHER_SHAPE)
    Scenario.objects.bulk_create(
        Scenario(tree=other, text=f"I am number {number}.", text_sha1=f"{number:040}")
        for number in range(wanted)
    )
    return other


def worker_of(project: Project) -> User:
    return make_member(project, Role.WORKER)


def take(project: Project, worker: User | None = None, now: datetime = NOW) -> Assignment:
    lease = take_work(project, worker=worker or worker_of(project), now=now)
    assert lease is not None
    return lease


def take_scenario(project: Project) -> Assignment:
    """A scenario for a new worker, whatever else is open."""
    worker = worker_of(project)
    lease = lease_first(scenarios(project, worker=worker), project=project, worker=worker, now=NOW)
    assert lease is not None
    return lease


def nothing_for(project: Project, worker: User, now: datetime = NOW) -> bool:
    return take_work(project, worker=worker, now=now) is None


def write(
    lease: Assignment, text: str = "I was born long ago.", now: datetime = NOW, key: str = ""
) -> Submitted | NotTaken:
    say_that_it_fits(lease, now=now)
    return submit_scenario(lease, text=text, pasted=0, key=key or f"key {lease.pk}", now=now)


def written(project: Project, text: str = "I was born long ago.") -> Scenario:
    """By a new worker."""
    lease = take(project)
    assert lease.kind == Kind.SCENARIO
    answer = write(lease, text)
    assert isinstance(answer, Submitted)
    return Scenario.objects.get(pk=answer.outcome["scenario"])


def contradict(lease: Assignment, first: int = 0, second: int = 1, now: datetime = NOW) -> Any:
    return report_contradiction(
        lease, cards=(first, second), reason="Nobody is both.", key=f"key {lease.pk}", now=now
    )


def cards_of(lease: Assignment) -> list[str]:
    return [f"{turn.follow_up_question} {turn.follow_up_answer}"
            for _, turn in prompt_of(lease).cards]  # fmt: skip


def facts(scenario: Scenario) -> list[str]:
    return [str(fact) for fact in scenario.facts.order_by("position")]


def reading(
    scenario: Scenario, reason: str = "", *, unrelated: Unrelated | None = None, **says: Stated
) -> Reading:
    """As the sheet has it, but for what is said otherwise: `old`, `poor`."""
    told = {fact.follow_up_question: Stated(fact.follow_up_answer)
            for fact in scenario.facts.all()}  # fmt: skip
    names = {"old": OLD, "poor": POOR}
    told |= {names[name]: said for name, said in says.items()}
    verdict = ScenarioCheck.Verdict.SENDS_BACK if reason else ScenarioCheck.Verdict.APPROVES
    return Reading(told, own_words=True, verdict=verdict, reason=reason, unrelated=unrelated)


def check(
    scenario: Scenario, reason: str = "", now: datetime = NOW, **says: Any
) -> tuple[Assignment, Any]:
    """By a new worker."""
    lease = take(scenario.tree.project, now=now)
    assert (lease.kind, lease.work_id) == (Kind.SCENARIO_CHECK, scenario.pk)
    answer = submit_check(lease, reading(scenario, reason, **says), key=f"key {lease.pk}", now=now)
    scenario.refresh_from_db()
    return lease, answer
