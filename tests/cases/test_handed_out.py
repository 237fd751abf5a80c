"""One piece of work, several people (cases 2, 4, 5, 9, 11; the others stand beside the code)."""

import ast
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.errors import StudioError
from apps.projects.models import Project, Role
from apps.scenarios.services.scenario_openings import scenario_openings
from apps.trees.models import Node, NodeCheck, Tree
from apps.trees.services.checks import reject_turn, vote_to_keep, vote_to_reject
from apps.trees.services.open_work import has_room, waiting_questions
from apps.trees.services.openings import openings, why_nothing
from apps.trees.services.paths import return_path
from apps.trees.services.walks import Walk
from apps.workers.models import Assignment, Kind
from apps.workers.services.leases import Work, expire_leases, lease_first, release_work, return_work
from apps.workers.services.next_work import in_hand, take_work
from apps.workers.services.submits import submit
from apps.workers.tasks import expire_leases as expire_task
from sharc_studio.environment import BASE_DIR
from tests.factories import make_member, make_project, make_user
from tests.trees.path_work import growing_tree, path_address, send
from tests.trees.path_work import take as take_now
from tests.trees.services.growing import NOW, WRONG, make_questions, take, turn, walk, worker_of

State = Assignment.State
STEPS = 30


# Nothing is left ----------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(4))
def test_work_that_needs_three_is_refused_only_while_three_hold_it(seed):
    """Cases 2 and 5: work that was given back, ran out or was released is not done."""
    project, people, chance = make_project(), [make_user() for _ in range(8)], random.Random(seed)
    work, now, refusals = Work(Kind.QUESTION_CHECK, 7, needs=3), NOW, 0
    for _ in range(STEPS):
        now += timedelta(minutes=chance.randint(1, 30))
        person = chance.choice(people)
        expire_leases(now)
        before = Assignment.objects.holding().count()
        lease = lease_first([work], project=project, worker=person, now=now)
        if lease is None:
            refusals += 1
            had = Assignment.objects.filter(worker=person)
            assert before == 3 or had.exclude(state__in=[State.EXPIRED, State.RELEASED]).exists()
        elif chance.random() < 0.7:
            _end(lease, chance, now)
        assert Assignment.objects.holding().count() <= 3
    assert refusals


def _end(lease: Assignment, chance: random.Random, now: datetime) -> None:
    way = chance.random()
    if way < 0.1:
        submit(lease.pk, worker=lease.worker, key="k", content={}, take=lambda _: {}, now=now)
    elif way < 0.3:
        return_work(lease, reason="", now=now)
    else:
        release_work(lease, actor=lease.worker, now=now)


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_open_is_said_exactly_when_nothing_is(seed):
    """Case 2: on trees, by a count that knows nothing of the queries that hand work out."""
    chance = random.Random(seed)
    project = make_questions(
        4, max_depth=3, active_trees=2, rejection_votes=2, rejection_voters=3, most_leases=2
    )
    people = [worker_of(project) for _ in range(5)]
    now, idle = NOW, 0
    for _ in range(STEPS):
        now += timedelta(seconds=chance.choice([1, 1, 1, 4000]))
        person = chance.choice(people)
        expire_leases(now)
        if not in_hand(project, worker=person, now=now).exists():
            is_open = any(_open_by_hand(project, person, now))
            assert bool(openings(project, worker=person)) == is_open
            assert is_open or why_nothing(project, worker=person, now=now).sentence
            assert not scenario_openings(project, worker=person)
            assert (take_work(project, worker=person, now=now) is not None) == is_open
            idle += not is_open
        lease = in_hand(project, worker=person, now=now).select_related("project", "worker").first()
        if lease is not None and chance.random() < 0.8:
            _go_on(lease, chance, now)
    assert idle


def _open_by_hand(project: Project, person: User, now: datetime) -> Iterator[str]:
    """What is open for a person, read off each tree node by node."""
    for tree in Tree.objects.growing().filter(project=project):
        yield from _branches_by_hand(tree, person, now)
    for node in Node.objects.live().filter(tree__project=project, disputed_at__isnull=False):
        if _waits_for_a_vote(node, person, now):
            yield f"check {node.pk}"
    if has_room(project) and waiting_questions(project).exclude(created_by=person).exists():
        yield "a new tree"


def _branches_by_hand(tree: Tree, person: User, now: datetime) -> Iterator[str]:
    live = {node.pk: node for node in tree.nodes.live()}
    taken = {(node.parent_id, node.branch) for node in live.values()}
    open_slots: list[tuple[int | None, str]] = [(None, "")] if (None, "") not in taken else []
    questions = [node.pk for node in live.values() if node.kind == Node.Kind.QUESTION]
    open_slots += [
        (key, branch) for key in questions for branch in ("yes", "no") if (key, branch) not in taken
    ]
    for parent, branch in open_slots:
        above = _above_by_hand(live, parent)
        part = f"{parent}-{branch}" if parent else "root"
        work = Assignment.objects.filter(kind=Kind.PATH, work_id=tree.pk, part=part)
        had = work.filter(worker=person, state__in=[State.SUBMITTED, State.RETURNED])
        wrote = tree.nodes.filter(parent=parent, branch=branch, created_by=person)
        is_theirs = any(node.created_by_id == person.pk for node in above)
        is_disputed = any(node.disputed_at for node in above)
        if not (is_theirs or is_disputed or work.lasting(now).exists() or had.exists()
                or wrote.exists()):  # fmt: skip
            yield part


def _above_by_hand(live: dict[int, Node], at: int | None) -> list[Node]:
    return [] if at is None else [live[at], *_above_by_hand(live, live[at].parent_id)]


def _waits_for_a_vote(node: Node, person: User, now: datetime) -> bool:
    work = Assignment.objects.filter(kind=Kind.NODE_CHECK, work_id=node.pk)
    since = node.disputed_at
    votes = NodeCheck.objects.filter(node=node).votes(since=since) if since else []
    busy = work.lasting(now).count() + work.filter(state="submitted", ended_at__gte=since).count()
    return (
        node.created_by_id != person.pk
        and person.pk not in {vote.checker_id for vote in votes}
        and not work.filter(worker=person, state=State.RETURNED).exists()
        and busy < node.tree.rejection_voters - 1
    )


def _go_on(lease: Assignment, chance: random.Random, now: datetime) -> None:
    key = f"key {lease.pk}"
    if lease.kind == Kind.NODE_CHECK:
        if chance.random() < 0.5:
            vote_to_keep(lease, key=key, now=now)
        else:
            vote_to_reject(lease, WRONG, key=key, now=now)
        return
    others = [turn.node for turn in Walk(lease).history if not turn.is_own]
    if others and chance.random() < 0.3:
        reject_turn(lease, others[-1], WRONG, key=key, now=now)
    elif chance.random() < 0.2:
        return_path(lease, reason="", now=now)
    else:
        left = Walk(lease).questions_left
        texts = [f"Is it {chance.random()}?" for _ in range(min(left, chance.randint(0, 2)))]
        walk(lease, *texts, now=now)


@pytest.mark.django_db
def test_the_start_page_offers_a_scenario_before_it_says_that_nothing_is_open(client):
    """Case 2: of every kind of work that is handed out."""
    project = make_questions(1, scenarios_per_finished_tree=1)
    walk(take(project), "Are you over 18?")
    walk(take(project))
    worker = worker_of(project)
    client.force_login(worker)
    page = client.get(project.get_absolute_url()).text
    assert Tree.objects.get().state == Tree.State.FINISHED
    assert "Take work" in page
    assert take(project, worker).kind == Kind.SCENARIO


# The clock ----------------------------------------------------------------------------------------


CLOCKS = {"now", "today", "utcnow", "time", "localtime", "localdate"}
MODULES = {"timezone", "datetime", "date", "time"}


def _clocks_at_import(node: ast.AST) -> Iterator[ast.Call]:
    """Calls of a clock that happen when the module is imported: also in classes and defaults."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for default in [*child.args.defaults, *filter(None, child.args.kw_defaults)]:
                yield from _clocks_at_import(ast.Expr(default))
            continue
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute):
            whose = child.func.value
            name = whose.attr if isinstance(whose, ast.Attribute) else getattr(whose, "id", "")
            if child.func.attr in CLOCKS and name in MODULES:
                yield child
        yield from _clocks_at_import(child)


def _sources() -> list[Path]:
    return [path for top in ("apps", "sharc_studio") for path in (BASE_DIR / top).rglob("*.py")]


@pytest.mark.once
def test_case_4_no_clock_is_read_when_a_module_is_imported():
    found = {
        f"{path.relative_to(BASE_DIR)}:{call.lineno}"
        for path in _sources()
        for call in _clocks_at_import(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set()
    read = (
        "import time\nA = time.time()\nclass B:\n  c = timezone.now()\ndef f(d=date.today()): 1\n"
    )
    assert [call.lineno for call in _clocks_at_import(ast.parse(read))] == [2, 4, 5]


@pytest.mark.django_db
def test_case_4_after_two_days_a_lease_of_sixty_minutes_lasts_sixty_minutes():
    project, later = make_questions(1, lease_minutes=60), NOW + timedelta(days=2)
    take(project, now=later)
    assert expire_leases(later + timedelta(minutes=59, seconds=59)) == 0
    assert expire_leases(later + timedelta(minutes=60)) == 1
    now = timezone.now()
    take(project, now=now - timedelta(minutes=59))
    assert expire_task() == 0
    Assignment.objects.leased().update(
        leased_at=now - timedelta(minutes=61), expires_at=now - timedelta(minutes=1)
    )
    assert expire_task() == 1


# Nobody twice -------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_case_9_who_logs_out_and_in_again_is_not_offered_their_own_branch():
    project = make_project("bikes")
    tree = growing_tree(project)
    worker, other = (make_member(project, Role.WORKER) for _ in range(2))
    client = Client()
    client.force_login(worker)
    work = take_now(project, worker)
    send(client, work, "agree")
    send(client, work, "ask", position="0", text="Do you have a helmet?")
    send(client, work, "answer", position="1", answer="Yes")
    client.post(path_address(work), {"key": "k"})
    assert Node.objects.filter(tree=tree, created_by=worker).count() == 2

    offered = []
    for _ in range(3):
        client.post(reverse("accounts:logout"))
        client.force_login(worker)
        client.post(reverse("workers:next", args=["bikes"]))
        offered.append(Assignment.objects.leased().get(worker=worker).part)
    root = Node.objects.get(tree=tree, parent=None)
    assert offered == [f"{root.pk}-no"] * 3
    assert take_now(project, other).part.partition("-")[0] != str(root.pk)


# Refusals -----------------------------------------------------------------------------------------


def _refusals(of: type[StudioError] = StudioError) -> Iterator[type[StudioError]]:
    for refusal in of.__subclasses__():
        yield refusal
        yield from _refusals(refusal)


@pytest.mark.once
def test_case_11_each_refusal_of_work_has_a_code_and_a_sentence_of_its_own():
    with_codes = [one for one in _refusals() if "code" in vars(one)]
    codes = [vars(one)["code"] for one in with_codes]
    assert len(codes) > 30
    assert sorted({code for code in codes if codes.count(code) > 1}) == []
    without = [
        one.__name__ for one in _refusals() if hasattr(one, "code") and one not in with_codes
    ]
    assert without == []
    sentences = [vars(one)["sentence"] for one in with_codes if vars(one).get("sentence")]
    assert len(set(sentences)) == len(sentences)


@pytest.mark.django_db
def test_a_walk_that_was_given_back_is_work_for_others():
    """Case 5: nothing of it counts."""
    project = make_questions(1)
    lease = take(project)
    turn(lease)
    return_path(lease, reason="", now=NOW)
    assert Node.objects.count() == 0
    assert take(project).part == "root"
