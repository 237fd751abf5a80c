"""A tree's history, and its comparison with another tree."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.projects.models import Project, Role
from apps.trees.domain.tree import Answer, Question
from apps.trees.models import Cut, Node, NodeCheck, Tree
from apps.trees.review_history import Event, history_of
from apps.trees.services import cuts
from apps.trees.services.edits import change_wording
from apps.trees.services.flags import keep
from apps.workers.models import Assignment, Kind
from apps.workers.services.leases import release_work
from tests.factories import (
    make_document,
    make_member,
    make_project,
    make_question,
    make_snippet,
    make_user,
)
from tests.pages import words_of_main
from tests.trees.rows import NO, OPEN, YES, flag_on, grow, leaf, node

pytestmark = pytest.mark.django_db

BEGUN = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
BOTH = Question("Over 18?", Question("Here?", YES, NO), NO)
OTHER_ORDER = Question("here", Question("over 18", YES, NO), NO)
EITHER = Question("Over 18?", YES, Question("Here?", YES, NO))


@pytest.fixture
def project():
    return make_project("bikes")


@pytest.fixture
def expert(client, project):
    user = make_member(project, Role.EXPERT, make_user("erin"))
    client.force_login(user)
    return user


def page_of(client, name: str, tree: Tree, **query) -> str:
    response = client.get(reverse(f"trees:{name}", args=["bikes", tree.tree_id]), query)
    assert response.status_code == 200
    return words_of_main(response.content.decode())


def work(project: Project, worker, key: int, kind=Kind.PATH, minutes: int = 4, **fields):
    ended = None if fields.get("state") == "leased" else BEGUN + timedelta(minutes=minutes)
    return Assignment.objects.create(**{
        "project": project, "worker": worker, "kind": kind, "work_id": key, "leased_at": BEGUN,
        "expires_at": BEGUN + timedelta(hours=1), "ended_at": ended, "state": "submitted",
        "submit_key": "k", **fields,
    })  # fmt: skip


# History ------------------------------------------------------------------------------------


def test_work_is_told_with_who_what_and_how_long(client, expert, project):
    tree, worker = grow(project, BOTH), make_member(project, Role.WORKER, make_user("wim"))
    root = node(tree, "Over 18?")
    work(project, worker, tree.pk, part="root", active_seconds=125)
    work(
        project, worker, tree.pk, part=f"{root.pk}-no", minutes=90, state="returned",
        return_reason="Too hard.",
    )  # fmt: skip
    work(project, worker, root.pk, kind=Kind.NODE_CHECK, state="leased")
    work(project, worker, tree.pk + 999, part="root")
    said = page_of(client, "history", tree)
    assert "Path of a tree: submitted from the first question on wim 1 Mar 2026, 09:04 UTC " in said
    assert " 4 min (2 min 5 s) " in said
    assert "Path of a tree: gave it back Over 18? No Too hard. wim 1 Mar 2026, 10:30 UTC" in said
    assert " 1 h 30 min" in said
    assert "Check of a turn: has it in hand Over 18? wim 1 Mar 2026, 09:00 UTC" in said
    assert said.count("Path of a tree") == 2


def test_who_took_work_back_is_told_and_not_who_had_it(client, expert, project):
    tree, worker = grow(project, BOTH), make_member(project, Role.WORKER, make_user("wim"))
    lease = work(project, worker, tree.pk, part="root", state="leased")
    release_work(lease, actor=expert, now=BEGUN + timedelta(minutes=4))
    said = page_of(client, "history", tree)
    assert (
        "Path of a tree: it was taken back from the first question on From wim: released by an "
        "admin. erin 1 Mar 2026, 09:04 UTC"
    ) in said


def test_what_experts_did_is_told_too(expert, project):
    tree = grow(project)
    moments = iter(BEGUN + timedelta(days=day) for day in range(1, 9))
    change_wording(
        node(tree, "Over 18?"), "Are you over 18?", seen="Over 18?", expert=expert,
        now=next(moments),
    )  # fmt: skip
    change_wording(
        node(tree, "Are you over 18?"), "Adult?", seen="Are you over 18?", expert=expert,
        now=next(moments),
    )  # fmt: skip
    keep(
        flag_on(tree, "Needless?"), seen="", expert=expert, reason="It is asked.",
        now=next(moments),
    )  # fmt: skip
    cut = cuts.take_out(
        leaf(tree, "n"), kind=Cut.Kind.PRUNED, actor=expert, reason="Anew.", now=next(moments)
    )
    cuts.restore(cut, actor=expert, now=next(moments))
    tree.comments.create(
        text="Good now.", author=expert, at=next(moments), node=node(tree, "Adult?")
    )
    told = [(event.what, event.about, event.reason) for event in history_of(tree)]
    assert told[1:] == [
        ("Commented", "Adult?", "Good now."),
        ("Restored a branch", "Adult? No", ""),
        ("Finished", "", ""),
        ("Took a branch out (pruned)", "Adult? No", "Anew."),
        ("Grows again", "", ""),
        ("Kept a question", "Needless?", "It is asked."),
        ("Changed a wording", "Adult?", "It was: Are you over 18?"),
        ("Changed a wording", "Are you over 18?", "It was: Over 18?"),
    ]
    assert told[0] == ("First question accepted, tree begun", "Can I?", "")


def test_a_rejection_is_told_with_its_reason(expert, project):
    tree, worker = grow(project, BOTH), make_member(project, Role.WORKER)
    NodeCheck.objects.create(
        node=node(tree, "Here?"), checker=worker, verdict="rejects", reason="unclear",
        note="Where?", at=BEGUN, assignment=work(project, worker, tree.pk, kind=Kind.SCENARIO),
    )  # fmt: skip
    told = history_of(tree)
    assert told[-1] == Event(
        BEGUN, "Rejected a turn", worker, "Here?", "It cannot be understood. Where?"
    )
    assert told[-2].what == "Scenario: submitted"


def test_more_happened_in_the_same_number_of_queries(client, expert, project):
    tree, worker = grow(project, BOTH), make_member(project, Role.WORKER)

    def queries() -> int:
        for number in range(3):
            tree.comments.create(text="Hm.", author=make_user())
            work(project, worker, tree.pk, part=f"{number}-yes", round=Assignment.objects.count())
        with CaptureQueriesContext(connection) as caught:
            page_of(client, "history", tree)
        return len(caught)

    assert (queries(), queries()) == (15, 15)


# Comparison ---------------------------------------------------------------------------------


def test_asking_in_another_order_is_agreement(client, expert, project):
    one, other = grow(project, BOTH), grow(project, OTHER_ORDER)
    said = page_of(client, "compare", one, other=other.tree_id)
    assert "They are equal." in said
    assert "This tree Can I? All of several questions Yes, if Over 18? and Here?" in said


def test_trees_that_differ_say_where(client, expert, project):
    one, other = grow(project, BOTH), grow(project, EITHER)
    said = page_of(client, "compare", one, other=other.tree_id)
    assert (
        "They differ. Whatever else is answered, after Over 18? Yes Here? No "
        "this tree says No and the other says Yes ." in said
    )


def test_two_constants_differ_whatever_is_answered(client, expert, project):
    said = page_of(client, "compare", grow(project, YES), other=grow(project, NO).tree_id)
    assert "They differ. Whatever is answered this tree says Yes and the other says No ." in said


def test_others_are_offered_those_on_the_same_rule_text_first(client, expert, project):
    document = make_document(project)
    rule = make_snippet(document)
    mine = make_question(rule, text="Mine?")
    texts = ("Far?", "Same document?", "Same rule?")
    snippets = (
        make_snippet(make_document(project)), make_snippet(document),
        make_snippet(make_document(project), text=rule.text),
    )  # fmt: skip
    for text, snippet in zip(texts, snippets, strict=True):
        grow(project, BOTH, question=make_question(snippet, text=text))
    grow(project, Question("Growing?", OPEN, NO))
    grow(make_project(), BOTH)
    tree = grow(project, BOTH, question=mine)
    said = page_of(client, "compare", tree)
    assert "Choose the other tree" in said
    assert "Growing?" not in said
    assert said.index("Same rule?") < said.index("Same document?") < said.index("Far?")
    assert "same rule text · all of several questions" in said
    found = page_of(client, "compare", tree, q="far")
    assert ("Far?" in found, "Same rule?" in found) == (True, False)
    assert "No other finished tree says this." in page_of(client, "compare", tree, q="zzz")


@pytest.mark.parametrize("other", ["", "x", "\0", "0" * 40, "9" * 999])
def test_another_tree_that_is_none_is_not_compared(client, expert, project, other):
    assert "They" not in page_of(client, "compare", grow(project, BOTH), other=other)


def test_a_tree_of_another_project_is_not_compared(client, expert, project):
    elsewhere = make_project()
    make_member(elsewhere, Role.EXPERT, expert)
    other = grow(elsewhere, EITHER)
    assert "They" not in page_of(client, "compare", grow(project, BOTH), other=other.tree_id)


def test_a_growing_tree_is_compared_later(client, expert, project):
    growing, other = grow(project, Question("Growing?", OPEN, NO)), grow(project, BOTH)
    said = page_of(client, "compare", growing, other=other.tree_id)
    assert "This tree still grows." in said


def test_strangers_find_neither(client, project):
    tree = grow(project, BOTH)
    for person in (make_user(), make_member(project, Role.WORKER)):
        client.force_login(person)
        for name in ("history", "compare"):
            address = reverse(f"trees:{name}", args=["bikes", tree.tree_id])
            assert client.get(address).status_code == 404


def test_an_answer_in_the_place_of_a_question_is_told_as_settled(expert, project):
    tree = grow(project)
    cuts.put_answer(
        node(tree, "Needless?"), Answer.NO, actor=expert, reason="Line 2.", now=timezone.now()
    )
    told = [event.what for event in history_of(tree)]
    assert "Took a branch out (settled)" in told
    assert Node.objects.live().filter(tree=tree).count() == 3
