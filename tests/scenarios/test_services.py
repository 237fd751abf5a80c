"""Expansion of a project: adds what is missing, leaves what is here."""

from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.scenarios.domain.turns import turns_as_json
from apps.scenarios.models import (
    Derived,
    Fact,
    NegativeQuestion,
    NegativeScenario,
    Scenario,
    Utterance,
)
from apps.scenarios.services.expansion import expand_project
from apps.scenarios.services.verification import correct
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question, Turn
from apps.trees.models import Tree
from tests.factories import make_project, make_tree, make_user, sha1

pytestmark = pytest.mark.django_db

YES, NO = Answer.YES, Answer.NO
OLD, POOR = "Are you old?", "Are you poor?"
SHAPE = Question(OLD, Question(POOR, FinalAnswer(YES), FinalAnswer(NO)), FinalAnswer(NO))


@pytest.fixture
def tree() -> Tree:
    return make_tree(make_project(), SHAPE)


def expand(tree: Tree) -> Any:
    return expand_project(tree.project, author=None, progress=lambda *step: None).report


def add_scenario(tree: Tree, text: str, *facts: Turn) -> Scenario:
    scenario = Scenario.objects.create(tree=tree, text=text, text_sha1=sha1(text))
    for position, fact in enumerate(facts):
        Fact.objects.create(
            scenario=scenario, position=position,
            follow_up_question=fact.follow_up_question, follow_up_answer=fact.follow_up_answer,
        )  # fmt: skip
    return scenario


def contents(**of: str) -> set[tuple]:
    rows = Utterance.objects.filter(**of)
    return {(one.history_turns, one.evidence_turns, one.answer) for one in rows}


def test_each_node_gives_a_plain_utterance_that_points_to_it(tree):
    assert expand(tree)["added"] == {"plain": 5}
    old, poor = Turn(OLD, YES), Turn(POOR, YES)
    assert contents(kind="plain") == {
        ((), (), OLD),
        ((Turn(OLD, NO),), (), "No"),
        ((old,), (), POOR),
        ((old, Turn(POOR, NO)), (), "No"),
        ((old, poor), (), "Yes"),
    }
    for utterance in Utterance.objects.select_related("node"):
        assert utterance.node is not None
        assert utterance.answer == str(utterance.node)


def test_what_the_scenario_tells_is_evidence_and_not_asked_again(tree):
    add_scenario(tree, "I am 90 years of age.", Turn(OLD, YES))
    assert expand(tree)["added"] == {"plain": 5, "scenario": 4}
    old = Turn(OLD, YES)
    assert contents(kind="scenario") == {
        ((), (old,), POOR),
        ((old,), (), POOR),
        ((old, Turn(POOR, YES)), (), "Yes"),
        ((old, Turn(POOR, NO)), (), "No"),
    }


def test_negatives_give_theirs(tree):
    NegativeQuestion.objects.create(tree=tree, text="Can I keep bees?")
    NegativeScenario.objects.create(tree=tree, text="My bees are calm.")
    assert expand(tree)["added"] == {
        "plain": 5,
        "negative_question": 1,
        "negative_scenario": 5,
    }
    assert contents(kind="negative_question") == {((), (), "Irrelevant")}


def test_twice_adds_nothing(tree):
    add_scenario(tree, "I am 90 years of age.", Turn(OLD, YES))
    expand(tree)
    before = list(Utterance.objects.values_list("pk", "utterance_id"))
    report = expand(tree)
    assert (report["added"], report["here"]) == ({}, 9)
    assert list(Utterance.objects.values_list("pk", "utterance_id")) == before


def test_a_correction_stays_and_what_the_rule_gave_does_not_come_beside_it(tree):
    expand(tree)
    corrected = Utterance.objects.get(history=turns_as_json([Turn(OLD, NO)]))
    parts = replace(corrected.parts, answer="Yes")
    correct(corrected, parts, seen=1, by=make_user(), now=timezone.now(), why="The law changed.")
    Derived.objects.update(expanded="")
    report = expand(tree)
    assert (report["added"], report["here"], report["taken_out"]) == ({}, 5, [])
    corrected.refresh_from_db()
    assert (corrected.answer, corrected.state, corrected.origin) == ("Yes", "corrected", "hand")


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ([], "no facts"),
        (
            [Turn(OLD, YES), Turn(OLD, NO)],
            "facts that answer both Yes and No to one question",
        ),
        (
            [Turn(OLD, NO), Turn(POOR, YES)],
            "facts that are not on one path of its tree",
        ),
    ],
)
def test_a_scenario_that_cannot_be_expanded_is_reported(tree, facts, reason):
    scenario = add_scenario(tree, "It is complicated.", *facts)
    report = expand(tree)
    assert report["refused_scenarios"] == {reason: [scenario.pk]}
    assert report["added"] == {"plain": 5}


def test_an_unfinished_tree_is_left_out_and_counted():
    tree = make_tree(make_project(), Question(OLD, FinalAnswer(YES), OpenBranch()))
    report = expand(tree)
    assert (report["trees"], report["unfinished_trees"], report["added"]) == (0, 1, {})


def test_taken_out_nodes_give_nothing(tree):
    tree.nodes.filter(text=POOR).update(taken_out_at=timezone.now())
    expand(tree)
    assert not Utterance.objects.filter(answer=POOR).exists()


def test_more_trees_cost_no_more_statements():
    project = make_project()
    counted = []
    for number in (1, 3):
        for _ in range(number):
            add_scenario(make_tree(project, SHAPE), "I am 90.", Turn(OLD, YES))
        with CaptureQueriesContext(connection) as queries:
            expand_project(project, author=None, progress=lambda *step: None)
        counted.append(len(queries))
    assert counted[0] == counted[1]


def test_the_command_says_what_it_did(tree):
    out = StringIO()
    add_scenario(tree, "Well.")
    call_command("expand_utterances", f"--project={tree.project.slug}", stdout=out,
                 stderr=StringIO())  # fmt: skip
    assert out.getvalue().splitlines() == [
        "finished trees: 1; unfinished, left out: 0",
        "changed since the last expansion: 1",
        "added: 5 plain",
        "here already: 0",
        "not expanded, no facts: 1 scenarios of 1 trees",
    ]


def test_the_command_refuses_a_project_that_is_not_there():
    with pytest.raises(CommandError, match="--project nowhere: there is no such project"):
        call_command("expand_utterances", "--project=nowhere")


def test_turns_are_spelled_as_in_the_files():
    assert turns_as_json([Turn(OLD, YES)]) == [
        {"follow_up_question": OLD, "follow_up_answer": "Yes"}
    ]
