"""The pages of the verification, of the consistency proof and of scenarios' facts."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Project, Role
from apps.projects.services.jobs import start_job_here
from apps.scenarios.models import Utterance, Waiver
from apps.scenarios.services.expansion import expand_project
from apps.scenarios.services.proof import prove
from apps.scenarios.services.verification import accept, correct, open_of_tree, seen_of
from apps.trees.domain.tree import Answer, FinalAnswer, Question, Turn
from apps.trees.models import Tree
from tests.factories import (
    make_document,
    make_member,
    make_project,
    make_question,
    make_scenario,
    make_snippet,
    make_tree,
    make_user,
    make_utterance,
)
from tests.pages import words_of_main

pytestmark = pytest.mark.django_db

YES, NO = Answer.YES, Answer.NO
OLD, POOR = "Are you old?", "Are you poor?"
SHAPE = Question(OLD, Question(POOR, FinalAnswer(YES), FinalAnswer(NO)), FinalAnswer(NO))
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def turn(question: str, answer: str) -> dict[str, str]:
    return {"follow_up_question": question, "follow_up_answer": answer}


@pytest.fixture
def project() -> Project:
    return make_project("bikes")


@pytest.fixture
def tree(project) -> Tree:
    return make_tree(project, SHAPE)


@pytest.fixture
def expert(client, project):
    user = make_member(project, Role.EXPERT)
    client.force_login(user)
    return user


def address(name: str, utterance: Utterance | None = None) -> str:
    arguments = ["bikes"] + ([utterance.utterance_id] if utterance else [])
    return reverse(f"scenarios:{name}", args=arguments)


def page(client, name: str, utterance: Utterance | None = None, **query: str) -> str:
    response = client.get(address(name, utterance), query)
    assert response.status_code == 200
    return words_of_main(response.content.decode())


def send(client, name: str, utterance: Utterance, **data: Any):
    return client.post(address(name, utterance), {"seen": utterance.version, **data})


def parts(utterance: Utterance, **other: Any) -> dict[str, Any]:
    """What the form of a correction sends, two empty rows included."""
    fields = {"scenario": utterance.scenario, "answer": utterance.answer, "why": "",
              "seen": utterance.version}  # fmt: skip
    sent = {f"part-{name}": other.get(name, value) for name, value in fields.items()}
    for name in ("history", "evidence"):
        turns = [*other.get(name, getattr(utterance, name)), turn("", ""), turn("", "")]
        sent |= {f"{name}-TOTAL_FORMS": len(turns), f"{name}-INITIAL_FORMS": len(turns) - 2}
        for number, row in enumerate(turns):
            sent |= {f"{name}-{number}-{key}": value for key, value in row.items()}
    return sent


def accepted(expert: User) -> dict[str, Any]:
    return {"state": "accepted", "verified_by": expert, "verified_at": timezone.now()}


def go_to(utterance: Utterance) -> str:
    return address("verify", utterance)


# The queue -----------------------------------------------------------------------------------


def test_the_queue_counts_what_waits_in_dev_and_test(client, expert, project, tree):
    train = make_document(project, split="train")
    make_utterance(make_tree(project, SHAPE, question=make_question(make_snippet(train))))
    make_utterance(tree, OLD)
    job = start_job_here(project, kind="ShARC import", parameters={}, created_by=None)
    make_utterance(tree, POOR, history=[turn(OLD, "Yes")], job=job)
    make_utterance(tree, "No", history=[turn(OLD, "No")], gone_at=timezone.now(),
                   **accepted(expert))  # fmt: skip
    words = page(client, "verification")
    assert "2 utterances wait for an expert." in words
    assert "Dev 2 1 0 0 1 0 0" in words  # each once: three are there
    assert "Test 0 0 0 0 0 0 0" in words


def test_nothing_waits(client, expert, project):
    assert "Nothing waits" in page(client, "verification")
    response = client.get(address("verify_next"), follow=True)
    assert "No utterance of dev and test waits for an expert now." in response.content.decode()


def test_the_next_is_below_in_the_same_tree_then_in_the_next_tree(client, expert, project, tree):
    scenario = make_scenario(tree, "I am 90.", Turn(OLD, YES))
    told = make_utterance(tree, POOR, kind="scenario", scenario="I am 90.", scenario_of=scenario,
                          evidence=[turn(OLD, "Yes")])  # fmt: skip
    plain = make_utterance(tree, OLD)
    other = make_utterance(make_tree(project, SHAPE), OLD)

    def after(utterance: Utterance | None) -> str:
        query = {"after": utterance.utterance_id} if utterance else {}
        return str(client.get(address("verify_next"), query).headers["Location"])

    assert after(None) == go_to(plain)
    assert after(plain) == go_to(told)
    assert after(told) == go_to(other)
    assert after(other) == go_to(plain)


def test_a_tree_that_another_expert_works_on_comes_last(client, expert, project, tree):
    ben = make_member(project, Role.EXPERT)
    for _ in range(2):
        make_utterance(tree, OLD)
    other = make_utterance(make_tree(project, SHAPE), OLD)
    first = Utterance.objects.filter(tree=tree)[0]
    accept(first, seen=1, by=ben, now=timezone.now())
    assert client.get(address("verify_next")).headers["Location"] == go_to(other)


# One utterance -------------------------------------------------------------------------------


def test_the_page_shows_what_a_model_reads_and_the_evidence_behind_a_key(client, expert, tree):
    told = make_utterance(tree, POOR, kind="scenario", scenario="I am 90.",
                          evidence=[turn(OLD, "Yes")])  # fmt: skip
    words = page(client, "verify", told)
    assert "Question Can I? Scenario I am 90. History None Answer Asks Are you poor?" in words
    assert "Evidence E Are you old? Yes" in words
    assert "This tree 1 of 1 · 1 waiting" in words
    markup = client.get(address("verify", told)).content.decode()
    assert '<summary data-key="e"' in markup


def test_accepting_goes_to_the_next(client, expert, tree):
    first, second = make_utterance(tree, OLD), make_utterance(tree, OLD)
    response = send(client, "verify_accept", first)
    assert response.headers["Location"] == go_to(second)
    first.refresh_from_db()
    assert (first.state, first.verified_by) == ("accepted", expert)


def test_the_second_expert_reads_that_the_first_was_there(client, expert, project, tree):
    utterance = make_utterance(tree, OLD)
    ben = make_member(project, Role.EXPERT, make_user(name="Ben"))
    accept(utterance, seen=1, by=ben, now=NOW)
    response = send(client, "verify_drop", utterance, reason="It is odd.")
    words = words_of_main(response.content.decode())
    assert "Ben has accepted this utterance since this page was opened" in words
    assert "It is odd." in response.content.decode()
    utterance.refresh_from_db()
    assert utterance.state == "accepted"


def test_a_correction_changes_any_part(client, expert, tree):
    told = make_utterance(tree, POOR, kind="scenario", scenario="I am 90.",
                          evidence=[turn(OLD, "Yes")])  # fmt: skip
    sent = parts(
        told, scenario="I am 90\r\nand poor.", answer="yes",
        evidence=[turn(OLD, "Yes"), turn(POOR, "Yes")],
    )  # fmt: skip
    assert send(client, "verify_correct", told, **sent).status_code == 302
    told.refresh_from_db()
    assert told.scenario == "I am 90\nand poor."
    assert (told.answer, told.answer_class) == ("Yes", "yes")
    assert told.evidence == [turn(OLD, "Yes"), turn(POOR, "Yes")]
    assert "Before, it said: Scenario I am 90." in page(client, "verify", told)


def test_an_emptied_question_takes_its_turn_out(client, expert, tree):
    utterance = make_utterance(tree, POOR, history=[turn(OLD, "Yes")])
    sent = parts(utterance, history=[turn("", "Yes")], answer=OLD)
    assert send(client, "verify_correct", utterance, **sent).status_code == 302
    utterance.refresh_from_db()
    assert (utterance.history, utterance.answer) == ([], OLD)


def test_a_correction_that_does_not_follow_comes_back_with_all_that_was_typed(client, expert, tree):
    utterance = make_utterance(tree, OLD)
    sent = parts(utterance, answer="Are you tall?", history=[turn("Are you tall?", "No")])
    response = send(client, "verify_correct", utterance, **sent)
    assert response.status_code == 200
    markup = response.content.decode()
    assert "It has a question that its tree does not ask." in words_of_main(markup)
    assert 'value="Are you tall?"' in markup
    sent["part-why"] = "The tree lacks it."
    assert send(client, "verify_correct", utterance, **sent).status_code == 302
    assert Waiver.objects.get().why == "The tree lacks it."


@pytest.mark.parametrize("blank", ["", "  ", "　", "​"])
def test_an_answer_of_blanks_is_refused(client, expert, tree, blank):
    utterance = make_utterance(tree, OLD)
    response = send(client, "verify_correct", utterance, **parts(utterance, answer=blank))
    assert response.status_code == 200
    assert "Say" in words_of_main(response.content.decode())
    utterance.refresh_from_db()
    assert utterance.answer == OLD


def test_more_is_no_answer_and_a_turn_needs_one(client, expert, tree):
    utterance = make_utterance(tree, OLD)
    sent = parts(utterance, answer="MORE", history=[turn(OLD, "")])
    words = words_of_main(send(client, "verify_correct", utterance, **sent).content.decode())
    assert "Say Yes or No, or write the follow-up question itself." in words
    assert "Choose Yes or No, or empty the question." in words


def test_text_of_any_script_comes_back_as_it_was_typed(client, expert, tree):
    text = "👩‍👧 é, أنا طالب، 私は学生です"
    told = make_utterance(tree, OLD, kind="scenario", scenario="Me.")
    send(client, "verify_correct", told, **parts(told, scenario=text))
    told.refresh_from_db()
    assert told.scenario == text


@pytest.mark.parametrize("reason", ["", "​ "])
def test_dropping_needs_a_reason_in_words(client, expert, tree, reason):
    utterance = make_utterance(tree, OLD)
    assert send(client, "verify_drop", utterance, reason=reason).status_code == 200
    utterance.refresh_from_db()
    assert utterance.state == "to verify"


def test_what_was_dropped_can_be_put_back(client, expert, tree):
    utterance = make_utterance(tree, OLD)
    send(client, "verify_drop", utterance, reason="It is odd.")
    utterance.refresh_from_db()
    assert "It was dropped: It is odd." in page(client, "verify", utterance)
    assert send(client, "verify_reopen", utterance).headers["Location"] == go_to(utterance)
    utterance.refresh_from_db()
    assert utterance.state == "to verify"
    response = client.post(address("verify_reopen", utterance), {"seen": "1"}, follow=True)
    assert "since this page was opened" in response.content.decode()


def test_one_whose_tree_has_changed_can_be_kept(client, expert, tree):
    utterance = make_utterance(tree, OLD)
    accept(utterance, seen=1, by=expert, now=NOW)
    Utterance.objects.update(gone_at=NOW)
    utterance.refresh_from_db()
    assert "The tree no longer gives this utterance" in page(client, "verify", utterance)
    assert send(client, "verify_keep", utterance).status_code == 302
    utterance.refresh_from_db()
    assert (utterance.gone_at, utterance.origin) == (None, "hand")


def test_one_that_does_not_follow_asks_why_it_stays(client, expert, tree):
    utterance = make_utterance(tree, "Yes")
    words = words_of_main(send(client, "verify_accept", utterance).content.decode())
    assert "Not accepted: The answer does not follow from the tree." in words
    assert "Why it stays though its answer does not follow" in words
    send(client, "verify_accept", utterance, why="It is special.")
    assert "It is special." in page(client, "verify", utterance)


def test_statements_do_not_grow_with_the_utterances(client, expert, project):
    counted = {}
    for number in (1, 3):
        tree = make_tree(project, SHAPE)
        for count in range(number):
            first = make_utterance(tree, OLD, kind="scenario", scenario=f"I am {count}.")
            if number == 3:
                correct(
                    first, first.parts.__class__(f"I was {count}.", (), (), OLD), seen=1,
                    by=expert, now=NOW,
                )  # fmt: skip
        for name in ("verify", "verification", "verify_next", "consistency", "text_checks"):
            with CaptureQueriesContext(connection) as queries:
                client.get(address(name, first if name == "verify" else None))
            counted[name, number] = len(queries)
    for name in ("verification", "consistency", "text_checks"):
        assert counted[name, 1] == counted[name, 3]
    assert counted["verify", 3] <= counted["verify", 1] <= 22
    assert counted["verify_next", 3] <= counted["verify_next", 1]


# All of a tree -------------------------------------------------------------------------------


def test_a_tree_is_accepted_together_after_a_look(client, expert, project, tree):
    expand_project(project, author=None, progress=lambda *step: None)
    wrong = make_utterance(tree, "Yes")
    there = reverse("scenarios:verify_tree", args=["bikes", tree.tree_id])
    words = words_of_main(client.get(there).content.decode())
    assert "Accept these 5 and next" in words
    assert (
        "their answer does not follow from the tree, the tree has changed, or you have "
        "begun to correct them. Can I? Yes" in words
    )
    response = client.post(there, {"seen": seen_of(open_of_tree(tree, by=expert))})
    assert response.headers["Location"] == go_to(wrong)
    assert Utterance.objects.filter(state="accepted").count() == 5


def test_a_tree_that_has_changed_meanwhile_comes_back(client, expert, tree):
    make_utterance(tree, OLD)
    there = reverse("scenarios:verify_tree", args=["bikes", tree.tree_id])
    words = words_of_main(client.post(there, {"seen": "other"}).content.decode())
    assert "so none was accepted" in words
    assert not Utterance.objects.filter(state="accepted").exists()


# Consistency ---------------------------------------------------------------------------------


def test_the_proof_lists_what_does_not_follow_and_opens_it(client, expert, project, tree):
    wrong = make_utterance(tree, "Yes", **accepted(expert))
    make_utterance(tree, "No")  # unverified, so it is left out, and a release does not wait
    assert "1 tree with utterances was never looked at." in page(client, "consistency")
    client.post(address("prove"))
    words = page(client, "consistency")
    assert "Block a release 1" in words
    assert f"{wrong.utterance_id[:8]} Can I? Yes Decides early." in words
    assert (words.count("blocks Waive"), words.count("left out as it is Waive")) == (1, 1)
    markup = client.get(address("consistency")).content.decode()
    assert f'href="{go_to(wrong)}"' in markup


def test_the_proof_is_filtered(client, expert, project, tree):
    early, unknown = make_utterance(tree, "Yes"), make_utterance(tree, "Are you tall?")
    prove(project)

    def listed(**query: str) -> set[str]:
        response = client.get(address("consistency"), query)
        return {finding.utterance.utterance_id for finding in response.context["page"]}

    assert listed(reason="decides_early") == {early.utterance_id}
    assert listed(state="open") == {early.utterance_id, unknown.utterance_id}
    assert listed(state="waived") == set()
    assert listed(reason="nonsense") == {early.utterance_id, unknown.utterance_id}


def test_all_follows(client, expert, project, tree):
    make_utterance(tree, OLD)
    client.post(address("prove"))
    assert "Every answer follows from its tree." in page(client, "consistency")
    response = client.post(address("prove"), follow=True)
    assert "No tree has changed since the last proof." in response.content.decode()


def test_one_is_waived_and_the_waiver_withdrawn(client, expert, project, tree):
    wrong = make_utterance(tree, "Yes", **accepted(expert))
    make_utterance(tree, "No", **accepted(expert))
    prove(project)
    sent = {"reason": "decides_early", "number": "1", "utterance": wrong.utterance_id}
    words = words_of_main(client.post(address("waive"), sent).content.decode())
    assert "Say why they may stay: a waiver is in writing." in words
    assert client.post(address("waive"), {**sent, "why": "A joke."}).status_code == 302
    assert "Block a release 1" in page(client, "consistency")
    waiver = Waiver.objects.get()
    there = reverse("scenarios:withdraw_waiver", args=["bikes", waiver.pk])
    assert client.post(there).status_code == 302
    assert "Block a release 2" in page(client, "consistency")


def test_all_of_a_reason_are_waived_as_they_were_seen(client, expert, project, tree):
    make_utterance(tree, "Yes")
    prove(project)
    sent = {"reason": "decides_early", "number": "2", "why": "A joke."}
    words = words_of_main(client.post(address("waive"), sent).content.decode())
    assert "There are 1 of them now, and not 2" in words
    client.post(address("waive"), {**sent, "number": "1"})
    assert "A joke." in page(client, "consistency")


# Facts ---------------------------------------------------------------------------------------


def test_faulty_facts_are_listed_with_the_way_to_mend_them(client, expert, project, tree):
    make_scenario(tree, "Both.", Turn(OLD, YES), Turn(OLD, NO))
    make_scenario(tree, "Poor.", Turn(POOR, YES))
    make_scenario(tree, "Well.")
    tree.nodes.filter(place__startswith="y").update(taken_out_at=NOW)
    client.post(address("prove"), {"next_page": "text"})
    words = page(client, "text_checks")
    assert "Says both Yes and No Can I? Both. Are you old? Yes Are you old? No How to mend" in words
    assert "A fact that the tree does not ask Can I? Poor. Are you poor? Yes was taken out" in words
    assert "1 scenario without facts is not listed here" in words
    assert "Well." in page(client, "text_checks", reason="no facts")
    assert "No scenario has this fault." in page(client, "text_checks", reason="not on one path")


def test_every_scenario_with_facts_can_be_expanded(client, expert, project, tree):
    make_scenario(tree, "Old.", Turn(OLD, YES))
    assert "never looked at" in page(client, "text_checks")
    prove(project)
    assert "Every scenario with facts can be expanded." in page(client, "text_checks")


# People --------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [Role.WORKER, None])
def test_a_worker_and_a_stranger_find_nothing(client, project, tree, role):
    utterance = make_utterance(tree, OLD)
    user = make_member(project, role) if role else make_user()
    client.force_login(user)
    for name in ("verification", "verify_next", "consistency", "text_checks"):
        assert client.get(address(name)).status_code == 404
    assert client.get(address("verify", utterance)).status_code == 404
    assert send(client, "verify_accept", utterance).status_code == 404
    utterance.refresh_from_db()
    assert utterance.state == "to verify"


def test_an_admin_expands_from_the_page_and_an_expert_does_not(client, expert, project, tree):
    assert "Expand the trees" not in page(client, "verification")
    assert client.post(address("expand")).status_code == 404
    client.force_login(make_member(project, Role.ADMIN))
    assert "Expand the trees" in page(client, "verification")
    response = client.post(address("expand"))
    assert "/jobs/" in response.headers["Location"]
