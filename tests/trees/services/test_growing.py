"""Workers grow trees together, from the first question to the last leaf."""

import random

import pytest
from django.utils import timezone

from apps.projects.models import Role
from apps.trees.domain.tree import Answer, is_finished
from apps.trees.models import Node, NodeCheck, PathStep, Tree
from apps.trees.services.paths import submit_path
from apps.trees.services.walks import Walk, agree, ask, give_final_answer
from apps.workers.models import Assignment
from apps.workers.services.next_work import take_work
from tests.factories import make_document, make_member, make_project, make_question, make_snippet

pytestmark = pytest.mark.django_db


def walk_to_the_end(lease: Assignment, chance: random.Random) -> None:
    now = timezone.now()
    walk = Walk(lease)
    if walk.needs_check:
        agree(lease, now=now)
    for position in range(walk.questions_left + 1):
        if not Walk(lease).may_ask or chance.random() < 0.4:
            give_final_answer(lease, position=position, answer=Answer.YES, now=now)
            break
        ask(lease, position=position, text=f"Is it {chance.random()}?", span=None, now=now)
    submit_path(lease, key=f"key {lease.pk}", now=now)


def test_a_few_workers_bring_every_tree_to_its_end():
    project = make_project(max_depth=3, active_trees=2)
    for _ in range(4):
        make_question(make_snippet(make_document(project)))
    workers = [make_member(project, Role.WORKER) for _ in range(5)]
    chance, idle = random.Random(7), 0
    while idle < len(workers):
        worker = workers[idle]
        lease = take_work(project, worker=worker, now=timezone.now())
        if lease is None:
            idle += 1
            continue
        idle = 0
        walk_to_the_end(lease, chance)
        chance.shuffle(workers)
        growing = Tree.objects.growing().count()
        assert growing <= 2
    trees = list(Tree.objects.all())
    assert len(trees) == 4
    assert {tree.state for tree in trees} == {"finished"}
    assert all(is_finished(tree.to_domain()) for tree in trees)
    assert not Assignment.objects.leased().exists()
    made = Node.objects.filter(kind="question").count() + Node.objects.filter(kind="answer").count()
    assert made == PathStep.objects.standing().count()
    assert all(check.checker_id != check.node.created_by_id for check in NodeCheck.objects.all())
