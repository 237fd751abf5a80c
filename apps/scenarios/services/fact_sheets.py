"""What experts decide about a scenario: which facts it states, or that it is sent back."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.projects.services import audit
from apps.scenarios.domain.expansion import (
    ExpansionError,
    FactsNotOnOnePathError,
)
from apps.scenarios.domain.fact_sheet import Stated, facts_of
from apps.scenarios.domain.turns import turns_as_json
from apps.scenarios.models import Scenario
from apps.scenarios.scenario_errors import (
    NotOneSituationError,
    SheetChangedError,
)
from apps.scenarios.services.proof import prove_scenario
from apps.scenarios.services.scenario_checks import settle
from apps.scenarios.services.scenario_work import write_facts
from apps.trees.domain.tree import Path, Tree
from apps.trees.services.open_work import lock_tree

State = Scenario.State
NO_FACTS = "With no fact nothing follows from this scenario. Say what it states, or send it back."


@transaction.atomic
def decide_sheet(
    scenario: Scenario, sheet: Mapping[str, Stated], *, seen: int, expert: User, now: datetime
) -> bool:
    """These are the facts, and the scenario stands; False: they were so before.

    `sheet` goes by folded questions; `seen` is the version that the page showed. Raises
    NotOneSituationError or SheetChangedError.
    """
    tree = lock_tree(scenario.tree_id)
    facts = _facts(tree.to_domain(), sheet)
    _take_version(scenario, seen)
    before = tuple(fact.turn for fact in scenario.facts.all())
    has_changed = {turn.folded for turn in before} != {turn.folded for turn in facts}
    if has_changed:
        write_facts(scenario, facts)
    settle(scenario, State.STANDS, actor=expert, reason="", now=now)
    prove_scenario(scenario, tree.to_domain())
    audit.record(
        expert, "decide facts", scenario, project=tree.project,
        before=turns_as_json(before), facts=turns_as_json(facts),
    )  # fmt: skip
    return has_changed


@transaction.atomic
def send_back(scenario: Scenario, *, reason: str, seen: int, expert: User, now: datetime) -> None:
    """Somebody else writes another one on the same turns.

    Raises SheetChangedError.
    """
    tree = lock_tree(scenario.tree_id)
    _take_version(scenario, seen)
    settle(scenario, State.SENT_BACK, actor=expert, reason=reason, now=now)
    prove_scenario(scenario, tree.to_domain())
    audit.record(expert, "send scenario back", scenario, project=tree.project, reason=reason)


def _take_version(scenario: Scenario, seen: int) -> None:
    here = Scenario.objects.kept().filter(pk=scenario.pk, sheet_version=seen)
    if not here.update(sheet_version=seen + 1):
        raise SheetChangedError


def _facts(tree: Tree, sheet: Mapping[str, Stated]) -> Path:
    try:
        return facts_of(tree, sheet)
    except ExpansionError as error:
        raise NotOneSituationError(_why(error)) from error


def _why(error: ExpansionError) -> str:
    if not isinstance(error, FactsNotOnOnePathError):
        return NO_FACTS  # a sheet has one answer for each question, so nothing else is wrong
    named = ", ".join(
        f"“{turn.follow_up_question}” {turn.follow_up_answer}" for turn in error.facts
    )
    return (
        f"Nobody is asked all of this: {named}. Once one of them is answered so, the tree does not "
        "ask another one. Change one of them to “not stated”."
    )
