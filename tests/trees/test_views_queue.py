"""What waits for an expert, one after the other; all redundant questions at once."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.projects.models import Job, Role
from apps.trees.domain.tree import Question
from apps.trees.models import Cut, Flag, Tree
from apps.trees.services.flags import keep
from apps.trees.services.near_questions import look_for_near_questions
from apps.trees.services.seen import fingerprint_of
from apps.trees.tasks import prune_redundant
from tests.factories import make_member, make_project, make_user
from tests.pages import words_of_main
from tests.trees.rows import NO, REDUNDANT, YES, flag_on, flags, grow, leaf

pytestmark = pytest.mark.django_db

QUEUE = reverse("trees:to_settle", args=["bikes"])
PRUNE_ALL = reverse("trees:prune_all", args=["bikes"])
TWICE = Question("Here?", Question("here", YES, NO), NO)
NEAR = Question("Are you over 18?", YES, Question("Are you over 18 years?", YES, NO))


@pytest.fixture
def project():
    return make_project("bikes")


@pytest.fixture
def expert(client, project):
    user = make_member(project, Role.EXPERT, make_user("erin"))
    client.force_login(user)
    return user


def reads(response) -> str:
    assert response.status_code == 200
    return words_of_main(response.content.decode())


def shown(client, **query) -> str:
    """The question that the page is about."""
    found = client.get(QUEUE, query).context["shown"]
    return str(found.flag.node) if found else ""


def decide(client, flag: Flag, decision: str, **data):
    said = {"decision": decision, "seen": fingerprint_of(flag.node), "reason": "", **data}
    return client.post(reverse("trees:decide", args=["bikes", flag.pk]), said, follow=True)


def test_strangers_and_workers_find_no_queue(client, project):
    assert client.get(QUEUE).status_code == 302
    for person in (make_user(), make_member(project, Role.WORKER)):
        client.force_login(person)
        assert client.get(QUEUE).status_code == 404


def test_both_branches_stand_side_by_side_with_the_way_there(client, expert, project):
    deep = Question("Here?", Question("Which?", YES, YES), YES)
    grow(project, Question("Over 18?", deep, NO))
    said = reads(client.get(QUEUE))
    assert "First question: Can I? Over 18? Yes Here? Same answer on both sides." in said
    assert "Yes (1) Which? YES = Yes NO = Yes No = Yes Asked " in said
    assert "Take out and annotate anew P 5 nodes go; the branch is open work again" in said


def test_an_earlier_question_is_shown_beside_the_one_that_repeats_it(client, expert, project):
    grow(project, TWICE)
    grow(project, NEAR)
    look_for_near_questions(Tree.objects.all(), now=timezone.now())
    assert "Before: Here? Yes" in reads(client.get(QUEUE, {"kind": "asked twice"}))
    assert "Before: Are you over 18? No" in reads(client.get(QUEUE, {"kind": "near"}))


def test_each_reason_is_counted_and_can_be_chosen(client, expert, project):
    for shape in (REDUNDANT, REDUNDANT, TWICE):
        grow(project, shape)
    said = reads(client.get(QUEUE))
    assert "All Same answer on both sides 2 Asked before on its path 1" in said
    assert shown(client, kind="asked twice") == "here"
    assert shown(client, kind="near") == ""
    assert shown(client, kind="x") == "Needless?"


@pytest.mark.parametrize("after", ["", "x", "-1", "\0", "9" * 99, "²"])
def test_a_place_in_the_queue_that_makes_no_sense_is_its_beginning(client, expert, project, after):
    grow(project)
    assert shown(client, after=after) == "Needless?"


def test_later_goes_to_the_next_and_round_to_the_first(client, expert, project):
    one, other = grow(project), grow(project, TWICE)
    first, second = one.flags.get(), other.flags.get()
    assert shown(client, after=first.pk) == "here"
    assert shown(client, after=second.pk) == "Needless?"


@pytest.mark.parametrize(
    ("decision", "reason", "state", "said"),
    [
        ("prune", "", "pruned", "Taken out: the branch is open for new work."),
        ("Yes", "", "settled", "Settled with Yes."),
        ("No", "Line 2.", "settled", "Settled with No."),
        ("keep", "It is asked.", "kept", "Kept, with your reason."),
    ],
)
def test_what_is_decided_is_done_and_the_next_one_comes(
    client, expert, project, decision, reason, state, said
):
    tree = grow(project)
    grow(project, TWICE)
    response = decide(client, flag_on(tree, "Needless?"), decision, reason=reason)
    assert said in reads(response)
    assert response.context["shown"].flag.node.text == "here"
    assert flags(tree)[0] == ("Needless?", "one answer", state)
    if decision in {"Yes", "No"}:
        assert leaf(tree, "y").answer == decision


def test_the_next_one_is_of_the_same_reason(client, expert, project):
    one, _, other = grow(project), grow(project, TWICE), grow(project)
    response = decide(client, flag_on(one, "Needless?"), "prune", kind="one answer")
    assert response.context["shown"].flag.tree == other


@pytest.mark.parametrize(
    ("data", "refusal"),
    [
        ({}, "Choose what becomes of it."),
        ({"decision": "burn"}, "burn is not one of the available choices"),
        ({"decision": "keep"}, "Say why it stays; nobody is asked about it again."),
        ({"decision": "keep", "reason": "\u3000"}, "Say why it stays"),
        ({"decision": "prune", "reason": "x" * 501}, "at most 500 characters"),
    ],
)
def test_a_decision_that_is_none_comes_back_with_what_was_typed(
    client, expert, project, data, refusal
):
    flag = flag_on(grow(project), "Needless?")
    address = reverse("trees:decide", args=["bikes", flag.pk])
    response = client.post(address, {"seen": "x", **data})
    assert refusal in reads(response)
    assert response.context["form"]["seen"].value() == fingerprint_of(flag.node)
    flag.refresh_from_db()
    assert flag.state == "open"


def test_of_two_experts_the_second_reads_that_it_is_settled(client, expert, project):
    tree = grow(project)
    grow(project, TWICE)
    flag = flag_on(tree, "Needless?")
    keep(flag, seen="", expert=make_user(), reason="It is asked.", now=timezone.now())
    for data in ({"reason": ""}, {"seen": ""}):
        response = decide(client, flag, "prune", **data)
        assert "“Needless?”: Somebody has settled this already" in reads(response)
        assert response.context["shown"].flag.node.text == "here"
    assert not Cut.objects.exists()


def test_what_has_changed_is_shown_again(client, expert, project):
    tree = grow(project)
    response = decide(client, flag_on(tree, "Needless?"), "prune", seen="another")
    assert "This part of the tree has changed since the page was opened." in reads(response)
    assert response.context["shown"].flag.tree == tree
    assert not Cut.objects.exists()


def test_an_empty_queue_says_what_it_is_for(client, expert, project):
    said = reads(client.get(QUEUE))
    assert "Nothing waits for you When a tree is finished" in said
    grow(project)
    said = reads(client.get(QUEUE, {"kind": "near"}))
    assert "No question is marked so any more. Show the others." in said


def test_markup_in_questions_is_text(client, expert, project):
    evil = "<script>alert(1)</script>?"
    grow(project, Question(evil, Question(evil + " 2", YES, YES), YES))
    assert "<script>alert" not in client.get(QUEUE).content.decode()


def test_more_questions_take_no_more_queries(client, expert, project):
    def queries() -> int:
        grow(project)
        with CaptureQueriesContext(connection) as caught:
            assert client.get(QUEUE).status_code == 200
        return len(caught)

    first = queries()
    queries()
    assert (first, queries()) == (9, 9)


# All at once --------------------------------------------------------------------------------


def test_only_admins_prune_all(client, expert, project):
    grow(project)
    assert client.get(PRUNE_ALL).status_code == 404
    assert client.post(PRUNE_ALL, {"last": 9}).status_code == 404
    assert "Prune all" not in reads(client.get(QUEUE))


def test_an_admin_sees_what_goes_before_it_goes(client, project):
    client.force_login(make_member(project, Role.ADMIN))
    trees = [grow(project), grow(project)]
    assert "Prune all redundant questions…" in reads(client.get(QUEUE))
    response = client.get(PRUNE_ALL)
    assert (
        "Trees that grow again 2 Redundant questions 2 Nodes in all 6 "
        "Work in people’s hands that ends 0 Take out 2 questions" in reads(response)
    )
    later = grow(project)
    response = client.post(PRUNE_ALL, {"last": response.context["preview"].last})
    job = Job.objects.get(kind="pruning")
    assert response.headers["Location"] == job.get_absolute_url()
    prune_redundant(job.pk)
    assert [flags(tree)[0][2] for tree in (*trees, later)] == ["pruned", "pruned", "open"]
    assert "2 redundant questions of 2 trees were taken out, 6 nodes in all." in reads(
        client.get(job.get_absolute_url())
    )


@pytest.mark.parametrize("last", ["", "x", "-1"])
def test_a_confirmation_without_a_preview_does_nothing(client, project, last):
    client.force_login(make_member(project, Role.ADMIN))
    grow(project)
    assert "What goes" in reads(client.post(PRUNE_ALL, {"last": last}))
    assert not Job.objects.exists()


def test_where_nothing_is_redundant_nothing_is_offered(client, project):
    client.force_login(make_member(project, Role.ADMIN))
    assert "No question of this project is redundant now." in reads(client.get(PRUNE_ALL))
