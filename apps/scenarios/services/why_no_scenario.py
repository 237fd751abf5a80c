"""Why no scenario, and no check of one, is open for a worker: derived when somebody asks."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import Min

from apps.accounts.models import User
from apps.projects.models import Project
from apps.scenarios.models import Scenario
from apps.scenarios.services.scenario_checks import checkable
from apps.scenarios.services.scenario_work import (
    trees_in_need,
    trees_lacking_scenarios,
    without_contradictions,
)
from apps.workers.models import Assignment, Kind

State = Scenario.State


class WhyNoScenario(StrEnum):
    IN_OTHER_HANDS = "scenarios in other hands"
    NOT_FOR_YOU = "scenarios not for you"
    IN_CONTRADICTION = "scenarios in contradiction"
    WITH_AN_EXPERT = "scenarios with an expert"
    ALL_WRITTEN = "all scenarios written"


SENTENCES = {
    WhyNoScenario.IN_OTHER_HANDS: "The scenarios that you could write or check are in other "
    "people’s hands just now.",
    WhyNoScenario.NOT_FOR_YOU: "Scenarios are still to be written or checked, but on rules that "
    "you wrote questions for, had a scenario of or gave one back, or of texts that are your own; "
    "other people see to them.",
    WhyNoScenario.IN_CONTRADICTION: "Somebody has found turns that contradict each other in all "
    "rules that still need scenarios, and an expert looks at them first.",
    WhyNoScenario.WITH_AN_EXPERT: "All scenarios are written and checked; an expert decides on the "
    "last of them.",
    WhyNoScenario.ALL_WRITTEN: "All scenarios of the finished trees are written.",
}


@dataclass(frozen=True)
class NoScenario:
    """`until`: when the first of other people's leases ends."""

    code: WhyNoScenario
    until: datetime | None = None

    @property
    def sentence(self) -> str:
        return SENTENCES[self.code]


def why_no_scenario(project: Project, *, worker: User, now: datetime) -> NoScenario | None:
    """The reason, when `scenario_openings` has found none; None where the project wants none."""
    if until := min(_ends(project, worker, now), default=None):
        return NoScenario(WhyNoScenario.IN_OTHER_HANDS, until)
    if reason := _standing_reason(project):
        return NoScenario(reason)
    return None


def _standing_reason(project: Project) -> WhyNoScenario | None:
    of_project = Scenario.objects.filter(tree__project=project)
    lacking = trees_lacking_scenarios(project)
    if of_project.filter(state=State.WAITING).exists() or without_contradictions(lacking).exists():
        return WhyNoScenario.NOT_FOR_YOU
    if lacking.exists():
        return WhyNoScenario.IN_CONTRADICTION
    if of_project.filter(state=State.DISPUTED).exists():
        return WhyNoScenario.WITH_AN_EXPERT
    is_written = project.scenarios_per_finished_tree and of_project.exists()
    return WhyNoScenario.ALL_WRITTEN if is_written else None


def _ends(project: Project, worker: User, now: datetime) -> Iterator[datetime]:
    """When the first leases end that others have on what the worker could do."""
    others = Assignment.objects.lasting(now).filter(project=project).exclude(worker=worker)
    could_do = {
        Kind.SCENARIO: trees_in_need(project, worker=worker),
        Kind.SCENARIO_CHECK: checkable(project, worker=worker),
    }
    for kind, rows in could_do.items():
        held = others.filter(kind=kind, work_id__in=rows.order_by().values("pk"))
        if end := held.aggregate(first=Min("expires_at"))["first"]:
            yield end
