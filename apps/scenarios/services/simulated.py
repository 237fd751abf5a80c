"""How scripted people write scenarios and check each other's (settings.SIMULATED_WORK).

What they write is no good text: it shows that the work finds its way, at any number of people.
"""

from collections.abc import Callable
from uuid import uuid4

from django.utils import timezone

from apps.scenarios.domain.fact_sheet import Stated
from apps.scenarios.models import Scenario, ScenarioCheck
from apps.scenarios.services.scenario_checks import Reading, Unrelated, submit_check
from apps.scenarios.services.scenario_work import (
    prompt_of,
    report_contradiction,
    say_that_it_fits,
    submit_scenario,
)
from apps.trees.simulation.script import Script
from apps.workers.models import Assignment
from apps.workers.services.submits import NotTaken, Submitted

End = Callable[[Assignment], Submitted | NotTaken]
"""Submits the work; asked once more with another lease when it came too late."""

NOTE = "A scripted note."
Verdict = ScenarioCheck.Verdict


def write(lease: Assignment, script: Script) -> End:
    """Mostly nothing contradicts, and then there is something to write."""
    key, text = uuid4().hex, script.situation()
    if len(prompt_of(lease).cards) > 1 and script.happens(script.rates.rejections):
        return lambda lease: report_contradiction(
            lease, cards=(0, 1), reason=NOTE, key=key, now=timezone.now()
        )
    say_that_it_fits(lease, now=timezone.now())
    return lambda lease: submit_scenario(lease, text=text, pasted=0, key=key, now=timezone.now())


def check(lease: Assignment, script: Script) -> End:
    """Reads mostly what the writer was shown; most texts may stay."""
    key, reading = uuid4().hex, _reading(lease, script)
    return lambda lease: submit_check(lease, reading, key=key, now=timezone.now())


def _reading(lease: Assignment, script: Script) -> Reading:
    scenario = Scenario.objects.select_related("prompt").get(pk=lease.work_id)
    says = {
        fact.follow_up_question: _read(Stated(fact.follow_up_answer), script)
        for fact in scenario.facts.all()
    }
    other = scenario.prompt.unrelated if scenario.prompt else None
    is_back = script.sends_back()
    return Reading(
        says=says, own_words=not is_back,
        verdict=Verdict.SENDS_BACK if is_back else Verdict.APPROVES,
        reason=NOTE if is_back else "",
        unrelated=Unrelated(_read(Stated(other.follow_up_answer), script), contradicts=False)
        if other else None,
    )  # fmt: skip


def _read(shown: Stated, script: Script) -> Stated:
    return Stated(script.one_of(list(Stated))) if script.takes_back() else shown
