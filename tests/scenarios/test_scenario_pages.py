"""The pages of a scenario, of a check of one, and of what experts decide about them."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Guideline, Project, Role
from apps.scenarios.models import Contradiction, Prompt, Scenario, ScenarioCheck
from apps.scenarios.services.scenario_work import prompt_of, say_that_it_fits, submit_scenario
from apps.trees.models import Cut, Node, Tree
from apps.trees.services.cuts import take_out
from apps.workers.models import Assignment, KeptText
from apps.workers.services.leases import release_work
from apps.workers.services.next_work import take_work
from tests.factories import make_member, make_scenario, make_user
from tests.pages import words, words_of_main
from tests.scenarios.writing import OLD, POOR, RICH, make_writing

pytestmark = pytest.mark.django_db

HOME = reverse("desk:project", args=["bikes"])
LIST = reverse("scenarios:scenario_list", args=["bikes"])


@pytest.fixture
def tree(db) -> Tree:
    """One that needs two scenarios, each with one check."""
    _, tree = make_writing(2, slug="bikes", checks_per_scenario=1)
    return tree


@pytest.fixture
def project(tree: Tree) -> Project:
    return tree.project


@pytest.fixture
def worker(client, project) -> User:
    user = make_member(project, Role.WORKER)
    client.force_login(user)
    return user


@pytest.fixture
def work(worker, project) -> Assignment:
    return take(project, worker)


@pytest.fixture
def expert(project) -> User:
    return make_member(project, Role.EXPERT)


def take(project: Project, worker: User | None = None) -> Assignment:
    worker = worker or make_member(project, Role.WORKER)
    lease = take_work(project, worker=worker, now=timezone.now())
    assert lease is not None
    return lease


def write(project: Project, text: str) -> Scenario:
    """By another worker; on both turns of the path to Yes."""
    lease, now = take(project), timezone.now()
    say_that_it_fits(lease, now=now)
    submit_scenario(lease, text=text, pasted=0, key="k", now=now)
    scenario = Scenario.objects.get(text=text)
    scenario.facts.all().delete()
    for position, question in enumerate([OLD, POOR]):
        scenario.facts.create(
            position=position, follow_up_question=question, follow_up_answer="Yes"
        )
    return scenario


def address(work: Assignment, name: str = "scenario") -> str:
    return reverse(f"scenarios:{name}", args=["bikes", work.pk])


def page(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return words_of_main(response.content.decode())


def send(client: Client, work: Assignment, name: str = "scenario", **data: Any) -> Any:
    return client.post(address(work, name), {"key": "k", **data})


def shown(response: Any) -> str:
    assert response.status_code == 200
    return words_of_main(response.content.decode())


def fits(client: Client, work: Assignment) -> None:
    assert send(client, work, "scenario_fits").headers["Location"] == address(work)


def expire(work: Assignment) -> None:
    past = timezone.now() - timedelta(minutes=1)
    Assignment.objects.filter(pk=work.pk).update(
        leased_at=past - timedelta(hours=1), expires_at=past
    )


# Writing ------------------------------------------------------------------------------------------


def test_first_the_cards_and_whether_they_contradict_each_other(client, project, work):
    Guideline.objects.filter(project=project, step="scenarios").update(text="Be brief.")
    text = page(client, address(work))
    for _, turn in prompt_of(work).cards:
        assert f"{turn.follow_up_question} {turn.follow_up_answer}" in text
    assert "Do any two of these contradict each other?" in text
    assert "Tell the person’s situation" not in text
    assert "The person wants to know: Can I?" in text
    assert "Be brief." in text


def test_which_card_belongs_elsewhere_is_nowhere_in_the_page(client, work):
    response = client.get(address(work)).content.decode()
    cards = [line for line in response.splitlines() if 'class="turn-card"' in line]
    assert len(cards) == len(prompt_of(work).cards)
    without_texts = [line for line in cards if RICH not in line]
    assert len(without_texts) == len(cards) - 1
    plain = {line.replace(turn.follow_up_question, "").replace(turn.follow_up_answer, "")
             .replace(turn.follow_up_answer.lower(), "")
             for line in cards for _, turn in prompt_of(work).cards
             if turn.follow_up_question in line}  # fmt: skip
    assert len(plain) == 1


def test_without_another_document_the_page_says_so_and_works(client, tree, worker):
    Scenario.objects.filter(tree__project=tree.project).delete()
    Tree.objects.exclude(pk=tree.pk).delete()
    lease = take(tree.project, worker)
    assert "there is no other document yet" in page(client, address(lease))
    fits(client, lease)
    assert send(client, lease, text="I was born long ago.").status_code == 302
    assert Scenario.objects.get().prompt is not None


def test_then_the_text_and_on_to_the_next_work(client, project, work):
    fits(client, work)
    assert "Tell the person’s situation" in page(client, address(work))
    response = send(client, work, text="I was born long ago.", pasted="12", seconds="30")
    scenario = Scenario.objects.get(assignment=work)
    assert (scenario.text, scenario.pasted, scenario.state) == (
        "I was born long ago.", 12, "waiting",
    )  # fmt: skip
    assert response.headers["Location"] == HOME  # a worker writes one scenario of a tree
    work.refresh_from_db()
    assert work.state == "submitted"


def test_the_next_work_may_be_a_check_of_somebody_elses(client, project, worker):
    scenario = write(project, "I was born in 1930.")
    checker = make_member(project, Role.WORKER)
    lease = take(project, checker)
    release_work(lease, actor=make_user(), now=timezone.now())
    mine = take(project, worker)
    assert (mine.kind, mine.work_id) == ("scenario check", scenario.pk)


def test_a_submit_before_that_is_refused_with_the_text_still_there(client, work):
    text = shown(send(client, work, text="I was born long ago."))
    assert "Do any two of these contradict each other?" in text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (" ", "Write the scenario first: there is no word in it."),
        ("x" * 4001, "A scenario has at most 4000 characters; this one has 4001."),
    ],
)
def test_a_text_that_cannot_stand_is_refused_at_its_field(client, work, text, why):
    fits(client, work)
    assert f"Your text: {why}" in shown(send(client, work, text=text))


def test_going_back_to_the_first_question_keeps_what_was_written(client, work):
    fits(client, work)
    Assignment.objects.filter(pk=work.pk).update(draft={"text": "I was"}, draft_version=1)
    send(client, work, "scenario_look_again")
    response = client.get(address(work)).content.decode()
    assert 'name="text" value="I was" data-draft-keep' in response
    assert "What you wrote so far is kept" in words(response)
    fits(client, work)
    assert "I was" in page(client, address(work))


@pytest.mark.parametrize("step", ["scenario_fits", "scenario_look_again"])
def test_a_step_after_the_end_says_why(client, work, step):
    expire(work)
    response = client.post(address(work, step), follow=True)
    assert "The time for this work ran out before it was submitted." in shown(response)


def test_a_contradiction_ends_the_work(client, work):
    cards = [node for node, _ in prompt_of(work).cards]
    chosen = [next(number for number, node in enumerate(cards) if node), cards.index(None)]
    response = send(client, work, "scenario_contradiction", note="Nobody is both.",
                    **{f"card-{number}": "" for number in chosen})  # fmt: skip
    assert response.headers["Location"] == HOME
    assert Contradiction.objects.get().reason == "Nobody is both."
    assert "somebody else gets these cards" in page_with_messages(client)


def page_with_messages(client: Client) -> str:
    return words(client.get(HOME).content.decode())


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"card-0": "", "note": "So."}, "Choose the two cards that contradict each other."),
        ({"card-0": "", "card-1": ""}, "Say in a few words why nobody can be both."),
        (
            {"card-0": "", "card-1": "", "note": "\u3000\u200b"},
            "Say in a few words why nobody can be both.",
        ),
        ({"note": "So."}, "Choose the two cards that contradict each other."),
    ],
)
def test_which_two_and_why_are_asked_for(client, work, data, why):
    text = shown(send(client, work, "scenario_contradiction", **data))
    assert why in text
    assert not Contradiction.objects.exists()


def test_hints_come_while_typing_with_the_copied_words_marked(client, work):
    card = prompt_of(work).cards[0][1].follow_up_question.strip("?")
    response = send(client, work, "scenario_hints", text=f"They ask: {card}, and I say so.",
                    pasted="99")  # fmt: skip
    text = response.content.decode()
    assert f"<mark>{card}</mark>" in text
    assert "Part of this was pasted." in words(text)


def test_a_dismissed_hint_does_not_come_again(client, work):
    first = send(client, work, "scenario_hints", text="I am.").content.decode()
    keys = [part.partition('"')[0] for part in first.split('data-hint="')[1:]]
    again = send(client, work, "scenario_hints", text="I am.", dismissed=keys).content.decode()
    assert keys
    assert "data-hint" not in again


@pytest.mark.parametrize("pasted", ["", "many", "-3", "9" * 9, "٣x"])
def test_what_is_no_number_of_pasted_characters_counts_as_none(client, work, pasted):
    fits(client, work)
    send(client, work, text="I was born long ago.", pasted=pasted)
    assert Scenario.objects.get(assignment=work).pasted == 0


def test_a_submit_that_came_too_late_goes_on_with_the_same_cards(client, work):
    fits(client, work)
    expire(work)
    response = client.post(address(work), {"key": "k", "text": "I was born."}, follow=True)
    text = shown(response)
    again = Assignment.objects.leased().get()
    assert "I was born." in text
    assert prompt_of(again).turns == prompt_of(work).turns


def test_work_that_ran_out_says_so_and_goes_on_if_it_is_free(client, work):
    fits(client, work)
    Assignment.objects.filter(pk=work.pk).update(draft={"text": "I was"}, draft_version=1)
    expire(work)
    text = page(client, address(work))
    assert "The time for this work ran out before it was submitted." in text
    assert "I was" in text
    assert "Go on with it, if it is free" in text
    response = send(client, work, "scenario_again")
    again = Assignment.objects.leased().get()
    assert response.headers["Location"] == address(again)
    assert "I was" in page(client, address(again))
    assert send(client, work, "scenario_again").headers["Location"] == address(again)


def test_it_does_not_go_on_when_somebody_else_has_it(client, project, work):
    other = take(project)
    expire(work)
    release_work(other, actor=make_user(), now=timezone.now())
    take(project)
    taken = take(project)
    assert taken.part in {"0", "1"}
    response = client.post(address(work, "scenario_again"), follow=True)
    assert "Somebody else writes this one now." in words(response.content.decode())


def test_turns_that_were_taken_out_end_the_work_and_keep_the_text(client, tree, work):
    fits(client, work)
    root = tree.nodes.live().get(parent=None)
    take_out(root, kind=Cut.Kind.PRUNED, actor=None, reason="", now=timezone.now())
    text = shown(send(client, work, text="I was born long ago."))
    assert "so this scenario is no longer wanted." in text
    assert "I was born long ago." in text
    assert KeptText.objects.get().content == {"text": "I was born long ago."}


def test_given_back_with_what_stood_in_the_field(client, work):
    fits(client, work)
    response = client.post(
        address(work, "scenario_return"), {"reason": "No time.", "text": "I was"}, follow=True
    )
    work.refresh_from_db()
    assert (work.state, work.return_reason, work.draft) == (
        "returned",
        "No time.",
        {"text": "I was"},
    )
    assert "I was" in shown(response)
    client.post(address(work, "scenario_return"), {"reason": "Again."})
    work.refresh_from_db()
    assert work.return_reason == "No time."


def test_a_reason_that_is_too_long_gives_nothing_back(client, work):
    response = client.post(address(work, "scenario_return"), {"reason": "x" * 501})
    assert response.headers["Location"] == address(work)
    work.refresh_from_db()
    assert work.state == "leased"


def test_the_next_writer_reads_why_the_last_one_was_sent_back(client, project, expert, worker):
    scenario = write(project, "I was born in 1930.")
    client.force_login(expert)
    client.post(
        reverse("scenarios:scenario_send_back", args=["bikes", scenario.pk]),
        {"seen": "0", "note": "It is copied."},
    )
    client.force_login(worker)
    lease = take(project, worker)
    assert lease.round == 1
    assert "sent back. It is copied." in page(client, address(lease))


@pytest.mark.parametrize("who", ["stranger", "other"])
def test_nobody_else_reads_or_submits_it(client, project, work, who):
    other = make_user() if who == "stranger" else make_member(project, Role.ADMIN)
    client.force_login(other)
    assert client.get(address(work)).status_code == 404
    assert send(client, work, text="I was born long ago.").status_code == 404


# Checks -------------------------------------------------------------------------------------------


def check_answers(**instead: str) -> dict[str, str]:
    """As the sheet and the prompt have it."""
    said = Scenario.objects.select_related("prompt").get(text="I was born in 1930.")
    unrelated = said.prompt.unrelated_answer if said.prompt else ""
    return {
        "says-0": "Yes", "says-1": "Yes", "own_words": "yes", "verdict": "approves",
        "unrelated": unrelated, "contradicts": "no", **instead,
    }  # fmt: skip


@pytest.fixture
def check(project, worker) -> Assignment:
    write(project, "I was born in 1930.")
    lease = take(project, worker)
    assert lease.kind == "scenario check"
    return lease


def test_a_checker_is_not_told_what_the_facts_are(client, check):
    response = client.get(address(check, "scenario_check")).content.decode()
    text = words_of_main(response)
    assert "I was born in 1930." in text
    assert f"{OLD} Yes No Not said, or unclear" in text
    assert "checked" not in response.partition("<main")[2]


def test_a_check_is_submitted_and_the_next_work_comes(client, check):
    response = send(client, check, "scenario_check", **check_answers(seconds="9"))
    said = ScenarioCheck.objects.get()
    assert said.says == {OLD: "Yes", POOR: "Yes"}
    assert (said.verdict, said.own_words) == ("approves", True)
    assert response.headers["Location"] != HOME
    assert Scenario.objects.get(text="I was born in 1930.").state == "stands"


def test_a_scenario_is_sent_back_with_a_reason(client, check):
    answers = check_answers(verdict="sends back", own_words="no")
    text = shown(send(client, check, "scenario_check", **answers))
    assert "Say in words why it is sent back." in text
    send(client, check, "scenario_check", **answers, note="It is copied.")
    said = ScenarioCheck.objects.get()
    assert (said.verdict, said.own_words, said.reason) == ("sends back", False, "It is copied.")


def test_what_the_text_says_to_other_questions_is_asked_too(client, project, check):
    Scenario.objects.get(pk=check.work_id).facts.filter(position=1).delete()
    assert f"{POOR} Yes No Not said, or unclear" in page(client, address(check, "scenario_check"))
    answers = check_answers()
    del answers["says-1"]
    send(client, check, "scenario_check", **answers)
    assert ScenarioCheck.objects.get().says == {OLD: "Yes", POOR: "not stated"}


def test_the_fact_from_another_document_is_looked_for_and_shown_to_the_expert(
    client, check, expert
):
    assert f"{RICH} Yes No Not said, or unclear" in page(client, address(check, "scenario_check"))
    answers = check_answers(unrelated="not stated", contradicts="yes")
    send(client, check, "scenario_check", **answers)
    said = ScenarioCheck.objects.get()
    assert (said.unrelated_says, said.unrelated_contradicts) == ("not stated", True)
    client.force_login(expert)
    sheet = page(client, reverse("scenarios:scenario_sheet", args=["bikes", check.work_id]))
    assert "Waits for an expert" in sheet
    assert "To the fact from another document it says: not stated, which contradicts" in sheet


def test_where_no_other_document_was_shown_nothing_is_asked_about_one(client, check):
    Prompt.objects.update(unrelated_question="", unrelated_answer="")
    assert "contradict" not in page(client, address(check, "scenario_check"))
    send(client, check, "scenario_check", **check_answers())
    said = ScenarioCheck.objects.get()
    assert (said.unrelated_says, said.unrelated_contradicts) == ("", None)


@pytest.mark.parametrize(
    "left", ["says-0", "says-1", "own_words", "verdict", "unrelated", "contradicts"]
)
def test_what_is_not_answered_is_asked_for_and_no_no(client, check, left):
    answers = check_answers()
    del answers[left]
    text = shown(send(client, check, "scenario_check", **answers))
    assert "Something is still to be answered" in text
    assert not ScenarioCheck.objects.exists()


def test_a_check_of_what_was_settled_says_why_it_is_over(client, check):
    Scenario.objects.filter(pk=check.work_id).update(state="stands")
    text = shown(send(client, check, "scenario_check", **check_answers()))
    assert "This scenario has been settled meanwhile" in text


# The expert ---------------------------------------------------------------------------------------


@pytest.fixture
def disputed(client, project, check, expert) -> Scenario:
    """One in which a checker read that the person is not poor."""
    send(client, check, "scenario_check", **check_answers(**{"says-1": "No"}))
    client.force_login(expert)
    return Scenario.objects.get(pk=check.work_id)


def sheet(scenario: Scenario, name: str = "scenario_sheet") -> str:
    return reverse(f"scenarios:{name}", args=["bikes", scenario.pk])


def test_the_list_shows_what_waits_and_all_scenarios(client, disputed):
    text = page(client, LIST)
    assert "1 scenario in which checkers read other facts" in text
    assert "I was born in 1930." in text
    assert "I am number 0." in text
    found = page(client, f"{LIST}?state=disputed")
    assert "I am number 0." not in found
    assert "I was born in 1930." in page(client, f"{LIST}?q=1930")
    assert "No scenario fits" in page(client, f"{LIST}?q=zzz")


def test_the_list_is_a_part_for_htmx(client, disputed):
    response = client.get(LIST, headers={"HX-Request": "true", "HX-Target": "results"})
    assert response.content.decode().startswith('<section id="results"')


def test_the_sheet_shows_prompt_votes_and_facts(client, disputed):
    text = page(client, sheet(disputed))
    assert "What the writer was shown" in text
    assert f"{RICH} " in text
    assert "from another document" in text
    assert "Checkers: 1 × No. On the sheet now: Yes." in text
    assert "Waits for an expert · 2 facts" in text


def test_an_expert_decides_and_goes_on(client, disputed):
    response = client.post(
        sheet(disputed), {"seen": "0", "says-0": "Yes", "says-1": "No"}, follow=True
    )
    disputed.refresh_from_db()
    assert disputed.state == "stands"
    assert [str(fact) for fact in disputed.facts.all()] == [f"{OLD} Yes", f"{POOR} No"]
    assert "The facts are changed." in words(response.content.decode())
    assert response.redirect_chain == [(LIST, 302)]


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ({"says-0": "No", "says-1": "Yes"}, "Nobody is asked all of this"),
        ({"says-0": "not stated", "says-1": "not stated"}, "With no fact nothing follows"),
        ({"says-0": "Yes"}, "Say for every question what the text says to it."),
    ],
)
def test_a_sheet_that_cannot_stand_is_refused_with_the_reason(client, disputed, answers, why):
    assert why in shown(client.post(sheet(disputed), {"seen": "0", **answers}))
    disputed.refresh_from_db()
    assert disputed.state == "disputed"


@pytest.mark.parametrize("name", ["scenario_sheet", "scenario_send_back"])
def test_an_expert_who_was_second_is_told(client, disputed, name):
    data = {"says-0": "Yes", "says-1": "Yes", "note": "Copied."}
    client.post(sheet(disputed), {"seen": "0", **data})
    response = client.post(sheet(disputed, name), {"seen": "0", **data}, follow=True)
    assert "Another expert has decided on this scenario" in words(response.content.decode())


def test_an_expert_sends_it_back(client, disputed):
    text = shown(client.post(sheet(disputed, "scenario_send_back"), {"seen": "0", "note": "?"}))
    assert "Say in a few words why." in text
    client.post(sheet(disputed, "scenario_send_back"), {"seen": "0", "note": "Copied."})
    disputed.refresh_from_db()
    assert disputed.state == "sent back"
    assert "It was sent back, so nothing can be changed" in page(client, sheet(disputed))


def test_the_next_that_waits_comes_after_a_decision(client, disputed, project):
    other = Scenario.objects.exclude(pk=disputed.pk).order_by("pk")[0]
    Scenario.objects.filter(pk=other.pk).update(state="disputed")
    response = client.post(sheet(disputed), {"seen": "0", "says-0": "Yes", "says-1": "Yes"})
    assert response.headers["Location"] == sheet(other)


def test_a_fact_that_the_tree_does_not_ask_any_more_is_pointed_out(client, disputed):
    Node.objects.filter(text=POOR).update(text="Are you very poor?")
    text = page(client, sheet(disputed))
    assert f"The tree does not ask this any more, so it goes when you save: “{POOR}” Yes" in text


def test_an_imported_scenario_has_its_sheet(client, expert, tree):
    client.force_login(expert)
    scenario = make_scenario(tree, "I am 90.")
    text = page(client, sheet(scenario))
    assert "The writer was not shown it. On the sheet now: not stated." in text


def test_contradictions_wait_on_the_list_and_are_settled_there(client, expert, project, tree):
    node_of = dict(tree.nodes.exclude(text="").values_list("text", "pk"))
    prompt = prompt_of(take(project))
    report = Contradiction.objects.create(
        prompt=prompt, first_id=node_of[OLD], second_id=node_of[POOR], reason="Nobody is both.",
        by=make_user(), at=timezone.now(),
    )  # fmt: skip
    client.force_login(expert)
    text = page(client, LIST)
    assert f"{OLD} ↔ {POOR}" in text
    assert "Nobody is both." in text
    settle = reverse("scenarios:contradiction_settle", args=["bikes", report.pk])
    assert "Say in a few words why" in words(
        client.post(settle, {"note": "?"}, follow=True).content.decode()
    )
    response = client.post(settle, {"note": "They can."}, follow=True)
    assert "Scenarios of this tree are open work again." in words(response.content.decode())
    assert not Contradiction.objects.open().exists()
    response = client.post(settle, {"note": "They can."}, follow=True)
    assert "Another expert was faster." in words(response.content.decode())


def test_experts_of_another_project_see_none_of_it(client, disputed):
    client.force_login(make_user())
    for url in (LIST, sheet(disputed)):
        assert client.get(url).status_code == 404


def queries_of(client: Client, url: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(url).status_code == 200
    return len(queries)


def test_the_number_of_queries_does_not_grow_with_the_rows(client, expert, tree):
    client.force_login(expert)
    make_scenario(tree)
    queries_of(client, LIST)
    once = queries_of(client, LIST)
    for _ in range(2):
        make_scenario(tree)
    assert queries_of(client, LIST) == once
