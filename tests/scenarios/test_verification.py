"""What experts decide about utterances, and what the expansion makes of it."""

from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction

from apps.accounts.models import User
from apps.projects.models import Job, Role, StateChange
from apps.projects.services.jobs import start_job_here
from apps.scenarios.domain.turns import turns_as_json
from apps.scenarios.errors import (
    CorrectionBegunError,
    DoesNotFollowError,
    EvidenceOfNothingError,
    NoScenarioHereError,
    SaidAlreadyError,
    SameAsBeforeError,
    StaysIrrelevantError,
    TreeChangedMeanwhileError,
    UtteranceChangedError,
    UtteranceNotInForceError,
)
from apps.scenarios.models import (
    Correction,
    CorrectionDraft,
    Finding,
    NegativeQuestion,
    NegativeScenario,
    Scenario,
    Utterance,
    Waiver,
)
from apps.scenarios.services.correction_drafts import begun_by
from apps.scenarios.services.expansion import expand_project
from apps.scenarios.services.proof import open_inconsistencies, unverified_count
from apps.scenarios.services.verification import (
    accept,
    accept_tree,
    correct,
    drop,
    keep,
    open_of_tree,
    reopen,
    seen_of,
)
from apps.trees.domain.tree import Answer, FinalAnswer, Question, Turn
from apps.trees.models import Node, Tree
from tests.factories import make_member, make_project, make_scenario, make_tree, make_utterance

pytestmark = pytest.mark.django_db

YES, NO = Answer.YES, Answer.NO
OLD, POOR = "Are you old?", "Are you poor?"
SHAPE = Question(OLD, Question(POOR, FinalAnswer(YES), FinalAnswer(NO)), FinalAnswer(NO))
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
AT_POOR = (Turn(OLD, YES),)


@pytest.fixture
def tree() -> Tree:
    return make_tree(make_project(), SHAPE)


@pytest.fixture
def ada(tree) -> User:
    return make_member(tree.project, Role.EXPERT)


@pytest.fixture
def ben(tree) -> User:
    return make_member(tree.project, Role.EXPERT)


def expand(tree: Tree) -> dict[str, Any]:
    report: dict[str, Any] = expand_project(
        tree.project, author=None, progress=lambda *step: None
    ).report
    return report


def one(answer: str, *history: Turn, **of: Any) -> Utterance:
    (found,) = (
        row
        for row in Utterance.objects.filter(answer=answer, **{"kind": "plain", **of})
        if row.history_turns == history
    )
    return found


def again(utterance: Utterance) -> Utterance:
    return Utterance.objects.get(pk=utterance.pk)


@pytest.fixture
def no_leaf(tree) -> Utterance:
    """Not old: No."""
    expand(tree)
    return one("No", Turn(OLD, NO))


def test_accepting_says_who_and_when_and_is_logged(no_leaf, ada):
    accept(no_leaf, seen=1, by=ada, now=NOW)
    accepted = again(no_leaf)
    assert (accepted.state, accepted.verified_by, accepted.verified_at) == ("accepted", ada, NOW)
    (step,) = StateChange.objects.filter(object_type="utterance", object_id=no_leaf.pk)
    assert (step.from_state, step.to_state, step.actor) == ("to verify", "accepted", ada)


def test_of_two_experts_the_second_reads_who_was_first(no_leaf, ada, ben):
    accept(no_leaf, seen=1, by=ada, now=NOW)
    with pytest.raises(UtteranceChangedError) as refused:
        drop(no_leaf, reason="It is odd.", seen=1, by=ben, now=NOW)
    assert str(refused.value).startswith(f"{ada} has accepted this utterance since this page was")
    assert again(no_leaf).state == "accepted"


def test_what_was_accepted_is_not_accepted_again(no_leaf, ada):
    accept(no_leaf, seen=1, by=ada, now=NOW)
    with pytest.raises(UtteranceChangedError):
        accept(no_leaf, seen=2, by=ada, now=NOW)


def test_a_correction_keeps_what_was_said_before_and_the_id(tree, ada):
    make_scenario(tree, "I am 90.", Turn(OLD, YES))
    expand(tree)
    asked = one(POOR, kind="scenario")
    parts = replace(asked.parts, scenario="I am 90 years of age.")
    correct(asked, parts, seen=1, by=ada, now=NOW)
    corrected = again(asked)
    assert corrected.parts == parts
    assert corrected.utterance_id == asked.utterance_id
    assert (corrected.state, corrected.origin) == ("corrected", "hand")
    assert (corrected.verified_by, corrected.version) == (ada, 2)
    (kept,) = corrected.corrections.all()
    assert (kept.before, kept.after) == (asked.parts.as_json(), parts.as_json())
    assert (kept.by, kept.at) == (ada, NOW)


def test_a_correction_can_be_corrected_and_both_are_kept(tree, ada, ben):
    make_scenario(tree, "I am 90.", Turn(OLD, YES))
    expand(tree)
    asked = one(POOR, kind="scenario")
    correct(asked, replace(asked.parts, scenario="I am 91."), seen=1, by=ada, now=NOW)
    correct(asked, replace(asked.parts, scenario="I am 92."), seen=2, by=ben, now=NOW)
    texts = [(row.before["scenario"], row.after["scenario"]) for row in Correction.objects.all()]
    assert texts == [("I am 90.", "I am 91."), ("I am 91.", "I am 92.")]
    assert again(asked).verified_by == ben


def test_an_answer_that_does_not_follow_is_refused_with_the_reason(no_leaf, ada):
    with pytest.raises(DoesNotFollowError) as refused:
        correct(no_leaf, replace(no_leaf.parts, answer="Yes"), seen=1, by=ada, now=NOW)
    assert str(refused.value) == (
        "The answer does not follow from the tree. Its turns contradict each other, or the tree "
        "ends in another final answer. The tree goes on with “No”. Correct it, or say below why it "
        "stays."
    )
    assert again(no_leaf).answer == "No"


def test_it_stays_when_the_expert_says_why(no_leaf, ada):
    parts = replace(no_leaf.parts, answer="Yes")
    correct(no_leaf, parts, seen=1, by=ada, now=NOW, why="The law was changed.")
    (waiver,) = Waiver.objects.all()
    assert (waiver.why, waiver.by, waiver.at) == ("The law was changed.", ada, NOW)
    assert waiver.reason == "contradicts"
    assert not open_inconsistencies(no_leaf.project).exists()


def test_a_later_correction_ends_the_waiver(no_leaf, ada):
    correct(no_leaf, replace(no_leaf.parts, answer="Yes"), seen=1, by=ada, now=NOW, why="So.")
    correct(no_leaf, no_leaf.parts, seen=2, by=ada, now=NOW)
    assert not Finding.objects.exists()
    assert not Waiver.objects.get().covered.filter(ended_at=None).exists()


def test_one_that_does_not_follow_is_accepted_only_with_a_why(tree, ada):
    wrong = make_utterance(tree, "Yes")
    with pytest.raises(DoesNotFollowError):
        accept(wrong, seen=1, by=ada, now=NOW)
    accept(wrong, seen=1, by=ada, now=NOW, why="A special rule.")
    assert again(wrong).state == "accepted"
    assert not open_inconsistencies(tree.project).exists()
    # Once waived, nobody has to say it again.
    reopen(wrong, seen=2, by=ada, now=NOW)
    accept(wrong, seen=3, by=ada, now=NOW)
    assert Waiver.objects.count() == 1


def test_a_why_that_is_not_needed_makes_no_waiver(no_leaf, ada):
    accept(no_leaf, seen=1, by=ada, now=NOW, why="Just so.")
    assert not Waiver.objects.exists()


def test_the_same_again_is_no_correction(no_leaf, ada):
    with pytest.raises(SameAsBeforeError):
        correct(no_leaf, no_leaf.parts, seen=1, by=ada, now=NOW)


def test_no_utterance_is_made_to_say_what_another_says(tree, no_leaf, ada):
    root = one(OLD)
    with pytest.raises(SaidAlreadyError) as refused:
        correct(no_leaf, root.parts, seen=1, by=ada, now=NOW)
    assert refused.value.utterance_id == root.utterance_id
    drop(root, reason="It is odd.", seen=1, by=ada, now=NOW)
    correct(no_leaf, root.parts, seen=1, by=ada, now=NOW)
    assert again(no_leaf).answer == OLD


def test_a_plain_utterance_gets_no_scenario(no_leaf, ada):
    with pytest.raises(NoScenarioHereError):
        correct(no_leaf, replace(no_leaf.parts, scenario="Me."), seen=1, by=ada, now=NOW)


def test_an_irrelevant_question_stays_irrelevant(tree, ada):
    NegativeQuestion.objects.create(tree=tree, text="Can I keep bees?")
    expand(tree)
    bees = one("Irrelevant", kind="negative_question")
    with pytest.raises(StaysIrrelevantError):
        correct(bees, replace(bees.parts, answer="Yes"), seen=1, by=ada, now=NOW)


def test_what_was_dropped_stays_and_is_not_made_again(tree, no_leaf, ada):
    drop(no_leaf, reason="It is odd.", seen=1, by=ada, now=NOW)
    dropped = again(no_leaf)
    assert (dropped.state, dropped.dropped_reason) == ("dropped", "It is odd.")
    with pytest.raises(UtteranceNotInForceError):
        correct(no_leaf, replace(no_leaf.parts, answer="Yes"), seen=2, by=ada, now=NOW)
    tree.nodes.filter(text=POOR).update(text="Are you really poor?")
    assert expand(tree)["added"] == {"plain": 3}
    assert no_leaf not in Utterance.objects.in_force()


def test_what_was_dropped_can_be_put_back(no_leaf, ada):
    drop(no_leaf, reason="It is odd.", seen=1, by=ada, now=NOW)
    reopen(no_leaf, seen=2, by=ada, now=NOW)
    back = again(no_leaf)
    assert (back.state, back.dropped_reason, back.verified_by) == ("to verify", "", None)


def test_what_was_not_verified_is_not_reopened(no_leaf, ada):
    with pytest.raises(UtteranceChangedError):
        reopen(no_leaf, seen=1, by=ada, now=NOW)


def test_the_database_wants_a_reason_and_a_person(no_leaf):
    for state in ("dropped", "accepted"):
        with pytest.raises(IntegrityError), transaction.atomic():
            Utterance.objects.filter(pk=no_leaf.pk).update(state=state)


# All of a tree -------------------------------------------------------------------------------


def test_a_tree_is_accepted_as_it_was_seen(tree, no_leaf, ada):
    seen = seen_of(open_of_tree(tree, by=ada))
    assert accept_tree(tree, seen=seen, by=ada, now=NOW) == 5
    assert set(Utterance.objects.values_list("state", "verified_by")) == {("accepted", ada.pk)}


def test_a_tree_that_has_changed_meanwhile_is_not_accepted(tree, no_leaf, ada, ben):
    seen = seen_of(open_of_tree(tree, by=ada))
    accept(no_leaf, seen=1, by=ben, now=NOW)
    with pytest.raises(TreeChangedMeanwhileError):
        accept_tree(tree, seen=seen, by=ada, now=NOW)
    assert Utterance.objects.filter(state="accepted").count() == 1


def test_what_does_not_follow_is_not_accepted_together(tree, no_leaf, ada):
    wrong = make_utterance(tree, "Yes")
    assert accept_tree(tree, seen=seen_of(open_of_tree(tree, by=ada)), by=ada, now=NOW) == 5
    assert again(wrong).state == "to verify"


def test_a_correction_that_was_begun_is_not_accepted_over(tree, no_leaf, ada, ben):
    draft = CorrectionDraft.objects.create(
        utterance=no_leaf, by=ada, seen=1, version=1, saved_at=NOW, content={"part-answer": OLD}
    )
    with pytest.raises(CorrectionBegunError):
        accept(no_leaf, seen=1, by=ada, now=NOW)
    assert no_leaf not in open_of_tree(tree, by=ada)
    assert no_leaf in open_of_tree(tree, by=ben)
    drop(no_leaf, reason="Odd.", seen=1, by=ada, now=NOW)
    assert not begun_by(ada).exists()  # and not lost
    reopen(again(no_leaf), seen=2, by=ada, now=NOW)
    assert list(begun_by(ada)) == [draft]


def test_a_scenario_is_not_taken_from_its_evidence(tree, ada):
    told = make_utterance(tree, POOR, kind="scenario", scenario="I am 90.",
                          evidence=turns_as_json(AT_POOR))  # fmt: skip
    with pytest.raises(EvidenceOfNothingError):
        correct(told, replace(told.parts, scenario=""), seen=1, by=ada, now=NOW, why="So.")
    Utterance.objects.filter(pk=told.pk).update(scenario="")
    (finding,) = open_inconsistencies(tree.project)
    assert (finding.reason, finding.expected) == ("no_scenario", OLD)


def test_nothing_seen_accepts_nothing(tree, ada):
    with pytest.raises(TreeChangedMeanwhileError):
        accept_tree(tree, seen=seen_of([]), by=ada, now=NOW)


# Expanding again -----------------------------------------------------------------------------


def cut(tree: Tree, text: str) -> None:
    """Takes the question and all below it out; the branch is open then."""
    place = tree.nodes.live().get(text=text).place
    tree.nodes.live().below(place).update(taken_out_at=NOW)
    Tree.objects.filter(pk=tree.pk).update(state="growing")


def grow(tree: Tree, answer: Answer) -> None:
    """Closes the branch under the root with a final answer."""
    root = tree.nodes.live().get(place="")
    Node.at(tree, root, "yes", kind="answer", answer=answer).save()
    Tree.objects.filter(pk=tree.pk).update(state="finished")


def states() -> dict[tuple[str, int], str]:
    rows = Utterance.objects.all()
    return {(row.answer, len(row.history)): row.state for row in rows}


def test_what_a_tree_no_longer_gives_is_taken_out(tree, no_leaf):
    cut(tree, POOR)
    report = expand(tree)
    assert (report["added"], len(report["taken_out"]), report["gone"]) == ({}, 3, [])
    assert Utterance.objects.in_force().count() == 2
    grow(tree, YES)
    report = expand(tree)
    assert (report["added"], report["taken_out"], report["here"]) == ({"plain": 1}, [], 2)


def test_what_a_tree_gives_again_comes_back_with_its_id(tree, no_leaf):
    before = {row.pk: row.utterance_id for row in Utterance.objects.all()}
    cut(tree, POOR)
    expand(tree)
    tree.nodes.update(taken_out_at=None)
    Tree.objects.filter(pk=tree.pk).update(state="finished")
    report = expand(tree)
    assert (len(report["back"]), report["added"]) == (3, {})
    assert {row.pk: row.utterance_id for row in Utterance.objects.in_force()} == before


def test_what_was_verified_is_not_taken_out_but_reported(tree, no_leaf, ada):
    accepted, corrected = one(POOR, *AT_POOR), one("No", *AT_POOR, Turn(POOR, NO))
    accept(accepted, seen=1, by=ada, now=NOW)
    correct(corrected, replace(corrected.parts, answer="Yes"), seen=1, by=ada, now=NOW, why="So.")
    cut(tree, POOR)
    report = expand(tree)
    ids = {accepted.utterance_id, corrected.utterance_id}
    assert set(report["gone"]) == ids
    assert len(report["taken_out"]) == 1
    gone = Utterance.objects.filter(gone_at__isnull=False)
    assert {row.utterance_id for row in gone} == ids
    assert unverified_count(tree.project, ["dev"]) == 2 + 2  # these, and the two that are left
    # Reported once; they wait for a decision.
    grow(tree, YES)
    assert expand(tree)["gone"] == []


def test_what_was_gone_and_is_found_again_needs_no_decision(tree, no_leaf, ada):
    accepted = one(POOR, *AT_POOR)
    accept(accepted, seen=1, by=ada, now=NOW)
    cut(tree, POOR)
    expand(tree)
    tree.nodes.update(taken_out_at=None)
    Tree.objects.filter(pk=tree.pk).update(state="finished")
    expand(tree)
    assert again(accepted).gone_at is None
    assert again(accepted).state == "accepted"


def test_what_is_gone_can_be_kept_by_hand(tree, no_leaf, ada):
    accepted = one(POOR, *AT_POOR)
    accept(accepted, seen=1, by=ada, now=NOW)
    cut(tree, POOR)
    grow(tree, YES)
    expand(tree)
    with pytest.raises(DoesNotFollowError):
        keep(accepted, seen=2, by=ada, now=NOW)
    keep(accepted, seen=2, by=ada, now=NOW, why="The question matters.")
    kept = again(accepted)
    assert (kept.origin, kept.gone_at) == ("hand", None)
    assert kept.node == tree.nodes.live().get(place="y")


def test_what_was_kept_without_a_node_is_not_asked_about_again(tree, no_leaf, ada):
    accepted = one(POOR, *AT_POOR)
    accept(accepted, seen=1, by=ada, now=NOW)
    cut(tree, POOR)
    expand(tree)
    keep(accepted, seen=2, by=ada, now=NOW, why="The question matters.")
    assert again(accepted).node is None
    grow(tree, YES)
    assert expand(tree)["gone"] == []


def test_what_is_not_gone_cannot_be_kept(no_leaf, ada):
    with pytest.raises(UtteranceChangedError):
        keep(no_leaf, seen=1, by=ada, now=NOW)


def test_what_was_imported_is_not_taken_out_but_reported(tree):
    job = start_job_here(tree.project, kind="ShARC import", parameters={}, created_by=None)
    came = make_utterance(tree, "Yes", job=job)
    report = expand(tree)
    assert (report["gone"], report["taken_out"]) == ([came.utterance_id], [])


def test_only_trees_that_changed_are_expanded_again(tree, no_leaf):
    other = make_tree(tree.project, SHAPE)
    report = expand(tree)
    assert (report["expanded_trees"], report["added"], report["here"]) == (1, {"plain": 5}, 5)
    report = expand(tree)
    assert (report["expanded_trees"], report["added"], report["here"]) == (0, {}, 10)
    make_scenario(other, "I am 90.", Turn(OLD, YES))
    report = expand(tree)
    assert (report["expanded_trees"], report["added"]) == (1, {"scenario": 4})


def test_a_scenario_that_was_sent_back_gives_nothing_any_more(tree):
    scenario = make_scenario(tree, "I am 90.", Turn(OLD, YES))
    expand(tree)
    Scenario.objects.filter(pk=scenario.pk).update(state="sent back")
    assert len(expand(tree)["taken_out"]) == 4


def test_another_node_at_the_same_place_is_the_utterances_node(tree, no_leaf):
    root = tree.nodes.get(place="")
    tree.nodes.filter(place="n").update(taken_out_at=NOW)
    node = Node.at(tree, root, "no", kind="answer", answer="No")
    node.save()
    assert expand(tree)["taken_out"] == []
    assert again(no_leaf).node == node


def exported(project_id: int) -> list[tuple[Any, ...]]:
    rows = Utterance.objects.in_force().filter(project=project_id).order_by("utterance_id")
    return list(
        rows.values_list("utterance_id", "kind", "question", "scenario", "history", "evidence",
                         "answer", "answer_class")
    )  # fmt: skip


def test_the_same_data_in_any_order_gives_the_same_utterances():
    texts = [
        ("I am 90.", [Turn(OLD, YES)]),
        ("I have no money.", [Turn(POOR, YES), Turn(OLD, YES)]),
    ]
    found = []
    for turned in (False, True):
        tree = make_tree(make_project(), SHAPE)
        tree.question.snippet.text = "# Same\n\nYou can, if you may."
        tree.question.snippet.save()
        for text, facts in reversed(texts) if turned else texts:
            make_scenario(tree, text, *(reversed(facts) if turned else facts))
        negatives = ["Can I keep bees?", "Can I fly?"]
        for text in reversed(negatives) if turned else negatives:
            NegativeQuestion.objects.create(tree=tree, text=text)
        # The very text of a scenario of its own: one id, and the evidence decides.
        NegativeScenario.objects.create(tree=tree, text="I am 90.")
        expand(tree)
        found.append(exported(tree.project_id))
    assert found[0] == found[1]


def test_a_dry_run_says_the_same_and_writes_nothing(tree):
    make_scenario(tree, "I am 90.", Turn(OLD, YES))

    def run(*arguments: str) -> list[str]:
        out = StringIO()
        slug = tree.project.slug
        call_command("expand_utterances", f"--project={slug}", *arguments, stdout=out,
                     stderr=StringIO())  # fmt: skip
        return out.getvalue().splitlines()

    dry = run("--dry-run")
    assert not Utterance.objects.exists()
    assert not Job.objects.exists()
    assert dry == ["dry run: nothing was written; an expansion now would say", *run()]
