"""A worker's start page in a project: what to do now, what was done, and how it was found."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from apps.accounts.models import User
from apps.desk.worker_numbers import (
    done_lately,
    numbers_of,
    rejected_turns,
    sent_back_scenarios,
)
from apps.projects.models import Project, Step
from apps.scenarios.services.scenario_openings import ScenarioOpenings, scenario_openings
from apps.scenarios.services.why_no_scenario import NoScenario, why_no_scenario
from apps.trees.services.openings import Nothing, Openings, Why, openings, why_nothing
from apps.workers.addresses import page_of_work
from apps.workers.models import Kind
from apps.workers.qualification_page import needed_by
from apps.workers.services.next_work import in_hand


def _allowed(found: Openings, barred: frozenset[Kind]) -> Openings:
    """Without what the worker lacks the qualification for."""
    if Kind.PATH in barred:
        found = replace(found, branches=0, new_trees=0)
    return replace(found, checks=0) if Kind.NODE_CHECK in barred else found


def _allowed_to_write(found: ScenarioOpenings, barred: frozenset[Kind]) -> ScenarioOpenings:
    if Kind.SCENARIO in barred:
        found = replace(found, trees=0)
    return replace(found, checks=0) if Kind.SCENARIO_CHECK in barred else found


def worker_home(project: Project, worker: User, *, now: datetime) -> dict[str, Any]:
    held = in_hand(project, worker=worker, now=now).select_related("project").first()
    needed = needed_by(project, worker, now=now)
    barred = needed.kinds if needed else frozenset()
    found = _allowed(openings(project, worker=worker), barred)
    writing = _allowed_to_write(scenario_openings(project, worker=worker), barred)
    is_open = found or writing or needed
    guidelines = project.guidelines.filter(step__in=Step.of_workers())
    return {
        "project": project,
        "needed": needed,
        "in_hand": held,
        "in_hand_address": page_of_work(held) if held else "",
        "openings": found,
        "writing": writing,
        "nothing": [] if is_open else list(_why_nothing(project, worker, now)),
        "done": done_lately(project, worker, now=now),
        "numbers": numbers_of(project, [worker.pk])[worker.pk],
        "rejected": rejected_turns(project, worker) if project.tell_rejections else [],
        "sent_back": sent_back_scenarios(project, worker),
        "guidelines": guidelines.exclude(text="").order_by("pk"),
    }


def _why_nothing(project: Project, worker: User, now: datetime) -> Iterator[Nothing | NoScenario]:
    """Why no work on trees is open, and why none on scenarios: each app knows its own. That all
    trees are finished is no reason where scenarios are still to be written."""
    on_trees = why_nothing(project, worker=worker, now=now)
    on_scenarios = why_no_scenario(project, worker=worker, now=now)
    if on_trees and not (on_scenarios and on_trees.code == Why.ALL_FINISHED):
        yield on_trees
    if on_scenarios:
        yield on_scenarios
