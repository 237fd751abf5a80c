"""A question is worded anew: facts and verified utterances go along (case: one better word must
not undo the work on a whole tree)."""

from datetime import UTC, datetime

import pytest

from apps.projects.models import Role
from apps.scenarios.domain.corrections import Parts
from apps.scenarios.models import ScenarioFault, Utterance
from apps.scenarios.services.expansion import expand_project
from apps.scenarios.services.verification import accept, correct, drop
from apps.trees.domain.tree import Answer, FinalAnswer, Question, Turn
from apps.trees.models import Tree
from apps.trees.services.edits import change_wording
from tests.factories import make_member, make_project, make_scenario, make_tree

pytestmark = pytest.mark.django_db

YES, NO = Answer.YES, Answer.NO
OLD, POOR, NEW = "Are you old?", "Are you poor?", "Are you over 65?"
LEAVES = (FinalAnswer(YES), FinalAnswer(NO))
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def expand(tree: Tree) -> dict[str, object]:
    report = expand_project(tree.project, author=None, progress=lambda *step: None).report
    return {name: report[name] for name in ("added", "gone", "refused_scenarios")}


def reword(tree: Tree, before: str, place: str = "") -> None:
    expert = make_member(tree.project, Role.EXPERT)
    node = tree.nodes.live().get(text=before, place=place)
    change_wording(node, NEW, seen=before, expert=expert, now=NOW)


def test_what_was_verified_and_what_a_text_tells_take_the_new_wording():
    tree = make_tree(make_project(), Question(OLD, Question(POOR, *LEAVES), FinalAnswer(NO)))
    expert = make_member(tree.project, Role.EXPERT)
    scenario = make_scenario(tree, "I am 90.", Turn(OLD, YES))
    expand(tree)
    told = Utterance.objects.get(kind="scenario", history=[])
    at_poor = Utterance.objects.get(kind="plain", answer=POOR)
    root, poor_yes = (Utterance.objects.get(kind="plain", answer=answer) for answer in (OLD, "Yes"))
    accept(told, seen=1, by=expert, now=NOW)
    accept(at_poor, seen=1, by=expert, now=NOW)
    drop(poor_yes, reason="Odd.", seen=1, by=expert, now=NOW)
    correct(root, Parts("", (), (), POOR), seen=1, by=expert, now=NOW, why="So.")
    reword(tree, OLD)
    rows = {row.pk: row for row in Utterance.objects.all()}
    assert rows[told.pk].evidence_turns == rows[at_poor.pk].history_turns == (Turn(NEW, YES),)
    assert {(rows[one.pk].state, rows[one.pk].utterance_id) for one in (told, at_poor)} == {
        ("accepted", told.utterance_id), ("accepted", at_poor.utterance_id),
    }  # fmt: skip
    assert [fact.turn for fact in scenario.facts.all()] == [Turn(NEW, YES)]
    # What nobody had verified is made anew; nothing is lost, or here twice.
    made = expand(tree)
    assert (made["gone"], made["refused_scenarios"]) == ([], {})
    assert made["added"] == {"plain": 2, "scenario": 3}
    assert not ScenarioFault.objects.exists()
    assert expand(tree)["added"] == {}


def test_where_another_node_asks_so_still_only_what_means_this_one_goes_along():
    both = (Question(POOR, *LEAVES), Question(POOR, *LEAVES))
    tree = make_tree(make_project(), Question(OLD, *both))
    expert = make_member(tree.project, Role.EXPERT)
    here, there = (
        make_scenario(tree, str(said), Turn(OLD, said), Turn(POOR, YES)) for said in Answer
    )
    expand(tree)
    for row in Utterance.objects.filter(kind="plain"):
        accept(row, seen=1, by=expert, now=NOW)
    reword(tree, POOR, "y")
    assert [fact.turn for fact in here.facts.all()] == [Turn(OLD, YES), Turn(NEW, YES)]
    assert [fact.turn for fact in there.facts.all()] == [Turn(OLD, NO), Turn(POOR, YES)]
    assert expand(tree)["gone"] == []
