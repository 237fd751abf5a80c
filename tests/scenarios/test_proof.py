"""The consistency proof of a project, its waivers, and the faults of scenarios' facts."""

from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import User
from apps.projects.models import AuditEvent, Job, Project, Role
from apps.projects.services.jobs import run_job
from apps.scenarios.errors import NothingToWaiveError, OtherNumberError
from apps.scenarios.models import Finding, ScenarioFault, Utterance, Waived
from apps.scenarios.services import proof
from apps.scenarios.services.expansion import expand_project, queue_expansion, run_expansion
from apps.scenarios.services.proof import (
    findings_of,
    numbers_of,
    open_inconsistencies,
    prove,
    prove_or_queue,
    run_proof,
    unverified_count,
    waive,
    waivers_in_force,
    withdraw_waiver,
)
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question, Turn
from apps.trees.models import Tree
from tests.factories import make_member, make_project, make_scenario, make_tree, make_utterance

pytestmark = pytest.mark.django_db

YES, NO = Answer.YES, Answer.NO
OLD, POOR = "Are you old?", "Are you poor?"
SHAPE = Question(OLD, Question(POOR, FinalAnswer(YES), FinalAnswer(NO)), FinalAnswer(NO))
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)

THE_19 = {
    "contradicts": "0417df75 0e6c22fa 16ee3771 81f78bf6 e49d5737 f2ee6927",
    "decides_early": "1d4f7cf0 cfbfb1c8 e18d354c e7d4e089",
    "asks_known_fact": "5ec10aee bdafe4ed",
    "unknown_question": "4f6af729 5b8cca40 689f45ff c8b8e8b5 de38c1b9 e255919d fadcd402",
}


def turn(question: str, answer: str) -> dict[str, str]:
    return {"follow_up_question": question, "follow_up_answer": answer}


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def tree(project) -> Tree:
    return make_tree(project, SHAPE)


@pytest.fixture
def ada(project) -> User:
    return make_member(project, Role.EXPERT)


def reasons(project: Project) -> dict[str, str]:
    rows = open_inconsistencies(project).select_related("utterance")
    return {row.utterance.utterance_id: row.reason for row in rows}


def test_each_reason_is_found_with_what_the_tree_says(tree):
    wrong = {
        "contradicts": make_utterance(tree, "Yes", history=[turn(OLD, "No")]),
        "decides_early": make_utterance(tree, "Yes"),
        "asks_known_fact": make_utterance(tree, OLD, history=[turn(OLD, "Yes")]),
        "unknown_question": make_utterance(tree, "Are you tall?"),
    }
    right = make_utterance(tree, POOR, history=[turn(OLD, "Yes")])
    assert reasons(tree.project) == {row.utterance_id: why for why, row in wrong.items()}
    assert not Finding.objects.filter(utterance=right).exists()
    expected = {row.reason: row.expected for row in Finding.objects.all()}
    assert expected == {
        "contradicts": "No", "decides_early": OLD, "asks_known_fact": POOR, "unknown_question": OLD,
    }  # fmt: skip


def test_an_open_branch_gives_no_answer(project):
    tree = make_tree(project, Question(OLD, FinalAnswer(YES), OpenBranch()))
    make_utterance(tree, "Yes", history=[turn(OLD, "No")])
    assert set(reasons(project).values()) == {"open_branch"}


def test_irrelevant_questions_and_what_left_the_dataset_are_not_looked_at(tree, ada):
    make_utterance(tree, "Irrelevant", kind="negative_question", question="Can I keep bees?")
    make_utterance(tree, "Yes", state="taken out")
    make_utterance(tree, "No", state="dropped", dropped_reason="Odd.", verified_by=ada,
                   verified_at=NOW)  # fmt: skip
    assert reasons(tree.project) == {}


def test_only_trees_that_changed_are_looked_at_again(tree):
    other = make_tree(tree.project, SHAPE)
    make_utterance(tree, OLD)
    changed = make_utterance(other, OLD)
    assert (prove(tree.project), prove(tree.project)) == (2, 0)
    other.nodes.filter(text=OLD).update(text="Are you tall?")
    assert prove(tree.project) == 1
    assert reasons(tree.project) == {changed.utterance_id: "unknown_question"}


def test_statements_do_not_grow_with_the_trees(project):
    counted = []
    for number in (1, 3):
        for _ in range(number):
            make_utterance(make_tree(project, SHAPE), "Yes")
        with CaptureQueriesContext(connection) as queries:
            prove(project)
        counted.append(len(queries))
    assert counted[0] == counted[1]


def test_what_the_rule_gives_always_follows(tree):
    make_scenario(tree, "I am 90.", Turn(OLD, YES))
    expand_project(tree.project, author=None, progress=lambda *step: None)
    assert Utterance.objects.count() == 9
    assert not Finding.objects.exists()
    assert numbers_of(tree.project)["unproven"] == 0


def test_a_big_project_is_proven_by_a_job(tree, ada, monkeypatch):
    make_utterance(tree, "Yes")
    assert prove_or_queue(tree.project, author=ada) == 1
    monkeypatch.setattr(proof, "PROVEN_AT_ONCE", 1)
    assert prove_or_queue(tree.project, author=ada) is None
    assert prove_or_queue(tree.project, author=ada) is None  # it waits already
    (job,) = Job.objects.all()
    run_job(job.pk, run_proof)
    job.refresh_from_db()
    assert (job.state, job.report) == ("done", {"trees": 0, "all": 1, "open": 1})


def test_an_expansion_can_be_a_job(tree, ada):
    job = queue_expansion(tree.project, author=ada)
    run_job(job.pk, run_expansion)
    job.refresh_from_db()
    assert (job.state, job.report["added"]) == ("done", {"plain": 5})


# Waivers -------------------------------------------------------------------------------------


def test_a_waiver_covers_what_was_there_and_nothing_later(tree, ada):
    first = make_utterance(tree, "Yes")
    other = make_utterance(tree, "Are you tall?")
    prove(tree.project)
    findings = findings_of(tree.project)
    waiver = waive(findings, reason="decides_early", number=1, why="It is urgent.", by=ada, now=NOW)
    assert (waiver.why, waiver.by, waiver.at) == ("It is urgent.", ada, NOW)
    later = make_utterance(tree, "No")
    assert reasons(tree.project) == {
        other.utterance_id: "unknown_question",
        later.utterance_id: "decides_early",
    }
    event = AuditEvent.objects.get(action="waive inconsistencies")
    assert event.details["utterances"] == [first.utterance_id]
    assert numbers_of(tree.project)["open"] == 2


def test_another_number_than_was_seen_is_not_waived(tree, ada):
    make_utterance(tree, "Yes")
    make_utterance(tree, "No")
    prove(tree.project)
    with pytest.raises(OtherNumberError, match="There are 2 of them now, and not 1"):
        waive(findings_of(tree.project), reason="decides_early", number=1, why="So.", by=ada,
              now=NOW)  # fmt: skip


def test_what_is_waived_already_is_not_waived_again(tree, ada):
    make_utterance(tree, "Yes")
    prove(tree.project)
    findings = findings_of(tree.project)
    waive(findings, reason="decides_early", number=1, why="So.", by=ada, now=NOW)
    with pytest.raises(NothingToWaiveError):
        waive(findings, reason="decides_early", number=1, why="So.", by=ada, now=NOW)


def test_a_withdrawn_waiver_covers_nothing(tree, ada):
    utterance = make_utterance(tree, "Yes")
    prove(tree.project)
    waiver = waive(findings_of(tree.project), reason="decides_early", number=1, why="So.", by=ada,
                   now=NOW)  # fmt: skip
    assert [one.pk for one in waivers_in_force(tree.project)] == [waiver.pk]
    assert withdraw_waiver(waiver, by=ada, now=NOW) == 1
    assert withdraw_waiver(waiver, by=ada, now=NOW) == 0
    assert reasons(tree.project) == {utterance.utterance_id: "decides_early"}
    assert not waivers_in_force(tree.project).exists()


def test_a_waiver_of_one_reason_does_not_cover_another(tree, ada):
    utterance = make_utterance(tree, "Yes")
    prove(tree.project)
    waive(findings_of(tree.project), reason="decides_early", number=1, why="So.", by=ada, now=NOW)
    tree.nodes.filter(parent=None).update(text="Are you tall?")
    Utterance.objects.update(history=[turn(OLD, "Yes")], version=2)
    assert reasons(tree.project) == {utterance.utterance_id: "unknown_question"}
    waive(
        findings_of(tree.project), reason="unknown_question", number=1, why="So.", by=ada, now=NOW
    )
    assert reasons(tree.project) == {}


def test_the_database_lets_one_waiver_cover_an_utterance(tree, ada):
    utterance = make_utterance(tree, "Yes")
    prove(tree.project)
    waiver = waive(findings_of(tree.project), reason="decides_early", number=1, why="So.", by=ada,
                   now=NOW)  # fmt: skip
    with pytest.raises(IntegrityError), transaction.atomic():
        Waived.objects.create(waiver=waiver, utterance=utterance)


# Facts ---------------------------------------------------------------------------------------


def test_faulty_facts_are_found_with_their_reason(tree):
    faulty = {
        "no facts": make_scenario(tree, "Well."),
        "contradictory": make_scenario(tree, "Both.", Turn(OLD, YES), Turn(OLD, NO)),
        "not asked": make_scenario(tree, "Tall.", Turn(OLD, YES), Turn("Are you tall?", YES)),
        "not on one path": make_scenario(tree, "Odd.", Turn(OLD, NO), Turn(POOR, YES)),
    }
    make_scenario(tree, "Fine.", Turn(OLD, NO))
    prove(tree.project)
    found = {row.reason: row.scenario for row in ScenarioFault.objects.all()}
    assert found == faulty
    assert ScenarioFault.objects.get(reason="not asked").facts == [turn("Are you tall?", "Yes")]


def test_a_fact_is_out_of_reach_after_its_question_was_cut(tree):
    make_scenario(tree, "Poor.", Turn(POOR, YES))
    prove(tree.project)
    assert not ScenarioFault.objects.exists()
    tree.nodes.filter(place__startswith="y").update(taken_out_at=NOW)
    prove(tree.project)
    assert ScenarioFault.objects.get().reason == "not asked"


# The official dev set ------------------------------------------------------------------------


@pytest.fixture
def dev(sharc_dev) -> Project:
    call_command(
        "import_sharc",
        str(sharc_dev / "sharc_dev.json"),
        "--project=dev",
        f"--negative-questions={sharc_dev / 'sharc_negative_question_utterance_ids.txt'}",
        f"--negative-scenarios={sharc_dev / 'sharc_negative_scenario_utterance_ids.txt'}",
        stdout=StringIO(),
        stderr=StringIO(),
    )
    return Project.objects.get(slug="dev")


def test_the_19_of_the_official_dev_set(dev):
    found: dict[str, set[str]] = {}
    for utterance_id, reason in reasons(dev).items():
        found.setdefault(reason, set()).add(utterance_id[:8])
    assert found == {reason: set(ids.split()) for reason, ids in THE_19.items()}
    faults = [row.reason for row in ScenarioFault.objects.all()]
    assert {reason: faults.count(reason) for reason in set(faults)} == {
        "no facts": 110, "contradictory": 4, "not asked": 4, "not on one path": 3,
    }  # fmt: skip


def test_what_was_imported_counts_as_verified_and_what_the_rule_adds_does_not(dev):
    assert unverified_count(dev, ["dev"]) == 0
    expand_project(dev, author=None, progress=lambda *step: None)
    assert unverified_count(dev, ["dev"]) == 189
    assert len(reasons(dev)) == 19
    report = expand_project(dev, author=None, progress=lambda *step: None).report
    assert (report["expanded_trees"], report["added"], report["here"]) == (0, {}, 2049 + 189)
    assert len(report["same_id"]) == 65
