"""When an expert words a question of a tree anew, what tells of it by its text goes along.

That is: facts, what checkers read in a text, and what an expert has said of an utterance. It keeps
its id and its state, so that one better word does not undo the verification of a tree. The rule
makes anew what nobody has verified, and what came in a file stays as it came.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import F

from apps.accounts.models import User
from apps.projects.services import audit
from apps.scenarios.domain.corrections import Parts
from apps.scenarios.domain.wordings import Rewording
from apps.scenarios.models import Scenario, Utterance
from apps.scenarios.services.proof import find_inconsistency
from apps.scenarios.services.scenario_work import write_facts
from apps.snippets.domain.folding import fold
from apps.trees.domain import tree as domain
from apps.trees.models import Tree

State = Utterance.State
SAID = (State.ACCEPTED, State.CORRECTED, State.DROPPED)
COLUMNS = ["history", "evidence", "answer", "as_imported", "version"]


def follow_wording(tree: Tree, *, before: str, text: str, by: User) -> None:
    """Called with the tree's row locked, in the transaction of the change (settings)."""
    if fold(before) == fold(text):
        return  # the same question
    shape, rewording = tree.to_domain(), Rewording(before, text)
    scenarios = [one.pk for one in _scenarios(tree, shape, rewording)]
    utterances = list(_utterances(tree, shape, rewording))
    Utterance.objects.bulk_update(utterances, COLUMNS, batch_size=500)
    if scenarios or utterances:
        audit.record(
            by, "follow wording", tree, project=tree.project, before=before, now=text,
            scenarios=scenarios, utterances=[one.utterance_id for one in utterances],
        )  # fmt: skip


def _scenarios(tree: Tree, shape: domain.Tree, rewording: Rewording) -> Iterator[Scenario]:
    """Those whose facts went along."""
    is_still_asked = rewording.is_still_asked(shape)
    for scenario in tree.scenarios.prefetch_related("facts", "checks").order_by("pk"):
        if not is_still_asked:
            _follow_checks(scenario, rewording)
        told = tuple(fact.turn for fact in scenario.facts.all())
        facts = rewording.of_facts(shape, told)
        if facts != told:
            write_facts(scenario, facts)
            Scenario.objects.filter(pk=scenario.pk).update(sheet_version=F("sheet_version") + 1)
            yield scenario


def _follow_checks(scenario: Scenario, rewording: Rewording) -> None:
    for check in scenario.checks.all():
        says = {rewording.of_text(question): said for question, said in check.says.items()}
        if says != check.says:
            check.says = says
            check.save(update_fields=["says"])


def _utterances(tree: Tree, shape: domain.Tree, rewording: Rewording) -> Iterator[Utterance]:
    """Those that went along, not yet saved. What the rule gave before the first correction does,
    too: by that the expansion knows that it is here."""
    is_still_asked = rewording.is_still_asked(shape)
    rows = tree.utterances.filter(state__in=SAID).prefetch_related("corrections")
    for row in rows.order_by("pk"):
        parts, moved = row.parts, rewording.of_parts(row.parts)
        is_right = is_still_asked and (
            find_inconsistency(shape, row.kind, parts) is None
            or find_inconsistency(shape, row.kind, moved) is not None
        )
        if is_right:
            continue
        for first in list(row.corrections.all())[:1]:
            first.before = rewording.of_parts(Parts.from_json(first.before)).as_json()
            first.save(update_fields=["before"])
        if moved != parts:
            told = moved.as_json()
            row.history, row.evidence = told["history"], told["evidence"]
            row.answer, row.as_imported = moved.answer, ""
            row.version += 1
            yield row
