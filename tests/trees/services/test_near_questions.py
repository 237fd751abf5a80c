"""Near questions are found after the work, by a periodic task."""

import pytest
from django.utils import timezone

from apps.trees.domain.tree import Question
from apps.trees.models import Flag, Node, Tree
from apps.trees.services.derived import refresh
from apps.trees.services.flags import keep
from apps.trees.services.near_questions import look_for_near_questions
from apps.trees.tasks import look_for_near_questions_of_all
from tests.factories import make_project, make_user
from tests.trees.rows import NO, OPEN, YES, flag_on, flags, grow, node

pytestmark = pytest.mark.django_db

NEAR = Question("Are you over 18?", YES, Question("Are you over 18 years?", YES, NO))
FOUND = ("Are you over 18 years?", "near")


@pytest.fixture
def project():
    return make_project()


def look() -> int:
    return look_for_near_questions(Tree.objects.all(), now=timezone.now())


def test_the_task_looks_at_each_finished_tree_once(project):
    tree = grow(project, NEAR)
    grow(project, Question("Are you over 18?", YES, OPEN))
    assert flags(tree) == []
    assert look_for_near_questions_of_all() == 1
    (flag,) = Flag.objects.all()
    assert (flag.node, flag.other) == (
        node(tree, "Are you over 18 years?"), node(tree, "Are you over 18?"),
    )  # fmt: skip
    assert flags(tree) == [(*FOUND, "open")]
    assert look() == 0


def test_as_many_are_looked_at_as_asked_for_oldest_first(project):
    one, other = grow(project, NEAR), grow(project, NEAR)
    assert look_for_near_questions(Tree.objects.all(), now=timezone.now(), most=1) == 1
    assert (len(flags(one)), len(flags(other))) == (1, 0)


def test_the_threshold_is_the_projects(project):
    project.near_question_threshold = 0.99
    project.save()
    tree = grow(project, NEAR)
    look()
    assert flags(tree) == []


def test_a_question_that_is_worded_anew_is_looked_at_anew(project):
    tree = grow(project, NEAR)
    look()
    Node.objects.filter(text="Are you over 18 years?").update(text="Do you live here?")
    refresh(tree, actor=None, now=timezone.now())
    assert look() == 1
    assert flags(tree) == [("Do you live here?", "near", "gone")]


def test_what_was_kept_stays_kept(project):
    tree = grow(project, NEAR)
    look()
    flag = flag_on(tree, "Are you over 18 years?")
    keep(flag, seen="", expert=make_user(), reason="They differ.", now=timezone.now())
    refresh(tree, actor=None, now=timezone.now())
    look()
    assert flags(tree) == [(*FOUND, "kept")]


def test_a_tree_that_grows_again_meanwhile_is_left_alone(project):
    tree = grow(project, NEAR)
    Tree.objects.update(state="growing")
    assert look() == 0
    assert flags(tree) == []
