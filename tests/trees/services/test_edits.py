"""What an expert changes on a tree by hand."""

import pytest
from django.utils import timezone

from apps.projects.models import AuditEvent, Role
from apps.trees.domain.tree import Answer, Question
from apps.trees.errors import (
    BranchDisputedError,
    BranchGoneError,
    BranchHeldError,
    EmptyQuestionError,
    GrowingError,
    LooksLikeAnswerError,
    NodeGoneError,
    NotQualifiedError,
    SameAsBeforeError,
    TreeChangedError,
)
from apps.trees.models import Cut, Node, Tree, Wording
from apps.trees.services import cuts
from apps.trees.services.edits import change_answer, change_wording, give_branch, take_out
from apps.trees.services.seen import fingerprint_of
from apps.workers.errors import NotAMemberError
from apps.workers.models import Assignment
from apps.workers.services.leases import return_work
from apps.workers.services.next_work import take_work
from tests.factories import make_member, make_project, make_question, make_snippet, make_user
from tests.trees.rows import NEEDLESS, NO, OPEN, YES, flags, grow, leaf, node
from tests.workers.qualifying import make_test, need_it

pytestmark = pytest.mark.django_db

GROWING = Question("Over 18?", OPEN, NO)


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def expert(project):
    return make_member(project, Role.EXPERT)


@pytest.fixture
def worker(project):
    return make_member(project, Role.WORKER)


def reword(question: Node, text: str, expert, *, seen: str | None = None) -> None:
    seen = question.text if seen is None else seen
    change_wording(question, text, seen=seen, expert=expert, now=timezone.now())


def remove(question: Node, kind: Cut.Kind, expert, *, reason: str = "It is wrong.") -> Cut:
    return take_out(
        question, kind, seen=fingerprint_of(question), expert=expert, reason=reason,
        now=timezone.now(),
    )  # fmt: skip


def give(tree: Tree, branch: str, *, worker, expert) -> Assignment:
    root = tree.nodes.live().filter(parent=None).first()
    slot = f"{root.pk}-{branch}" if root else "root"
    return give_branch(tree, slot, worker=worker, expert=expert, now=timezone.now())


# A wording ----------------------------------------------------------------------------------


def test_another_wording_keeps_the_one_before_and_all_below(project, expert, worker):
    tree = grow(project)
    Node.objects.update(created_by=worker)
    reword(node(tree, "Over 18?"), "  Are you over 18?\n", expert)
    assert tree.to_domain() == Question("Are you over 18?", NEEDLESS, NO)
    (before,) = Wording.objects.all()
    assert (before.text, before.replaced_by) == ("Over 18?", expert)
    assert before.node == node(tree, "Are you over 18?")
    assert before.node.created_by == worker
    (event,) = AuditEvent.objects.filter(action="change wording")
    assert event.details == {"before": "Over 18?", "now": "Are you over 18?"}


def test_flags_and_logic_follow_the_wording(project, expert):
    tree = grow(project, Question("Over 18?", Question("Here?", YES, NO), NO))
    Tree.objects.update(near_looked_at=timezone.now())
    reword(node(tree, "Here?"), "over 18", expert)
    assert flags(tree) == [("over 18", "asked twice", "open")]
    tree.refresh_from_db()
    assert (tree.logic_class, tree.near_looked_at) == ("one_question", None)


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("\u3000\u200b ", EmptyQuestionError),
        ("?!", EmptyQuestionError),
        ("Yes", LooksLikeAnswerError),
        (" no. ", LooksLikeAnswerError),
        ("Over 18? ", SameAsBeforeError),
    ],
)
def test_a_text_that_is_no_question_is_refused(project, expert, text, refusal):
    """Case 49."""
    tree = grow(project)
    with pytest.raises(refusal):
        reword(node(tree, "Over 18?"), text, expert)
    assert not Wording.objects.exists()


def test_a_wording_that_another_expert_changed_is_looked_at_first(project, expert):
    question = node(grow(project), "Over 18?")
    reword(question, "Are you over 18?", make_user())
    with pytest.raises(TreeChangedError):
        reword(question, "Are you 18?", expert)
    assert Wording.objects.count() == 1


def test_what_was_taken_out_is_not_worded_anew(project, expert):
    question = node(grow(project), "Over 18?")
    remove(question, Cut.Kind.REJECTED, expert)
    with pytest.raises(NodeGoneError):
        reword(question, "Are you over 18?", expert)


# A final answer -----------------------------------------------------------------------------


def test_another_final_answer_keeps_the_one_before(project, expert):
    tree = grow(project)
    before = leaf(tree, "yn")
    change_answer(
        before, Answer.NO, seen=fingerprint_of(before), expert=expert, reason="",
        now=timezone.now(),
    )  # fmt: skip
    assert tree.to_domain() == Question("Over 18?", Question("Needless?", YES, NO), NO)
    assert flags(tree) == [("Needless?", "one answer", "gone")]
    (cut,) = Cut.objects.all()
    assert (cut.kind, cut.by, cut.reason) == ("settled", expert, "The final answer is No.")
    assert list(cut.nodes.all()) == [before]


def test_the_same_answer_again_changes_nothing(project, expert):
    before = leaf(grow(project), "n")
    with pytest.raises(SameAsBeforeError):
        change_answer(
            before, Answer.NO, seen=fingerprint_of(before), expert=expert, reason="",
            now=timezone.now(),
        )  # fmt: skip
    assert not Cut.objects.exists()


# A branch -----------------------------------------------------------------------------------


def test_what_is_wrong_goes_with_all_below_and_its_branch_is_open(project, expert):
    """Case 21."""
    tree = grow(project)
    cut = remove(node(tree, "Needless?"), Cut.Kind.REJECTED, expert)
    assert (cut.kind, cut.reason, cut.nodes.count()) == ("rejected", "It is wrong.", 3)
    assert tree.to_domain() == GROWING
    assert flags(tree) == [("Needless?", "one answer", "gone")]


def test_what_is_needless_is_pruned_with_its_flag(project, expert):
    tree = grow(project)
    remove(node(tree, "Needless?"), Cut.Kind.PRUNED, expert, reason="Ask less.")
    assert flags(tree) == [("Needless?", "one answer", "pruned")]
    assert tree.flags.get().reason == "Ask less."


def test_a_branch_that_has_grown_since_is_looked_at_first(project, expert):
    tree = grow(project, Question("Over 18?", OPEN, NO))
    question = node(tree, "Over 18?")
    seen = fingerprint_of(question)
    Node.at(tree, question, "yes", kind="answer", answer="Yes").save()
    with pytest.raises(TreeChangedError):
        take_out(
            question, Cut.Kind.REJECTED, seen=seen, expert=expert, reason="No.",
            now=timezone.now(),
        )  # fmt: skip
    assert not Cut.objects.exists()


def test_taken_out_twice_the_second_is_told(project, expert):
    question = node(grow(project), "Needless?")
    remove(question, Cut.Kind.REJECTED, expert)
    with pytest.raises(NodeGoneError):
        remove(question, Cut.Kind.REJECTED, expert)


# Another worker -----------------------------------------------------------------------------


def test_a_branch_is_given_to_another_worker(project, expert, worker):
    tree = grow(project, GROWING)
    first = take_work(project, worker=worker, now=timezone.now())
    assert first is not None
    other = make_member(project, Role.WORKER)
    lease = give(tree, "yes", worker=other, expert=expert)
    assert (lease.worker, lease.state, lease.part) == (other, "leased", first.part)
    first.refresh_from_db()
    assert first.state == "released"
    assert take_work(project, worker=other, now=timezone.now()) == lease
    (event,) = AuditEvent.objects.filter(action="give branch")
    assert event.details == {"worker": other.username, "branch": lease.part}


def test_an_open_root_is_given_too(project, expert, worker):
    tree = grow(project, OPEN)
    assert give(tree, "", worker=worker, expert=expert).part == "root"


@pytest.mark.parametrize("how", ["wrote above", "gave it back", "wrote the first question", "has"])
def test_who_must_not_have_the_branch_does_not_get_it(project, expert, worker, how):
    """Case 9."""
    question = make_question(
        make_snippet(project.documents.create(source_url="https://a.example", domain="a.example")),
        created_by=worker if how == "wrote the first question" else None,
    )
    tree = grow(project, GROWING, question=question)
    if how == "wrote above":
        Node.objects.filter(parent=None).update(created_by=worker)
    if how in {"gave it back", "has"}:
        lease = take_work(project, worker=worker, now=timezone.now())
        assert lease is not None
        if how == "gave it back":
            return_work(lease, reason="Too hard.", now=timezone.now())
    before = list(Assignment.objects.values_list("pk", "state"))
    with pytest.raises(BranchHeldError):
        give(tree, "yes", worker=worker, expert=expert)
    assert list(Assignment.objects.values_list("pk", "state")) == before


def test_nobody_loses_a_branch_that_another_cannot_get(project, expert, worker):
    tree, other = grow(project, GROWING), make_member(project, Role.WORKER)
    Node.objects.filter(parent=None).update(created_by=other)
    lease = take_work(project, worker=worker, now=timezone.now())
    assert lease is not None
    with pytest.raises(BranchHeldError):
        give(tree, "yes", worker=other, expert=expert)
    lease.refresh_from_db()
    assert lease.state == "leased"


def test_a_branch_under_a_disputed_turn_waits(project, expert, worker):
    tree = grow(project, GROWING)
    Node.objects.filter(parent=None).update(disputed_at=timezone.now())
    with pytest.raises(BranchDisputedError):
        give(tree, "yes", worker=worker, expert=expert)


def test_a_branch_that_is_closed_is_given_to_nobody(project, expert, worker):
    tree = grow(project, GROWING)
    with pytest.raises(BranchGoneError):
        give(tree, "no", worker=worker, expert=expert)


def test_who_lacks_the_qualification_gets_no_branch_by_hand_either(project, expert, worker):
    tree = grow(project, GROWING)
    make_test(project)
    need_it(project)
    with pytest.raises(NotQualifiedError):
        give(tree, "yes", worker=worker, expert=expert)
    assert give(tree, "yes", worker=expert, expert=expert).worker == expert


def test_a_stranger_gets_no_branch(project, expert):
    with pytest.raises(NotAMemberError):
        give(grow(project, GROWING), "yes", worker=make_user(), expert=expert)


def test_each_refusal_has_its_own_code():
    """Case 11."""
    errors = GrowingError.__subclasses__()
    assert len({error.code for error in errors}) == len(errors)


def test_a_branch_that_was_cut_and_restored_is_as_before(project, expert):
    tree = grow(project)
    cut = remove(node(tree, "Needless?"), Cut.Kind.REJECTED, expert)
    cuts.restore(cut, actor=expert, now=timezone.now())
    assert tree.to_domain() == Question("Over 18?", NEEDLESS, NO)
    assert flags(tree) == [("Needless?", "one answer", "gone"), ("Needless?", "one answer", "open")]
