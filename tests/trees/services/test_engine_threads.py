"""Many workers at once, as threads with connections of their own, and all their nuisances."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from django.db import connection

from apps.accounts.models import User
from apps.projects.models import Project
from apps.snippets.models import Snippet
from apps.trees.domain.tree import Answer
from apps.trees.models import Node, Tree
from apps.trees.services.paths import submit_path
from apps.trees.services.walks import give_final_answer
from apps.trees.simulation.people import make_people
from apps.trees.simulation.run import Report, Run
from apps.trees.simulation.script import Rates
from apps.trees.simulation.service_hands import ServiceHands
from apps.workers.models import Assignment
from apps.workers.services.next_work import take_work
from tests.trees.services.growing import NOW, make_questions, take, worker_of

pytestmark = pytest.mark.django_db(transaction=True)

TREES, WORKERS = 8, 16
NUISANCES = Rates(returns=0.1, rejections=0.1, slow=0.1, double=0.15, crashes=0.15)


def simulated(project: Project, workers: int, rates: Rates = NUISANCES, seed: str = "7") -> Report:
    return Run(
        project=project, people=make_people(project, workers),
        hands=lambda person: ServiceHands(project, person, seed), rates=rates, seed=seed,
        until_done=True, progress=lambda line: None,
    )()  # fmt: skip


def at_once(people: list[User], project: Project) -> list[Assignment | None]:
    """What each gets who asks for work at the same moment."""
    together = Barrier(len(people))

    def ask(person: User) -> Assignment | None:
        together.wait()
        try:
            return take_work(project, worker=person, now=NOW)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(people)) as pool:
        return list(pool.map(ask, people))


def test_fifty_ask_for_the_one_slot_that_is_left_and_one_gets_it():
    """Case 1."""
    project = make_questions(1)
    given = at_once([worker_of(project) for _ in range(50)], project)
    assert sum(lease is not None for lease in given) == 1
    assert Assignment.objects.count() == Tree.objects.count() == 1


def test_fifty_ask_while_fewer_trees_may_grow_and_as_many_get_one():
    """Case 2: nobody is told that nothing is left while something is."""
    project = make_questions(20, active_trees=15)
    given = at_once([worker_of(project) for _ in range(30)], project)
    assert len({lease.work_id for lease in given if lease}) == 15
    assert Tree.objects.count() == 15


def test_one_person_who_asks_in_ten_windows_gets_one_piece_of_work():
    project = make_questions(10)
    person = worker_of(project)
    given = at_once([person] * 10, project)
    assert len(set(given)) == 1
    assert Assignment.objects.count() == 1


def test_a_path_submitted_in_ten_windows_at_once_is_one():
    """Case 16."""
    project = make_questions(1)
    lease = take(project)
    give_final_answer(lease, position=0, answer=Answer.YES, now=NOW)
    together = Barrier(10)

    def send(_: int) -> object:
        together.wait()
        try:
            return submit_path(lease, key="one form", now=NOW)
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(send, range(10)))
    assert all(answer == answers[0] for answer in answers)
    assert Node.objects.count() == 1


@pytest.mark.parametrize("votes", [(1, 1), (2, 3)], ids=["one rejection", "two of three"])
def test_many_workers_with_all_their_nuisances_bring_all_trees_to_their_end(votes):
    """Cases 10, 17, 21, 22, 23."""
    project = make_questions(
        TREES, max_depth=3, active_trees=6, rejection_votes=votes[0], rejection_voters=votes[1]
    )
    report = simulated(project, WORKERS)
    assert (report.failure, report.faults, report.stuck) == ("", [], "")
    assert report.trees == Tree.objects.count() == TREES
    assert report.submitted == report.counts["accepted"]
    assert not Assignment.objects.leased().exists()
    assert not Node.objects.filter(disputed_at__isnull=False).exists()
    # Which of them came is chance, since the threads are; that some came is certain enough.
    nuisances = {"returned", "crashed", "slow", "rejected", "clicked twice", "taken back"}
    assert nuisances & set(report.counts)


def test_one_worker_does_the_same_again_with_the_same_seed():
    grown = []  # but for double clicks, which are two threads
    for _ in range(2):
        project = make_questions(4, max_depth=3)
        for number, snippet in enumerate(Snippet.objects.order_by("-pk")[:4]):
            snippet.text = f"# Grant {number}\n\nYou can claim if you live here."
            snippet.save()
        report = simulated(project, 1, replace(NUISANCES, double=0), seed="3")
        assert report.failure == ""
        nodes = Node.objects.filter(tree__project=project).order_by("tree", "place")
        grown.append(list(nodes.values_list("place", "text", "answer")))
    assert grown[0] == grown[1]
    assert len(grown[0]) > 4
