"""How much scenario work is open for one worker. Nothing is leased here."""

from collections import Counter
from dataclasses import dataclass
from itertools import islice

from apps.accounts.models import User
from apps.projects.models import Project
from apps.scenarios.services.scenario_checks import scenario_checks
from apps.scenarios.services.scenario_work import scenarios
from apps.workers.models import Assignment, Kind

COUNTED = 50
"""So many of a kind are counted; what is more is "more than"."""


@dataclass(frozen=True)
class ScenarioOpenings:
    """Each number ends at COUNTED + 1."""

    trees: int  # that the worker may write a scenario for: one for each
    checks: int  # of scenarios of others

    def __bool__(self) -> bool:
        return bool(self.trees or self.checks)


def scenario_openings(project: Project, *, worker: User) -> ScenarioOpenings:
    """Counted with a constant number of queries."""
    return ScenarioOpenings(trees=_trees(project, worker), checks=_checks(project, worker))


def _trees(project: Project, worker: User) -> int:
    trees: set[int] = set()
    for work in scenarios(project, worker=worker):
        trees.add(work.work_id)
        if len(trees) > COUNTED:
            break
    return len(trees)


def _checks(project: Project, worker: User) -> int:
    works = list(islice(scenario_checks(project, worker=worker), COUNTED + 1))
    keys = [work.work_id for work in works]
    held = Assignment.objects.holding().filter(kind=Kind.SCENARIO_CHECK, work_id__in=keys)
    taken = Counter(held.values_list("work_id", flat=True))
    return sum(1 for work in works if taken[work.work_id] < work.needs)
