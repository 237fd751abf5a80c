"""What experts do on a tree's page: owner, member and stranger; refusals in the form."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.projects.models import Role
from apps.trees.domain.tree import Question
from apps.trees.models import Cut, Node, Tree, TreeComment, Wording
from apps.trees.services import cuts
from apps.trees.services.seen import fingerprint_of
from apps.workers.models import Assignment
from apps.workers.services.next_work import take_work
from tests.factories import make_member, make_project, make_user
from tests.pages import words, words_of_main
from tests.trees.rows import NEEDLESS, NO, OPEN, YES, flags, grow, leaf, node

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("bikes")


@pytest.fixture
def expert(client, project):
    user = make_member(project, Role.EXPERT, make_user("erin"))
    client.force_login(user)
    return user


def post(client, name: str, tree: Tree, *keys, **data):
    address = reverse(f"trees:{name}", args=[tree.project.slug, tree.tree_id, *keys])
    return client.post(address, data, follow=True)


def panel(client, tree: Tree, name: object) -> str:
    address = reverse("trees:detail", args=[tree.project.slug, tree.tree_id])
    headers = {"HX-Request": "true", "HX-Target": "node-panel"}
    return words(client.get(address, {"node": str(name)}, headers=headers).content.decode())


def reads(response) -> str:
    assert response.status_code == 200
    return words_of_main(response.content.decode())


# A wording ----------------------------------------------------------------------------------


def test_a_question_is_worded_anew(client, project, expert):
    tree = grow(project)
    question = node(tree, "Over 18?")
    response = post(client, "wording", tree, question.pk, text="Are you over 18?", seen="Over 18?")
    assert "The question is worded anew; its earlier wording is kept." in reads(response)
    assert response.redirect_chain[0][0].endswith(f"?node={question.pk}#node-panel")
    assert "Over 18? until erin changed it, " in panel(client, tree, question.pk)
    assert Wording.objects.get().text == "Over 18?"


def test_a_stale_wording_comes_back_with_what_was_typed(client, project, expert):
    tree = grow(project)
    question = node(tree, "Over 18?")
    post(client, "wording", tree, question.pk, text="Are you over 18?", seen="Over 18?")
    response = post(client, "wording", tree, question.pk, text="Adult?", seen="Over 18?")
    assert "This part of the tree has changed since the page was opened." in reads(response)
    form = response.context["forms"]["wording"]
    assert (form["text"].value(), form["seen"].value()) == ("Adult?", "Are you over 18?")
    again = {"text": form["text"].value(), "seen": form["seen"].value()}
    post(client, "wording", tree, question.pk, **again)
    assert node(tree, "Adult?").pk == question.pk


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("", "Write a question."),
        ("Yes", "This is an answer, not a question."),
        ("?!", "Write a question."),
        ("Over 18?", "It says this already. Change it first."),
        ("x" * 1001, "at most 1000 characters"),
    ],
)
def test_a_wording_that_is_refused_says_why_at_the_form(client, project, expert, text, refusal):
    tree = grow(project)
    response = post(
        client, "wording", tree, node(tree, "Over 18?").pk, text=text, seen="Over 18?"
    )  # fmt: skip
    assert refusal in reads(response)
    assert response.context["refused"] == "wording"
    assert not Wording.objects.exists()


# A final answer -----------------------------------------------------------------------------


def test_before_an_answer_is_changed_the_page_says_what_becomes_of_marks_and_rule(
    client, project, expert
):
    tree = grow(project)
    said = panel(client, tree, leaf(tree, "yn").pk)
    assert (
        "With No instead: Needless? is no longer marked “same answer on both sides”. "
        "The rule will be: All of several questions Yes, if Over 18? and Needless?" in said
    )
    said = panel(client, tree, leaf(tree, "n").pk)
    assert (
        "With Yes instead: Needless? is no longer marked “same answer on both sides”. "
        "Over 18? will be marked “same answer on both sides”. "
        "The rule will be: Always the same answer Always Yes" in said
    )


def test_where_nothing_comes_or_goes_it_says_so(client, project, expert):
    tree = grow(project, Question("Over 18?", OPEN, NO))
    assert "With Yes instead: No mark comes or goes." in panel(client, tree, leaf(tree, "n").pk)


def test_an_answer_is_changed(client, project, expert):
    tree = grow(project)
    before = leaf(tree, "yn")
    response = post(
        client, "answer", tree, before.pk, answer="No", reason="Read line 2.",
        seen=fingerprint_of(before),
    )  # fmt: skip
    assert "The final answer is No now." in reads(response)
    assert response.context["place"].node == leaf(tree, "yn")
    assert Cut.objects.get().reason == "Read line 2."
    assert "Taken out of this tree: 1 node, in 1 part" in reads(response)


def test_an_answer_that_changed_meanwhile_comes_back(client, project, expert):
    tree = grow(project)
    before = leaf(tree, "yn")
    seen = fingerprint_of(before)
    cuts.put_answer(before, NO.answer, actor=expert, reason="", now=timezone.now())
    response = post(client, "answer", tree, before.pk, answer="No", seen=seen)
    assert "was taken out meanwhile" in reads(response)


# A branch -----------------------------------------------------------------------------------


def test_a_branch_is_taken_out_and_restored(client, project, expert):
    tree = grow(project)
    question = node(tree, "Needless?")
    assert "This and all below it go: 3 nodes." in panel(client, tree, question.pk)
    response = post(
        client, "take_out", tree, question.pk, kind="pruned", reason="Ask less.",
        seen=fingerprint_of(question),
    )  # fmt: skip
    said = reads(response)
    assert "The branch is taken out, and open for new work. It can be restored." in said
    assert response.context["place"].slot.is_open
    assert (
        "Taken out of this tree: 3 nodes, in 1 part Pruned below (1) Over 18? Yes By erin, " in said
    )
    assert re.search(
        r": Ask less\. \(1\) Needless\? YES = Yes NO = Yes Restore 3 nodes taken out by erin", said
    )
    assert flags(tree) == [("Needless?", "one answer", "pruned")]
    response = post(client, "restore", tree, Cut.objects.get().pk)
    assert "What was taken out is back in the tree." in reads(response)
    assert response.context["place"].node == question
    assert tree.to_domain() == Question("Over 18?", NEEDLESS, NO)


@pytest.mark.parametrize(
    ("data", "refusal"),
    [
        ({"kind": "pruned"}, "Say why. It is kept with what goes."),
        ({"reason": "So."}, "Say what is the matter."),
        ({"kind": "settled", "reason": "So."}, "settled is not one of the available choices"),
        ({"kind": "pruned", "reason": "So.", "seen": "0"}, "This part of the tree has changed"),
    ],
)
def test_a_branch_is_not_taken_out_without_a_word(client, project, expert, data, refusal):
    tree = grow(project)
    question = node(tree, "Needless?")
    response = post(
        client, "take_out", tree, question.pk, **{"seen": fingerprint_of(question), **data}
    )  # fmt: skip
    assert refusal in reads(response)
    assert not Cut.objects.exists()


def test_a_cut_whose_branch_is_taken_is_not_restored(client, project, expert):
    tree = grow(project)
    cut = cuts.take_out(
        leaf(tree, "n"), kind=Cut.Kind.REJECTED, actor=expert, reason="", now=timezone.now()
    )
    Node.at(tree, node(tree, "Over 18?"), "no", kind="answer", answer="Yes").save()
    response = post(client, "restore", tree, cut.pk)
    said = reads(response)
    assert "The branch has been continued meanwhile" in said
    assert "It can be restored when its branch is open again" in said
    assert "Restore 1 node" not in said


def test_a_restored_cut_is_not_restored_twice(client, project, expert):
    tree = grow(project)
    cut = cuts.take_out(
        leaf(tree, "n"), kind=Cut.Kind.REJECTED, actor=expert, reason="", now=timezone.now()
    )
    post(client, "restore", tree, cut.pk)
    response = post(client, "restore", tree, cut.pk)
    assert "These nodes are back in the tree already." in reads(response)


def test_cuts_within_cuts_are_listed_each_with_its_own_nodes(client, project, expert):
    tree = grow(project)
    for text in ("Needless?", "Over 18?"):
        cuts.take_out(
            node(tree, text), kind=Cut.Kind.REJECTED, actor=None, reason=text, now=timezone.now()
        )
    address = reverse("trees:detail", args=["bikes", tree.tree_id])
    said = reads(client.get(address))
    assert "Taken out of this tree: 5 nodes, in 2 parts Rejected the root By the studio, " in said
    assert "Rejected below what was taken out later By the studio, " in said


# Another worker -----------------------------------------------------------------------------


def test_a_branch_is_given_to_a_named_person(client, project, expert):
    tree = grow(project, Question("Over 18?", OPEN, NO))
    holder, other = (make_member(project, Role.WORKER, make_user(name)) for name in ("hal", "oma"))
    held = take_work(project, worker=holder, now=timezone.now())
    assert held is not None
    assert "In hand hal, since " in panel(client, tree, held.part)
    response = post(client, "give", tree, slot=held.part, worker=other.pk)
    assert "oma has this branch now." in reads(response)
    assert "In hand oma, since " in panel(client, tree, held.part)
    assert [row.state for row in Assignment.objects.order_by("pk")] == ["released", "leased"]


def test_who_wrote_above_does_not_get_it(client, project, expert):
    tree = grow(project, Question("Over 18?", OPEN, NO))
    worker = make_member(project, Role.WORKER)
    Node.objects.update(created_by=worker)
    slot = f"{node(tree, 'Over 18?').pk}-yes"
    response = post(client, "give", tree, slot=slot, worker=worker.pk)
    assert "they wrote above it, or have had it before" in reads(response)
    response = post(client, "give", tree, slot=slot, worker=make_user().pk)
    assert "This person is not in the project (any more). Choose another." in reads(response)
    assert not Assignment.objects.exists()


@pytest.mark.parametrize("slot", ["", "x", "1-yes", "-", "12-maybe", "\0", "9" * 30])
def test_a_branch_that_is_none_is_given_to_nobody(client, project, expert, slot):
    worker = make_member(project, Role.WORKER)
    response = post(client, "give", grow(project), slot=slot, worker=worker.pk)
    assert response.status_code == 200
    assert not Assignment.objects.exists()


# Comments -----------------------------------------------------------------------------------


def test_a_comment_on_a_node_stands_on_the_trees_page(client, project, expert):
    tree = grow(project)
    question = node(tree, "Over 18?")
    said = reads(post(client, "comment", tree, text="Ask <b>first</b>.", node_key=question.pk))
    assert "Comments erin, " in said
    assert ", on Over 18? Ask <b>first</b>." in said
    assert TreeComment.objects.get().node == question


@pytest.mark.parametrize("key", ["", "0", "123456"])
def test_a_comment_on_no_node_is_on_the_tree(client, project, expert, key):
    tree = grow(project)
    post(client, "comment", tree, text="Good.", node_key=key)
    assert TreeComment.objects.get().node is None


def test_an_empty_comment_is_refused(client, project, expert):
    said = reads(post(client, "comment", grow(project), text=" ", node_key=""))
    assert "Write something first." in said
    assert not TreeComment.objects.exists()


# What stands on the page --------------------------------------------------------------------


def test_a_finished_tree_says_its_rule_and_a_growing_one_does_not(client, project, expert):
    tree = grow(project, Question("Over 18?", Question("<b>Here?", YES, NO), NO))
    address = reverse("trees:detail", args=["bikes", tree.tree_id])
    said = reads(client.get(address))
    assert "All of several questions Yes, if Over 18? and <b>Here? Rule text" in said
    growing = grow(project, Question("Over 18?", OPEN, NO))
    said = reads(client.get(reverse("trees:detail", args=["bikes", growing.tree_id])))
    assert "Yes, if" not in said


def test_a_flag_and_a_kept_one_stand_at_their_question(client, project, expert):
    tree = grow(project)
    question = node(tree, "Needless?")
    assert "Same answer on both sides. Settle it" in panel(client, tree, question.pk)
    tree.flags.update(
        state="kept", reason="It is asked.", settled_by=expert, settled_at=timezone.now()
    )  # fmt: skip
    said = panel(client, tree, question.pk)
    assert "Same answer on both sides. Kept by erin, " in said
    assert ": It is asked." in said


def test_a_disputed_turn_is_marked(client, project, expert):
    tree = grow(project)
    Node.objects.filter(parent=None).update(disputed_at=timezone.now())
    assert "In dispute: somebody rejected this turn" in panel(client, tree, "")


def test_workers_see_nothing_of_it(client, project):
    tree = grow(project)
    client.force_login(make_member(project, Role.WORKER))
    for name in ("detail", "history", "compare"):
        address = reverse(f"trees:{name}", args=["bikes", tree.tree_id])
        assert client.get(address).status_code == 404


def test_a_larger_tree_with_more_said_takes_no_more_queries(client, project, expert):
    def queries(shape) -> int:
        tree = grow(project, shape)
        tree.comments.create(text="Hm.", author=expert)
        address = reverse("trees:detail", args=["bikes", tree.tree_id])
        with CaptureQueriesContext(connection) as caught:
            assert client.get(address).status_code == 200
        return len(caught)

    few = queries(Question("Over 18?", NEEDLESS, NO))
    deep = Question("Here?", NEEDLESS, Question("Now?", NEEDLESS, NO))
    assert (few, queries(deep)) == (13, 13)
