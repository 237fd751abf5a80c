"""State, flags and logic follow from the nodes of a tree."""

import pytest
from django.utils import timezone

from apps.trees.domain.tree import Question
from apps.trees.models import Cut, Tree
from apps.trees.services.cuts import put_answer, restore, take_out
from apps.trees.services.derived import refresh
from apps.trees.services.flags import keep
from tests.factories import make_project, make_user
from tests.trees.rows import (
    NEEDLESS,
    NO,
    OPEN,
    REDUNDANT,
    YES,
    flag_on,
    flags,
    grow,
    leaf,
    node,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def cut_off(tree: Tree, place: str) -> Cut:
    return take_out(
        leaf(tree, place), kind=Cut.Kind.REJECTED, actor=None, reason="No.", now=timezone.now()
    )


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        (REDUNDANT, [("Needless?", "one answer", "open")]),
        (Question("A?", REDUNDANT, REDUNDANT), [("A?", "same branches", "open")]),
        (
            Question("A?", Question("a", YES, NO), NO),
            [("a", "asked twice", "open")],
        ),
        (Question("A?", YES, NO), []),
        (Question("A?", NEEDLESS, OPEN), []),
    ],
)
def test_a_finished_tree_has_the_flags_of_its_shape(project, shape, found):
    assert flags(grow(project, shape)) == found


def test_refreshed_twice_a_flag_is_there_once(project):
    tree = grow(project)
    refresh(tree, actor=None, now=timezone.now())
    assert flags(tree) == [("Needless?", "one answer", "open")]


def test_a_flag_stays_while_another_branch_grows(project):
    tree = grow(project)
    cut_off(tree, "n")
    assert flags(tree) == [("Needless?", "one answer", "open")]


def test_what_was_kept_is_not_asked_again_when_the_tree_has_grown_again(project):
    tree = grow(project)
    keep(
        flag_on(tree, "Needless?"), seen="", expert=make_user(), reason="Both.", now=timezone.now()
    )
    cut = cut_off(tree, "n")
    restore(cut, actor=make_user(), now=timezone.now())
    assert flags(tree) == [("Needless?", "one answer", "kept")]


def test_no_flag_is_raised_while_the_tree_grows(project):
    tree = grow(project, Question("Over 18?", Question("Here?", YES, NO), NEEDLESS))
    cut_off(tree, "yy")
    put_answer(leaf(tree, "yn"), YES.answer, actor=make_user(), reason="", now=timezone.now())
    assert flags(tree) == [("Needless?", "one answer", "open")]


def test_a_flag_goes_with_its_question(project):
    tree = grow(project)
    cut_off(tree, "y")
    assert flags(tree) == [("Needless?", "one answer", "gone")]


def test_a_flag_goes_when_the_answers_differ(project):
    tree = grow(project)
    put_answer(leaf(tree, "yn"), NO.answer, actor=make_user(), reason="", now=timezone.now())
    assert flags(tree) == [("Needless?", "one answer", "gone")]
    tree.refresh_from_db()
    assert (tree.state, tree.logic_class) == ("finished", "and")


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        (YES, "constant"),
        (Question("A?", YES, NO), "one_question"),
        (Question("A?", NO, YES), "negated_question"),
        (Question("A?", Question("B?", YES, NO), NO), "and"),
        (Question("A?", YES, Question("B?", YES, NO)), "or"),
        (Question("A?", NO, Question("B?", YES, NO)), "with_not"),
        (Question("A?", YES, OPEN), ""),
        (OPEN, ""),
    ],
)
def test_a_finished_tree_has_its_class_of_logic(project, shape, kind):
    assert grow(project, shape).logic_class == kind


def test_a_tree_that_grows_again_has_none_and_is_looked_at_anew_later(project):
    tree = grow(project)
    Tree.objects.update(near_looked_at=timezone.now())
    cut_off(tree, "n")
    tree.refresh_from_db()
    assert (tree.state, tree.logic_class, tree.near_looked_at) == ("growing", "", None)


def test_an_answer_in_the_place_of_a_subtree_keeps_what_was_there(project):
    tree, expert = grow(project), make_user()
    Tree.objects.update(state="finished")
    cut, answer = put_answer(
        node(tree, "Needless?"), NO.answer, actor=expert, reason="It is No.", now=timezone.now()
    )
    assert (cut.kind, cut.reason, cut.by, cut.nodes.count()) == ("settled", "It is No.", expert, 3)
    assert (answer.place, answer.answer, answer.created_by) == ("y", "No", expert)
    assert tree.to_domain() == Question("Over 18?", NO, NO)
