"""The pages of scenarios in each state that looks different, for tests of all pages."""

from collections.abc import Iterator
from typing import Any

from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Project
from apps.scenarios.models import Contradiction, Scenario, ScenarioCheck
from apps.scenarios.services.scenario_checks import ScenarioCheckWork, settle
from apps.scenarios.services.scenario_work import ScenarioWork, give_back, say_that_it_fits
from apps.trees.domain.tree import Answer, FinalAnswer, Question, Turn
from apps.trees.models import Tree
from apps.workers.models import Assignment, Kind
from apps.workers.services.leases import Work, lease_first
from tests.factories import make_scenario, make_tree

OLD, POOR = "Are you old?", "Are you poor?"
YES, NO = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
SHAPE = Question(OLD, Question(POOR, YES, NO), NO)


def scenario_visits(project: Project, reader: User) -> Iterator[tuple[str, str]]:
    """Names of URLs, with the state, and addresses."""

    def visit(name: str, *arguments: int, query: str = "", state: str = "") -> tuple[str, str]:
        address = reverse(f"scenarios:{name}", args=[project.slug, *arguments]) + query
        return f"scenarios:{name} {state}".strip(), address

    Project.objects.filter(pk=project.pk).update(scenarios_per_finished_tree=7)
    cards, text, over = (_write(project, reader) for _ in range(3))
    now = timezone.now()
    say_that_it_fits(text, now=now)
    give_back(over, text="I was born", reason="Too hard.", now=now)
    for state, work in {"cards": cards, "text": text, "over": over}.items():
        yield visit("scenario", work.pk, state=state)
    waiting = _scenario(project, "waiting", prompt=over.prompt)
    check = ScenarioCheckWork(Kind.SCENARIO_CHECK, waiting.pk)
    yield visit("scenario_check", _lease(check, project, reader).pk)
    disputed = _disputed(project, reader)
    for state, scenario in {"": disputed, "sent back": _scenario(project, "sent back")}.items():
        yield visit("scenario_sheet", scenario.pk, state=state)
    _contradiction(cards, reader)
    _tell_why_sent_back(project, reader)
    yield "workers:mine sent back", reverse("workers:mine", args=[project.slug])
    yield visit("scenario_list")
    yield visit("scenario_list", query="?q=zzzz", state="nothing found")


def _write(project: Project, reader: User) -> Assignment:
    tree = make_tree(project, SHAPE)
    return _lease(ScenarioWork(Kind.SCENARIO, tree.pk, "0"), project, reader)


def _lease(work: Work, project: Project, reader: User) -> Assignment:
    leased = lease_first([work], project=project, worker=reader, now=timezone.now())
    assert leased is not None
    return leased


def _scenario(project: Project, state: str, **fields: Any) -> Scenario:
    tree = make_tree(project, SHAPE)
    facts = (Turn(OLD, Answer.YES), Turn(POOR, Answer.YES))
    return make_scenario(
        tree, "I was born in 1930.", *facts, state=state, checks_wanted=1, **fields
    )


def _disputed(project: Project, reader: User) -> Scenario:
    scenario = _scenario(project, "disputed")
    scenario.facts.create(position=2, follow_up_question="Tall?", follow_up_answer="No")
    check = _lease(Work(Kind.SCENARIO_CHECK, scenario.pk), project, reader)
    ScenarioCheck.objects.create(
        scenario=scenario, checker=reader, assignment=check, says={OLD: "Yes", POOR: "No"},
        own_words=False, verdict="approves", reason="It is close to the cards.", at=timezone.now(),
        unrelated_says="not stated", unrelated_contradicts=True,
    )  # fmt: skip
    return scenario


def _tell_why_sent_back(project: Project, reader: User) -> None:
    mine = _scenario(project, "waiting", created_by=reader)
    settle(mine, Scenario.State.SENT_BACK, actor=reader, reason="It is copied.", now=timezone.now())


def _contradiction(work: Assignment, reader: User) -> None:
    tree = Tree.objects.get(pk=work.work_id)
    first, second = tree.nodes.exclude(text="").order_by("pk")
    Contradiction.objects.create(
        prompt=work.prompt, first=first, second=second, reason="Nobody is both.", by=reader,
        at=timezone.now(),
    )  # fmt: skip
