"""Scenarios that trees still need: who gets which, on what they are written, and their end."""

from itertools import islice

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.projects.models import AuditEvent, StateChange
from apps.scenarios.domain.prompts import prompts
from apps.scenarios.models import Contradiction, Fact, Prompt, Scenario
from apps.scenarios.scenario_errors import (
    ChooseTwoError,
    EmptyScenarioError,
    FitsFirstError,
    PromptGoneError,
    SameScenarioError,
    SettledAlreadyError,
)
from apps.scenarios.services.scenario_openings import ScenarioOpenings, scenario_openings
from apps.scenarios.services.scenario_work import (
    look_again,
    prompt_of,
    say_that_it_fits,
    scenarios,
    settle_contradiction,
    submit_scenario,
)
from apps.trees.domain.tree import OpenBranch, Question
from apps.trees.models import Cut, Node, Tree
from apps.trees.services.cuts import take_out
from apps.workers.errors import LeaseEndedError
from apps.workers.models import Assignment, KeptText
from apps.workers.services.leases import (
    expire_leases,
    lease_first,
    release_work,
    return_work,
)
from apps.workers.services.next_work import take_another
from apps.workers.services.submits import NotTaken, Submitted
from tests.factories import (
    make_document,
    make_project,
    make_question,
    make_scenario,
    make_snippet,
    make_tree,
    make_user,
)
from tests.scenarios.writing import (
    LATE,
    NO,
    NOW,
    OLD,
    POOR,
    RICH,
    SHAPE,
    SOON,
    YES,
    cards_of,
    contradict,
    facts,
    make_other_tree,
    make_writing,
    nothing_for,
    take,
    take_scenario,
    worker_of,
    write,
    written,
)

pytestmark = pytest.mark.django_db


def what(lease: Assignment) -> tuple[str, int, str, int]:
    return lease.kind, lease.work_id, lease.part, lease.round


def node(tree: Tree, text: str) -> Node:
    return tree.nodes.live().get(text=text)


# Who gets which


def test_each_tree_needs_so_many_scenarios_each_by_another_worker():
    project, tree = make_writing(3)
    found = [what(take(project)) for _ in range(3)]
    assert found == [("scenario", tree.pk, str(number), 0) for number in range(3)]
    assert nothing_for(project, worker_of(project))


def test_the_oldest_trees_come_first_and_more_than_one_page_of_them():
    project = make_project(scenarios_per_finished_tree=1)
    trees = [make_tree(project, Question(f"Are you {n}?", YES, NO)) for n in range(60)]
    works = scenarios(project, worker=worker_of(project))
    assert [work.work_id for work in works] == [tree.pk for tree in trees]


def test_no_scenarios_are_wanted():
    project, _ = make_writing(0)
    assert nothing_for(project, worker_of(project))


def test_what_was_imported_counts():
    project, tree = make_writing(3)
    make_scenario(tree)
    make_scenario(tree)
    assert what(take(project)) == ("scenario", tree.pk, "0", 0)
    assert nothing_for(project, worker_of(project))


def test_scenarios_come_before_new_trees_and_after_checks():
    project, tree = make_writing(2, checks_per_scenario=1)
    make_question(make_snippet(make_document(project)))
    scenario = written(project)
    found = [what(take(project))[:2] for _ in range(3)]
    assert found[:2] == [("scenario check", scenario.pk), ("scenario", tree.pk)]
    assert found[2][0] == "path"


@pytest.mark.parametrize("shape", [YES, Question(OLD, YES, OpenBranch())])
def test_a_tree_that_asks_nothing_or_grows_needs_none(shape):
    project = make_project(scenarios_per_finished_tree=1)
    make_tree(project, shape)
    assert list(scenarios(project, worker=worker_of(project))) == []


@pytest.mark.parametrize("change", ["grows", "asks nothing", "is disputed", "has enough"])
def test_work_that_has_vanished_meanwhile_is_not_leased(change):
    project, tree = make_writing()
    worker = worker_of(project)
    works = list(scenarios(project, worker=worker))
    if change == "grows":
        Tree.objects.filter(pk=tree.pk).update(state=Tree.State.GROWING)
    if change == "asks nothing":
        tree.nodes.update(taken_out_at=NOW)
    if change == "is disputed":
        contradict(take(project))
        Contradiction.objects.update(first=node(tree, OLD), second=node(tree, POOR))
    if change == "has enough":
        make_scenario(tree)
    assert lease_first(works, project=project, worker=worker, now=NOW) is None


def test_nobody_gets_a_tree_that_they_wrote_a_node_of_even_one_that_is_out():
    project, tree = make_writing()
    author, other = worker_of(project), worker_of(project)
    Node.objects.filter(tree=tree, text=POOR).update(created_by=author)
    Node.objects.create(
        tree=tree, parent=node(tree, OLD), branch="yes", kind="question", text="Out?", place="y",
        taken_out_at=NOW, created_by=other,
    )  # fmt: skip
    assert nothing_for(project, author)
    assert nothing_for(project, other)


def test_nor_one_whose_first_question_they_wrote():
    project, tree = make_writing()
    author = worker_of(project)
    tree.question.created_by = author
    tree.question.save()
    assert nothing_for(project, author)


def test_nobody_gets_a_second_scenario_of_a_tree():
    project, _ = make_writing(3)
    holder, writer, giver = (worker_of(project) for _ in range(3))
    take(project, holder)
    assert take_another(project, worker=holder, now=NOW) is None
    write(take(project, writer))
    assert nothing_for(project, writer)
    return_work(take(project, giver), reason="", now=NOW)
    assert nothing_for(project, giver)


def test_a_lease_that_ran_out_or_was_released_is_free_again_for_anybody():
    project, tree = make_writing()
    slow, other = worker_of(project), worker_of(project)
    take(project, slow)
    assert nothing_for(project, other)
    lease = take(project, slow, LATE)
    release_work(lease, actor=make_user(), now=LATE)
    assert what(take(project, slow, LATE)) == ("scenario", tree.pk, "0", 0)


def test_the_number_of_queries_is_the_same_for_one_tree_and_for_three():
    counted = []
    for number in (1, 3):
        project = make_project(scenarios_per_finished_tree=2)
        for _ in range(number):
            make_tree(project, SHAPE)
        with CaptureQueriesContext(connection) as queries:
            list(scenarios(project, worker=worker_of(project)))
        counted.append(len(queries))
    assert counted[0] == counted[1]


# How much is open


def test_how_much_is_open_for_a_worker():
    project, _ = make_writing(2, checks_per_scenario=2)
    make_tree(project, Question("Are you tall?", YES, NO))
    scenario, worker = written(project), worker_of(project)
    assert scenario_openings(project, worker=worker) == ScenarioOpenings(trees=2, checks=1)
    assert scenario.created_by is not None
    author = scenario.created_by
    assert scenario_openings(project, worker=author) == ScenarioOpenings(trees=1, checks=0)
    take(project, worker)
    take(project)
    assert scenario_openings(project, worker=author) == ScenarioOpenings(trees=1, checks=0)
    assert scenario_openings(project, worker=worker_of(project)).checks == 0
    assert not scenario_openings(make_project(), worker=worker)


def test_counting_ends_somewhere():
    project = make_project(scenarios_per_finished_tree=2)
    for number in range(60):
        make_tree(project, Question(f"Are you {number}?", YES, NO))
    assert scenario_openings(project, worker=worker_of(project)).trees == 51


# What it is written on


def test_the_seed_of_the_tree_and_the_number_decide_what_is_shown():
    project, tree = make_writing(4)
    drawn = [prompt_of(take(project)) for _ in range(4)]
    expected = islice(prompts(tree.to_domain(), tree.seed), 4)
    assert [prompt.path for prompt in drawn] == [
        tuple(asked.turn for asked in run) for run in expected
    ]
    assert all(prompt.tree == tree for prompt in drawn)


def test_one_card_belongs_to_a_tree_of_another_document():
    project, tree = make_writing(4)
    leases = [take(project) for _ in range(4)]
    for lease in leases:
        prompt = prompt_of(lease)
        assert prompt.unrelated is not None
        assert prompt.unrelated.follow_up_question == RICH
        assert prompt.cards[prompt.unrelated_place] == (None, prompt.unrelated)
        assert prompt.unrelated_node is not None
        assert prompt.unrelated_node.tree != tree
        assert len(cards_of(lease)) == len(prompt.turns) + 1


@pytest.mark.parametrize("same", ["document", "question", "unfinished", "project"])
def test_without_another_document_that_asks_something_else_there_is_none(same):
    project = make_project(scenarios_per_finished_tree=1)
    tree = make_tree(project, SHAPE)
    document = make_document(project)
    url, shape, other = document.source_url, Question(RICH, YES, NO), project
    if same == "document":
        url = tree.question.snippet.document.source_url
        document = tree.question.snippet.document
    if same == "question":
        shape = Question("are you OLD", YES, NO)
    if same == "unfinished":
        shape = Question(RICH, YES, OpenBranch())
    if same == "project":
        other = make_project()
        document = make_document(other)
    question = make_question(make_snippet(document), text=f"Can I at {url}?")
    make_tree(other, shape, question=question)
    lease = take_scenario(project)
    assert lease.work_id == tree.pk
    assert prompt_of(lease).unrelated is None
    assert len(cards_of(lease)) == len(prompt_of(lease).turns)
    assert isinstance(write(lease), Submitted)


def test_what_is_shown_stays_when_the_tree_changes_its_words():
    project, tree = make_writing()
    lease = take(project)
    before = cards_of(lease)
    Node.objects.filter(tree=tree).exclude(text="").update(text="Something else?")
    assert cards_of(lease) == before


@pytest.mark.parametrize(
    ("of_tree", "of_other", "is_drawn"),
    [("", "en-GB", True), ("EN", "", True), ("ja", "ja", True), ("", "ja", False),
     ("ja", "", False)],
)  # fmt: skip
def test_the_unrelated_turn_is_in_the_language_of_the_tree(of_tree, of_other, is_drawn):
    project, tree = make_writing(language="en")
    for one in project.trees.select_related("question__snippet__document"):
        document = one.question.snippet.document
        document.language = of_tree if one == tree else of_other
        document.save()
    assert (prompt_of(take(project)).unrelated is not None) == is_drawn


def test_the_database_wants_both_or_none_of_the_unrelated_turn():
    project, _ = make_writing()
    prompt = prompt_of(take(project))
    with pytest.raises(IntegrityError, match="prompt_unrelated_is_a_turn"), transaction.atomic():
        Prompt.objects.filter(pk=prompt.pk).update(unrelated_answer="")


# Writing


def test_the_turns_shown_are_the_facts_and_the_unrelated_one_is_kept_beside_them():
    project, tree = make_writing()
    worker = worker_of(project)
    lease = take(project, worker)
    shown = [f"{turn.follow_up_question} {turn.follow_up_answer}"
             for turn in prompt_of(lease).path]  # fmt: skip
    say_that_it_fits(lease, now=NOW)
    submitted = submit_scenario(lease, text=" I was born long ago. ", pasted=7, key="k", now=SOON)
    scenario = Scenario.objects.get(tree=tree)
    assert submitted == Submitted({"scenario": scenario.pk, "state": "stands"})
    assert (scenario.text, scenario.created_by, scenario.assignment, scenario.pasted) == (
        "I was born long ago.", worker, lease, 7,
    )  # fmt: skip
    assert facts(scenario) == shown
    unrelated = prompt_of(lease).unrelated
    assert scenario.prompt == prompt_of(lease)
    assert unrelated is not None
    assert unrelated.follow_up_question == RICH
    change = StateChange.objects.get(object_type="scenario")
    assert (change.object_id, change.to_state, change.actor) == (scenario.pk, "stands", worker)
    assert AuditEvent.objects.get(action="write scenario").actor == worker


def test_facts_are_worded_as_the_tree_words_them_now():
    project, tree = make_writing()
    lease = take(project)
    for row in tree.nodes.exclude(text=""):
        Node.objects.filter(pk=row.pk).update(text=f"Say: {row.text}")
    write(lease)
    assert all(fact.startswith("Say: Are you") for fact in facts(Scenario.objects.get(tree=tree)))


def test_a_submit_counts_once_however_often_it_is_sent():
    project, tree = make_writing()
    lease = take(project)
    first, again = write(lease), write_again(lease)
    assert first == again
    assert Scenario.objects.filter(tree=tree).count() == 1


def write_again(lease: Assignment) -> Submitted | NotTaken:
    return submit_scenario(lease, text="Other.", pasted=0, key=f"key {lease.pk}", now=SOON)


def test_first_it_is_said_that_nothing_contradicts_and_that_can_be_taken_back():
    project, _ = make_writing()
    lease = take(project)
    with pytest.raises(FitsFirstError):
        submit_scenario(lease, text="I am.", pasted=0, key="k", now=NOW)
    say_that_it_fits(lease, now=SOON)
    assert prompt_of(lease).fits_at == SOON
    look_again(lease, now=SOON)
    with pytest.raises(FitsFirstError):
        submit_scenario(lease, text="I am.", pasted=0, key="k", now=NOW)
    assert not Scenario.objects.filter(assignment=lease).exists()


def test_that_is_not_said_about_work_that_is_over():
    project, _ = make_writing()
    lease = take(project)
    with pytest.raises(LeaseEndedError):
        say_that_it_fits(lease, now=LATE)


@pytest.mark.parametrize("text", ["", " ", "?!"])
def test_a_text_without_a_word_is_refused(text):
    project, _ = make_writing()
    lease = take(project)
    with pytest.raises(EmptyScenarioError):
        write(lease, text)
    lease.refresh_from_db()
    assert lease.state == "leased"


def test_the_very_same_text_is_refused_for_one_tree():
    project, _ = make_writing(2)
    written(project, "I was born long ago.")
    lease = take(project)
    with pytest.raises(SameScenarioError):
        write(lease, "I was born long ago. ")
    assert isinstance(write(lease, "I was born in 1930."), Submitted)


def test_a_submit_after_the_end_takes_the_work_again_with_what_was_shown():
    project, _ = make_writing()
    worker = worker_of(project)
    lease = take(project, worker)
    say_that_it_fits(lease, now=NOW)
    answer = submit_scenario(lease, text="I was born long ago.", pasted=0, key="k", now=LATE)
    assert isinstance(answer, NotTaken)
    assert answer.again is not None
    assert answer.again.draft == {"text": "I was born long ago."}
    assert cards_of(answer.again) == cards_of(lease)
    again = submit_scenario(answer.again, text="I was born long ago.", pasted=0, key="l", now=LATE)
    assert isinstance(again, Submitted)


def test_a_submit_after_somebody_else_has_it_is_kept():
    project, _ = make_writing()
    lease = take(project)
    say_that_it_fits(lease, now=NOW)
    expire_leases(LATE)
    take(project, now=LATE)
    answer = submit_scenario(lease, text="I was born long ago.", pasted=0, key="k", now=LATE)
    assert isinstance(answer, NotTaken)
    assert answer.again is None
    assert answer.kept.content == {"text": "I was born long ago."}


@pytest.mark.parametrize("text", [OLD, POOR])
def test_a_scenario_of_turns_that_were_taken_out_is_no_longer_wanted_and_its_text_is_kept(text):
    project, tree = make_writing(7)
    leases = [take(project) for _ in range(7)]
    lease = next(one for one in leases if any(text in card for card in cards_of(one)))
    take_out(node(tree, text), kind=Cut.Kind.PRUNED, actor=None, reason="", now=NOW)
    with pytest.raises(PromptGoneError):
        write(lease)
    lease.refresh_from_db()
    assert lease.state == "released"
    assert KeptText.objects.get().content == {"text": "I was born long ago."}


def test_turns_that_a_change_has_brought_into_contradiction_are_no_longer_wanted():
    project, tree = make_writing(7)
    lease = next(one for one in (take(project) for _ in range(7))
                 if f"{OLD} Yes" in cards_of(one) and f"{POOR} No" in cards_of(one))  # fmt: skip
    Node.objects.filter(tree=tree, text=POOR).update(text="are you OLD")
    with pytest.raises(PromptGoneError):
        write(lease)


def test_a_change_elsewhere_in_the_tree_does_not_matter():
    project, tree = make_writing(7)
    leases = [take(project) for _ in range(7)]
    lease = next(one for one in leases if not any(POOR in card for card in cards_of(one)))
    take_out(node(tree, POOR), kind=Cut.Kind.PRUNED, actor=None, reason="", now=NOW)
    assert isinstance(write(lease), Submitted)


# Contradictions


def cards_on(lease: Assignment, *texts: str) -> list[int]:
    return [number for number, card in enumerate(cards_of(lease)) if card.startswith(texts)]


def on_two_turns(project) -> Assignment:
    return next(one for one in (take(project) for _ in range(7))
                if len(prompt_of(one).turns) == 2)  # fmt: skip


def test_a_contradiction_brings_the_tree_to_an_expert_and_nobody_writes_on_it_meanwhile():
    project, tree = make_writing(7)
    lease = on_two_turns(project)
    lower, upper = cards_on(lease, POOR)[0], cards_on(lease, OLD)[0]
    submitted = contradict(lease, lower, upper)
    report = Contradiction.objects.open().get()
    assert submitted == Submitted({"contradiction": report.pk, "of_the_tree": True})
    assert (report.first, report.second) == (node(tree, OLD), node(tree, POOR))
    assert (report.reason, report.by) == ("Nobody is both.", lease.worker)
    other = next(one for one in Assignment.objects.leased())
    release_work(other, actor=make_user(), now=NOW)
    assert nothing_for(project, worker_of(project))

    settle_contradiction(report, note="They can.", expert=make_user(), now=NOW)
    found = sorted(what(take(project))[2:] for _ in range(2))
    assert found == sorted([(other.part, 0), (lease.part, 1)])


def test_two_experts_settle_it_once():
    project, _ = make_writing(7)
    contradict(on_two_turns(project))
    report = Contradiction.objects.get()
    settle_contradiction(report, note="They can.", expert=make_user(), now=NOW)
    with pytest.raises(SettledAlreadyError):
        settle_contradiction(report, note="They cannot.", expert=make_user(), now=NOW)


def test_a_contradiction_is_settled_when_one_of_the_turns_is_taken_out():
    project, tree = make_writing(7)
    lease = on_two_turns(project)
    upper, lower = cards_on(lease, OLD, POOR)
    contradict(lease, upper, lower)
    take_out(node(tree, POOR), kind=Cut.Kind.PRUNED, actor=None, reason="", now=NOW)
    assert not Contradiction.objects.open().exists()


def test_what_contradicts_the_card_from_elsewhere_says_nothing_about_the_tree():
    project, tree = make_writing()
    lease = take(project)
    before = prompt_of(lease)
    submitted = contradict(lease, before.unrelated_place, cards_on(lease, OLD, POOR)[0])
    assert submitted.outcome["of_the_tree"] is False
    assert not Contradiction.objects.open().exists()
    again = take(project)
    assert what(again) == ("scenario", tree.pk, "0", 1)
    assert prompt_of(again).turns == before.turns


def test_somebody_else_gets_another_card_from_elsewhere():
    project, _ = make_writing()
    for _ in range(6):
        make_other_tree(project, 1)
    make_tree(project, Question("Are you tall?", YES, NO), created_by=None)
    seen = set()
    for _ in range(6):
        lease = take(project)
        prompt = prompt_of(lease)
        seen.add((prompt.unrelated, prompt.unrelated_node_id))
        contradict(lease, prompt.unrelated_place, cards_on(lease, OLD, POOR)[0])
    assert len(seen) > 1


@pytest.mark.parametrize("cards", [(0, 0), (0, 9), (-1, 0)])
def test_two_cards_are_chosen(cards):
    project, _ = make_writing()
    lease = take(project)
    with pytest.raises(ChooseTwoError):
        contradict(lease, *cards)
    lease.refresh_from_db()
    assert lease.state == "leased"


def test_the_database_wants_to_know_who_settled_and_how():
    project, _ = make_writing()
    contradict(take(project))
    with pytest.raises(IntegrityError, match="contradiction_settled"), transaction.atomic():
        Contradiction.objects.update(settled_at=NOW)
    with pytest.raises(IntegrityError, match="contradiction_says_why"), transaction.atomic():
        Contradiction.objects.update(reason="")


# Sent back


def test_a_scenario_that_was_sent_back_is_open_work_again_on_the_same_turns():
    project, tree = make_writing(2)
    scenario = written(project)
    assert scenario.prompt is not None
    before = scenario.prompt.turns
    Scenario.objects.filter(pk=scenario.pk).update(state=Scenario.State.SENT_BACK)
    lease = take(project)
    assert what(lease) == ("scenario", tree.pk, "0", 1)
    assert prompt_of(lease).turns == before
    assert isinstance(write(lease, "Born before the war, I am."), Submitted)
    assert Scenario.objects.kept().filter(tree=tree).count() == 1
    assert Fact.objects.filter(scenario__tree=tree).count() == 2 * len(before)
