"""A worker's start page, and the numbers of all workers."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.desk.worker_numbers import Numbers, numbers_of
from apps.projects.models import Project, Role
from apps.scenarios.models import Contradiction, Scenario
from apps.trees.models import Cut, NodeCheck, Tree
from apps.trees.services.checks import Rejection, reject_turn
from apps.trees.services.cuts import restore, take_out
from apps.trees.services.paths import return_path
from apps.trees.services.walks import agree
from apps.workers.models import Assignment
from apps.workers.services.next_work import take_work
from tests.factories import make_member, make_project, make_scenario, make_tree, make_user
from tests.pages import words_of_main
from tests.scenarios.writing import SHAPE, check, make_writing, take_scenario, write, written
from tests.trees.path_work import growing_tree, node, path_address, take, walk

pytestmark = pytest.mark.django_db

HOME = reverse("desk:project", args=["bikes"])
WORKERS = reverse("desk:workers", args=["bikes"])
UNCLEAR = Rejection(NodeCheck.Reason.UNCLEAR, "Of what?")


@pytest.fixture
def project() -> Project:
    return make_project("bikes")


@pytest.fixture
def worker(client, project) -> User:
    user = make_member(project, Role.WORKER)
    client.force_login(user)
    return user


def page(client, address: str = HOME) -> str:
    return words_of_main(client.get(address).content.decode())


def queries(client, address: str) -> int:
    with CaptureQueriesContext(connection) as caught:
        assert client.get(address).status_code == 200
    return len(caught)


# Taking work --------------------------------------------------------------------------------------


def test_one_button_takes_work_and_leads_to_its_page(client, project, worker):
    growing_tree(project)
    assert "Work is open for you 2 branches wait to be continued Take work W" in page(client)
    response = client.post(reverse("workers:next", args=["bikes"]))
    work = Assignment.objects.get()
    assert (work.worker, response.headers["Location"]) == (worker, path_address(work))
    again = client.post(reverse("workers:next", args=["bikes"]))
    assert again.headers["Location"] == path_address(work)


def test_work_in_hand_is_what_the_button_goes_on_with(client, project, worker):
    growing_tree(project)
    work = take(project, worker)
    shown = client.get(HOME).content.decode()
    assert "You have work in hand Path of a tree" in words_of_main(shown)
    assert f'href="{path_address(work)}"' in shown
    assert "Take work" not in shown


def test_where_nothing_is_open_the_page_says_why(client, project, worker):
    assert "Nothing is open for you now No first question is ready yet." in page(client)
    response = client.post(reverse("workers:next", args=["bikes"]))
    assert response.headers["Location"] == HOME


def test_who_wants_more_beside_their_work_is_told_why_there_is_none(client, project, worker):
    growing_tree(project, None)
    take(project, worker)
    shown = client.post(reverse("workers:another", args=["bikes"]), follow=True).content.decode()
    assert "Nothing more is open for you now." in shown
    assert "data-why=" in shown


def test_of_work_in_other_hands_it_says_until_when(client, project, worker):
    growing_tree(project, None)
    held = take(project, make_member(project, Role.WORKER))
    end = f"{held.expires_at:%b %Y, %H:%M} UTC"
    assert f"The first of it is free again on {held.expires_at.day} {end} at the latest." in page(
        client
    )


def test_case_7_who_has_too_much_open_sees_what_with_a_button_to_give_each_back(
    client, project, worker
):
    project.most_leases = 2
    project.save()
    growing_tree(project)
    growing_tree(project)
    first = take(project, worker)
    another = reverse("workers:another", args=["bikes"])
    second = client.post(another).headers["Location"]
    assert second == path_address(Assignment.objects.latest("pk"))
    response = client.post(another, follow=True)
    shown = response.content.decode()
    assert response.redirect_chain == [(reverse("workers:mine", args=["bikes"]), 302)]
    assert "You have 2 pieces of work open" in words_of_main(shown)
    assert f'action="{path_address(first, "return")}"' in shown
    assert shown.count(">Give back</button>") == 2


def test_strangers_take_no_work(client, project):
    client.force_login(make_user())
    for name in ("next", "another"):
        assert client.post(reverse(f"workers:{name}", args=["bikes"])).status_code == 404


# What was done ------------------------------------------------------------------------------------


def test_done_counts_the_last_day_and_the_last_week(client, project, worker):
    growing_tree(project)
    growing_tree(project)
    for days in (0, 2, 8):
        work = take(project, worker)
        agree(work, now=timezone.now())
        walk(work)
        ended = timezone.now() - timedelta(days=days)
        Assignment.objects.filter(pk=work.pk).update(ended_at=ended)
    assert "1 done in the last 24 hours · 2 in seven days" in page(client)


def test_an_author_reads_which_turns_were_rejected_and_why_but_not_by_whom(client, project, worker):
    tree = growing_tree(project, None)
    walk(take(project, worker), "Are you over 18?", "Do you have a helmet?")
    other = make_member(project, Role.WORKER, make_user("rejecter"))
    reject_turn(take(project, other), node(tree, ""), UNCLEAR, key="k", now=timezone.now())
    shown = page(client)
    assert (
        "Your questions that were rejected Are you over 18? It cannot be understood. Of what?"
        in shown
    )
    assert "helmet" not in shown
    assert "rejecter" not in shown
    assert "Rejected by others 1 Rejected by you 0" in shown


def test_where_the_project_does_not_want_it_nobody_is_told(client, project, worker):
    project.tell_rejections = False
    project.save()
    tree = growing_tree(project, None)
    walk(take(project, worker), "Are you over 18?")
    take_out(node(tree, ""), kind=Cut.Kind.REJECTED, actor=None, reason="No.", now=timezone.now())
    shown = page(client)
    assert "Your questions that were rejected" not in shown
    assert "Rejected by others 1" in shown


def test_the_start_page_takes_the_same_queries_at_one_tree_and_at_three(client, project, worker):
    def more() -> None:
        tree = growing_tree(project, None)
        walk(take(project, worker), "Are you over 18?")
        take_out(node(tree, ""), kind=Cut.Kind.REJECTED, actor=None, reason="No.", now=now)

    now = timezone.now()
    more()
    at_one = queries(client, HOME)
    more()
    more()
    assert queries(client, HOME) == at_one


# Numbers ------------------------------------------------------------------------------------------


def test_what_each_did_is_counted_in_this_project_alone(project, worker):
    other = make_member(project, Role.WORKER)
    tree = growing_tree(project, None)
    path = take(project, worker)
    walk(path, "Are you over 18?", "Do you have a helmet?")
    Assignment.objects.filter(pk=path.pk).update(active_seconds=90)
    reject_turn(take(project, other), node(tree, ""), UNCLEAR, key="k", now=timezone.now())
    return_path(take(project, other), reason="", now=timezone.now())
    elsewhere = make_project()
    growing_tree(elsewhere, None)
    make_member(elsewhere, Role.WORKER, worker)
    walk(take(elsewhere, worker), "Are you over 18?")

    assert numbers_of(project, [worker.pk, other.pk]) == {
        worker.pk: Numbers(
            paths=1, questions=2, answers=1, rejected=1, measured=1, time=timedelta(seconds=90)
        ),
        other.pk: Numbers(rejections=1, returns=1),
    }  # fmt: skip


def test_paths_that_nobody_measured_are_not_in_the_time_of_a_path(project, worker):
    for seconds in (0, 40):
        growing_tree(project, None)
        path = take(project, worker)
        walk(path, "Are you over 18?")
        Assignment.objects.filter(pk=path.pk).update(active_seconds=seconds)
    numbers = numbers_of(project, [worker.pk])[worker.pk]
    assert (numbers.paths, numbers.time_per_path) == (2, timedelta(seconds=40))


def test_a_turn_that_was_restored_was_not_rejected(project, worker):
    tree = growing_tree(project, None)
    walk(take(project, worker), "Are you over 18?")
    now = timezone.now()
    cut = take_out(node(tree, ""), kind=Cut.Kind.REJECTED, actor=None, reason="No.", now=now)
    restore(cut, actor=worker, now=now)
    assert numbers_of(project, [worker.pk])[worker.pk].rejected == 0


@pytest.mark.parametrize("kind", [Cut.Kind.PRUNED, Cut.Kind.SETTLED])
def test_a_turn_that_an_expert_pruned_was_not_rejected(project, worker, kind):
    tree = growing_tree(project, None)
    walk(take(project, worker), "Are you over 18?")
    take_out(node(tree, ""), kind=kind, actor=None, reason="", now=timezone.now())
    assert numbers_of(project, [worker.pk])[worker.pk].rejected == 0


def test_an_admin_sees_all_workers_in_numbers(client, project, worker):
    growing_tree(project, None)
    path = take(project, worker)
    walk(path, "Are you over 18?")
    Assignment.objects.filter(pk=path.pk).update(active_seconds=185)
    client.force_login(make_member(project, Role.ADMIN))
    shown = page(client, WORKERS)
    assert f"{worker} Worker 1 1 1 0 0 % 0 0 3:05 min" in shown
    assert "Admin 0 0 0 0 0 0 no path yet" in shown
    assert (
        f'href="{WORKERS}"'
        in client.get(reverse("projects:people", args=["bikes"])).content.decode()
    )


def test_nobody_but_admins_sees_the_numbers(client, project, worker):
    assert client.get(WORKERS).status_code == 404
    client.force_login(make_member(project, Role.EXPERT))
    assert client.get(WORKERS).status_code == 404


def test_the_numbers_take_the_same_queries_at_one_worker_and_at_three(client, project, worker):
    client.force_login(make_member(project, Role.ADMIN))
    at_one = queries(client, WORKERS)
    make_member(project, Role.WORKER)
    make_member(project, Role.WORKER)
    assert queries(client, WORKERS) == at_one


# Scenarios ----------------------------------------------------------------------------------------


@pytest.fixture
def writing() -> Project:
    """One scenario is wanted, of one tree."""
    return make_writing(1, slug="bikes", checks_per_scenario=1)[0]


def why(client, person: User) -> list[str]:
    client.force_login(person)
    return [one.code for one in client.get(HOME).context["nothing"]]


def test_authors_read_why_a_scenario_was_sent_back_if_the_project_wants_that(client, writing):
    scenario = written(writing, "I am old.")
    check(scenario, reason="It is copied.")
    client.force_login(scenario.created_by)
    for address in (HOME, reverse("workers:mine", args=["bikes"])):
        assert "Your scenarios that were sent back I am old. It is copied." in page(client, address)
    client.force_login(make_member(writing, Role.WORKER))
    assert "sent back" not in page(client)
    writing.tell_rejections = False
    writing.save()
    client.force_login(scenario.created_by)
    assert "sent back" not in page(client)


def test_who_gets_no_scenario_is_told_why(client, writing):
    ada, ben = make_member(writing, Role.WORKER), make_member(writing, Role.WORKER)
    lease = take_work(writing, worker=ada, now=timezone.now())
    assert lease is not None
    assert why(client, ben) == ["scenarios in other hands"]
    assert f'datetime="{lease.expires_at:%Y-%m-%dT%H:%M}' in client.get(HOME).content.decode()
    write(lease, now=timezone.now())
    assert why(client, ada) == ["scenarios not for you"]
    scenario = Scenario.objects.get(created_by=ada)
    client.force_login(ben)
    assert "1 scenario waits for a check" in page(client)
    Scenario.objects.filter(pk=scenario.pk).update(state="disputed")
    assert why(client, ben) == ["scenarios with an expert"]
    Scenario.objects.filter(pk=scenario.pk).update(state="stands")
    assert why(client, ben) == ["all scenarios written"]
    writing.scenarios_per_finished_tree = 0
    writing.save()
    assert why(client, ben) == ["all finished"]


def test_a_contradiction_in_all_rules_is_a_reason_of_its_own(client, writing):
    lease = take_scenario(writing)
    tree = Tree.objects.get(pk=lease.work_id)
    first, second = tree.nodes.live().questions()
    Contradiction.objects.create(
        prompt=lease.prompt, first=first, second=second, reason="So.", by=lease.worker,
        at=timezone.now(),
    )  # fmt: skip
    assert why(client, make_member(writing, Role.WORKER)) == ["scenarios in contradiction"]


def test_the_queries_that_say_why_do_not_grow(client, worker, project):
    project.scenarios_per_finished_tree = 1
    project.save()
    counts = []
    for number in (1, 3):
        for _ in range(number):
            tree = make_tree(project, SHAPE)
            tree.nodes.update(created_by=worker)
            make_scenario(tree, state="sent back", created_by=worker)
        counts.append(queries(client, HOME))
    assert counts[0] == counts[1]
