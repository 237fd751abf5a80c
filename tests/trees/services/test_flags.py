"""An expert settles what was flagged."""

import pytest
from django.utils import timezone

from apps.projects.models import AuditEvent, Role, StateChange
from apps.trees.domain.tree import Answer, Question
from apps.trees.errors import FlagSettledError, TreeChangedError
from apps.trees.models import Cut, Flag
from apps.trees.services.cuts import put_answer
from apps.trees.services.flags import keep, prune, settle
from apps.trees.services.seen import fingerprint_of
from apps.workers.services.next_work import take_work
from tests.factories import make_member, make_project, make_user
from tests.trees.rows import NO, YES, flag_on, flags, grow, leaf, node

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def expert(project):
    return make_member(project, Role.EXPERT)


def test_a_pruned_question_is_open_work_again_at_once(project, expert):
    """Case 21."""
    tree, worker = grow(project), make_member(project, Role.WORKER)
    flag = flag_on(tree, "Needless?")
    cut = prune(flag, seen="", expert=expert, reason="Ask another.", now=timezone.now())
    flag.refresh_from_db()
    assert (flag.state, flag.settled_by, flag.reason) == ("pruned", expert, "Ask another.")
    assert (cut.kind, cut.by, cut.reason) == ("pruned", expert, "Ask another.")
    tree.refresh_from_db()
    assert tree.state == "growing"
    lease = take_work(project, worker=worker, now=timezone.now())
    assert lease is not None
    assert (lease.work_id, lease.part) == (tree.pk, f"{node(tree, 'Over 18?').pk}-yes")


def test_without_a_reason_the_cut_says_what_was_found(project, expert):
    cut = prune(
        flag_on(grow(project), "Needless?"), seen="", expert=expert, reason="", now=timezone.now()
    )
    assert cut.reason == "Redundant: the same answer on both sides"


def test_settled_with_an_answer_the_tree_stays_finished(project, expert):
    tree = grow(project)
    flag = flag_on(tree, "Needless?")
    settle(flag, Answer.YES, seen="", expert=expert, reason="", now=timezone.now())
    assert tree.to_domain() == Question("Over 18?", YES, NO)
    assert flags(tree) == [("Needless?", "one answer", "settled")]
    assert leaf(tree, "y").created_by == expert
    tree.refresh_from_db()
    assert (tree.state, tree.logic_class) == ("finished", "one_question")
    assert not StateChange.objects.filter(object_type="tree").exists()


def test_settled_with_the_other_answer_the_question_above_is_redundant(project, expert):
    tree = grow(project)
    settle(
        flag_on(tree, "Needless?"), Answer.NO, seen="", expert=expert, reason="",
        now=timezone.now(),
    )  # fmt: skip
    assert flags(tree) == [
        ("Needless?", "one answer", "settled"), ("Over 18?", "one answer", "open"),
    ]  # fmt: skip


def test_a_kept_question_stays_with_its_reason_and_in_the_log(project, expert):
    tree = grow(project)
    flag = flag_on(tree, "Needless?")
    keep(flag, seen="", expert=expert, reason="The rule text asks it.", now=timezone.now())
    flag.refresh_from_db()
    assert (flag.state, flag.reason) == ("kept", "The rule text asks it.")
    assert flag.settled_by == expert
    (event,) = AuditEvent.objects.filter(action="keep question")
    assert event.details == {"reason": "The rule text asks it."}
    (change,) = StateChange.objects.filter(object_type="flag")
    assert (change.from_state, change.to_state, change.actor) == ("open", "kept", expert)


@pytest.mark.parametrize("second", [prune, keep])
def test_of_two_experts_the_second_is_told(project, expert, second):
    tree = grow(project)
    flag = flag_on(tree, "Needless?")
    keep(flag, seen="", expert=expert, reason="It is asked.", now=timezone.now())
    with pytest.raises(FlagSettledError, match="Somebody has settled this already"):
        second(flag, seen="", expert=make_user(), reason="No.", now=timezone.now())
    assert flags(tree) == [("Needless?", "one answer", "kept")]
    assert not Cut.objects.exists()


def test_what_changed_since_the_page_was_opened_is_looked_at_again(project, expert):
    shape = Question("Over 18?", Question("Needless?", Question("Deep?", YES, YES), YES), NO)
    tree = grow(project, shape)
    flag, seen = flag_on(tree, "Needless?"), fingerprint_of(node(tree, "Needless?"))
    put_answer(node(tree, "Deep?"), Answer.YES, actor=expert, reason="", now=timezone.now())
    with pytest.raises(TreeChangedError):
        prune(flag, seen=seen, expert=expert, reason="", now=timezone.now())
    assert Flag.objects.get(pk=flag.pk).state == "open"
    seen = fingerprint_of(node(tree, "Needless?"))
    prune(flag, seen=seen, expert=expert, reason="", now=timezone.now())
    assert Flag.objects.get(pk=flag.pk).state == "pruned"
