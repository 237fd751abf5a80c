"""A worker's start page in a project: what to do now, what was done, and how it was found."""

from datetime import datetime
from typing import Any

from apps.accounts.models import User
from apps.desk.worker_numbers import done_lately, numbers_of, rejected_turns
from apps.projects.models import Project, Step
from apps.scenarios.services.scenario_openings import scenario_openings
from apps.trees.services.openings import openings, why_nothing
from apps.workers.addresses import page_of_work
from apps.workers.services.next_work import in_hand


def worker_home(project: Project, worker: User, *, now: datetime) -> dict[str, Any]:
    held = in_hand(project, worker=worker, now=now).select_related("project").first()
    found = openings(project, worker=worker)
    writing = scenario_openings(project, worker=worker)
    is_open = held or found or writing
    guidelines = project.guidelines.filter(step__in=Step.of_workers())
    return {
        "project": project,
        "in_hand": held,
        "in_hand_address": page_of_work(held) if held else "",
        "openings": found,
        "writing": writing,
        "nothing": None if is_open else why_nothing(project, worker=worker, now=now),
        "done": done_lately(project, worker, now=now),
        "numbers": numbers_of(project, [worker.pk])[worker.pk],
        "rejected": rejected_turns(project, worker) if project.tell_rejections else [],
        "guidelines": guidelines.exclude(text="").order_by("pk"),
    }
