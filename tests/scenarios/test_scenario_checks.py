"""Checks of scenarios by other workers, and what experts decide about their facts."""

import pytest
from django.db import IntegrityError, transaction

from apps.projects.models import AuditEvent, StateChange
from apps.scenarios.domain.fact_sheet import Stated
from apps.scenarios.models import Scenario, ScenarioCheck
from apps.scenarios.scenario_errors import (
    NotOneSituationError,
    ScenarioNotWaitingError,
    SheetChangedError,
)
from apps.scenarios.services.fact_sheets import decide_sheet, send_back
from apps.scenarios.services.scenario_checks import Unrelated, scenario_checks, submit_check
from apps.workers.models import KeptText
from apps.workers.services.leases import lease_first, return_work
from apps.workers.services.submits import NotTaken
from tests.factories import make_scenario, make_user
from tests.scenarios.writing import (
    LATE,
    NOW,
    OLD,
    POOR,
    SOON,
    check,
    facts,
    make_writing,
    nothing_for,
    reading,
    take,
    worker_of,
    written,
)

pytestmark = pytest.mark.django_db

YES, NO, NOT = Stated.YES, Stated.NO, Stated.NOT


def make_waiting(checks: int = 1, wanted: int = 1) -> Scenario:
    """A scenario on both turns of the path to Yes, that waits for so many checks."""
    project, _ = make_writing(wanted, checks_per_scenario=checks)
    scenario = written(project)
    scenario.facts.all().delete()
    for position, text in enumerate([OLD, POOR]):
        scenario.facts.create(position=position, follow_up_question=text, follow_up_answer="Yes")
    return scenario


def states(scenario: Scenario) -> list[tuple[str, str]]:
    changes = StateChange.objects.filter(object_type="scenario", object_id=scenario.pk)
    return [(change.to_state, change.reason) for change in changes]


# Who checks what


def test_each_scenario_waits_for_as_many_checks_as_were_wanted_when_it_was_written():
    scenario = make_waiting(2)
    project = scenario.tree.project
    project.checks_per_scenario = 5
    project.save()
    found = [take(project) for _ in range(2)]
    assert [(lease.work_id, lease.slot) for lease in found] == [
        (scenario.pk, 0), (scenario.pk, 1),
    ]  # fmt: skip
    assert nothing_for(project, worker_of(project))


def test_without_checks_a_scenario_stands_at_once():
    project, _ = make_writing()
    assert written(project).state == "stands"
    assert nothing_for(project, worker_of(project))


def test_nobody_checks_their_own_or_one_that_they_had_or_gave_back():
    scenario = make_waiting(3)
    project = scenario.tree.project
    author = scenario.created_by
    giver, checker = worker_of(project), worker_of(project)
    assert author is not None
    assert nothing_for(project, author)
    return_work(take(project, giver), reason="", now=NOW)
    assert nothing_for(project, giver)
    submit_check(take(project, checker), reading(scenario), key="k", now=NOW)
    assert nothing_for(project, checker)


def test_a_lease_that_ran_out_can_be_had_again():
    scenario = make_waiting()
    worker = worker_of(scenario.tree.project)
    take(scenario.tree.project, worker)
    assert take(scenario.tree.project, worker, LATE).work_id == scenario.pk


@pytest.mark.parametrize("change", ["settled", "gone"])
def test_a_check_that_is_no_longer_wanted_is_not_leased(change):
    scenario = make_waiting()
    project, worker = scenario.tree.project, worker_of(scenario.tree.project)
    works = list(scenario_checks(project, worker=worker))
    if change == "settled":
        Scenario.objects.update(state=Scenario.State.STANDS)
    else:
        scenario.facts.all().delete()
        Scenario.objects.filter(pk=scenario.pk).delete()
    assert lease_first(works, project=project, worker=worker, now=NOW) is None


# What becomes of it


def test_what_a_checker_approves_stands():
    scenario = make_waiting()
    lease, answer = check(scenario)
    assert answer.outcome == {"check of": scenario.pk, "state": "stands"}
    said = ScenarioCheck.objects.get()
    assert (said.checker, said.author, said.assignment) == (
        lease.worker, scenario.created_by, lease,
    )  # fmt: skip
    assert said.says == {OLD: "Yes", POOR: "Yes"}
    assert (said.verdict, said.own_words, said.reason) == ("approves", True, "")
    assert states(scenario) == [("waiting", ""), ("stands", "")]


def test_what_a_checker_sends_back_is_open_work_again():
    scenario = make_waiting()
    check(scenario, "It is copied.")
    assert states(scenario) == [("waiting", ""), ("sent back", "It is copied.")]
    again = take(scenario.tree.project)
    assert (again.kind, again.work_id, again.round) == ("scenario", scenario.tree_id, 1)


@pytest.mark.parametrize(
    ("wanted", "verdicts", "state"),
    [
        (2, "ab", "stands"),
        (2, "bb", "sent back"),
        (3, "ab", "waiting"),
        (3, "bb", "sent back"),
        (3, "aba", "stands"),
        (3, "bab", "sent back"),
    ],
)
def test_more_than_half_of_the_checks_send_it_back(wanted, verdicts, state):
    scenario = make_waiting(wanted)
    for verdict in verdicts:
        check(scenario, "It is copied." if verdict == "b" else "")
    assert scenario.state == state


@pytest.mark.parametrize(
    ("wanted", "said", "state"),
    [
        (1, "s", "stands"), (1, "n", "disputed"), (1, "c", "disputed"), (2, "sn", "disputed"),
        (3, "ssn", "stands"), (3, "sc-", "disputed"), (1, "-", "stands"),
    ],
)  # fmt: skip
def test_half_of_the_checkers_who_miss_the_unrelated_fact_bring_it_before_an_expert(
    wanted, said, state
):
    """s: as shown; n: not stated; c: it contradicts the tree; -: was not asked."""
    scenario = make_waiting(wanted)
    assert scenario.prompt is not None
    shown = Stated(scenario.prompt.unrelated_answer)
    read = {
        "s": Unrelated(shown, contradicts=False), "n": Unrelated(NOT, contradicts=False),
        "c": Unrelated(shown, contradicts=True), "-": None,
    }  # fmt: skip
    for one in said:
        check(scenario, unrelated=read[one])
    assert scenario.state == state


def test_the_database_wants_both_answers_about_the_unrelated_fact_or_none():
    lease, _ = check(make_waiting(2))
    with pytest.raises(IntegrityError), transaction.atomic():
        ScenarioCheck.objects.filter(assignment=lease).update(unrelated_says="Yes")


def test_when_it_is_sent_back_the_other_checks_end_and_keep_what_was_typed():
    scenario = make_waiting(3)
    late = take(scenario.tree.project)
    check(scenario, "It is copied.")
    check(scenario, "It is copied.")
    assert scenario.state == "sent back"
    late.refresh_from_db()
    assert late.state == "released"
    answer = submit_check(late, reading(scenario, "Copied!"), key="k", now=NOW)
    assert isinstance(answer, NotTaken)
    assert KeptText.objects.get().content == {"note": "Copied!"}


def test_a_check_of_what_was_settled_ends_and_keeps_what_was_typed():
    scenario = make_waiting()
    lease = take(scenario.tree.project)
    Scenario.objects.update(state=Scenario.State.STANDS)
    with pytest.raises(ScenarioNotWaitingError):
        submit_check(lease, reading(scenario, "Copied!"), key="k", now=NOW)
    lease.refresh_from_db()
    assert lease.state == "released"
    assert KeptText.objects.get().content == {"note": "Copied!"}


def test_a_check_after_the_end_takes_the_work_again():
    scenario = make_waiting()
    lease = take(scenario.tree.project)
    answer = submit_check(lease, reading(scenario), key="k", now=LATE)
    assert isinstance(answer, NotTaken)
    assert answer.again is not None
    assert answer.again.work_id == scenario.pk


def test_a_check_counts_once_however_often_it_is_sent():
    scenario = make_waiting(2)
    lease, answer = check(scenario)
    assert submit_check(lease, reading(scenario), key=f"key {lease.pk}", now=SOON) == answer
    assert scenario.checks.count() == 1


@pytest.mark.parametrize("says", [{"old": NO}, {"poor": NOT}])
def test_who_reads_other_facts_brings_it_to_an_expert_and_changes_none(says):
    scenario = make_waiting()
    check(scenario, **says)
    assert scenario.state == "disputed"
    assert facts(scenario) == [f"{OLD} Yes", f"{POOR} Yes"]
    assert nothing_for(scenario.tree.project, worker_of(scenario.tree.project))


def test_the_database_wants_to_know_why_and_by_whom():
    scenario = make_waiting()
    check(scenario)
    rows = ScenarioCheck.objects.all()
    with pytest.raises(IntegrityError, match="back_says_why"), transaction.atomic():
        rows.update(verdict="sends back")
    with pytest.raises(IntegrityError, match="by_another"), transaction.atomic():
        rows.update(author=rows.get().checker)
    row = rows.get()
    row.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save(force_insert=True)


# The expert


def decide(scenario: Scenario, seen: int = 0, old: Stated = YES, poor: Stated = YES) -> bool:
    sheet = {"are you old": old, "are you poor": poor}
    return decide_sheet(scenario, sheet, seen=seen, expert=make_user(), now=NOW)


def test_an_expert_decides_what_the_scenario_states():
    scenario = make_waiting()
    check(scenario, poor=NOT)
    assert decide(scenario, poor=NOT) is True
    scenario.refresh_from_db()
    assert (facts(scenario), scenario.state) == ([f"{OLD} Yes"], "stands")
    event = AuditEvent.objects.get(action="decide facts")
    assert [fact["follow_up_question"] for fact in event.details["before"]] == [OLD, POOR]
    assert [fact["follow_up_question"] for fact in event.details["facts"]] == [OLD]


def test_an_expert_finds_the_sheet_right():
    scenario = make_waiting()
    check(scenario, poor=NOT)
    keys = list(scenario.facts.values_list("pk", flat=True))
    assert decide(scenario) is False
    scenario.refresh_from_db()
    assert scenario.state == "stands"
    assert list(scenario.facts.values_list("pk", flat=True)) == keys


def test_a_decision_ends_checks_that_are_in_work():
    scenario = make_waiting()
    lease = take(scenario.tree.project)
    decide(scenario)
    lease.refresh_from_db()
    assert lease.state == "released"


def test_one_decides_again_about_what_stands():
    scenario = make_waiting()
    decide(scenario)
    assert decide(scenario, seen=1, poor=NO) is True
    assert facts(scenario) == [f"{OLD} Yes", f"{POOR} No"]


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (
            {"old": NO},
            f"Not saved. Nobody is asked all of this: “{OLD}” No, “{POOR}” Yes. Once one of them "
            "is answered so, the tree does not ask another one. Change one of them to “not "
            "stated”.",
        ),
        (
            {"old": NOT, "poor": NOT},
            "Not saved. With no fact nothing follows from this scenario. Say what it states, or "
            "send it back.",
        ),
    ],
)
def test_a_sheet_that_nobody_can_be_in_is_refused(says, why):
    scenario = make_waiting()
    check(scenario, old=NO)
    with pytest.raises(NotOneSituationError) as refusal:
        decide(scenario, **says)
    assert str(refusal.value) == why
    scenario.refresh_from_db()
    assert (scenario.state, scenario.sheet_version) == ("disputed", 0)


def test_two_experts_do_not_undo_each_other():
    scenario = make_waiting()
    decide(scenario)
    with pytest.raises(SheetChangedError):
        decide(scenario)
    with pytest.raises(SheetChangedError):
        send_back(scenario, reason="Copied.", seen=0, expert=make_user(), now=NOW)


def test_an_expert_sends_a_scenario_back():
    scenario = make_waiting()
    check(scenario, poor=NOT)
    expert = make_user()
    send_back(scenario, reason="It is copied.", seen=0, expert=expert, now=NOW)
    scenario.refresh_from_db()
    assert scenario.state == "sent back"
    assert AuditEvent.objects.get(action="send scenario back").actor == expert
    assert take(scenario.tree.project).round == 1
    with pytest.raises(SheetChangedError):
        decide(scenario, seen=1)


def test_what_was_imported_can_be_decided_and_sent_back():
    _, tree = make_writing(0)
    scenario = make_scenario(tree, "I am 90.")
    assert decide(scenario) is True
    send_back(scenario, reason="Copied.", seen=1, expert=make_user(), now=NOW)
    scenario.refresh_from_db()
    assert scenario.state == "sent back"
