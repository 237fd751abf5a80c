"""The list of trees: filters, search, pages; for experts and admins only."""

import itertools

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.projects.models import Role
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question
from apps.trees.forms import LOGIC
from apps.trees.models import Flag, Tree
from apps.trees.services.derived import refresh
from tests.factories import (
    make_document,
    make_member,
    make_project,
    make_question,
    make_snippet,
    make_tree,
    make_user,
    make_utterance,
)

pytestmark = pytest.mark.django_db

YES, NO = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
ADULT = Question("Are you over 18?", YES, NO)
RULES = itertools.count()
LIST = reverse("trees:list", args=["bikes"])


@pytest.fixture
def project():
    return make_project("bikes")


@pytest.fixture
def expert(client, project):
    user = make_member(project, Role.EXPERT)
    client.force_login(user)
    return user


def plant(project, shape=ADULT, *, question="Can I?", rule="", **document) -> Tree:
    snippet = make_snippet(make_document(project, **document), text=rule or f"# Bike {next(RULES)}")
    return make_tree(project, shape, question=make_question(snippet, text=question))


def planted(project, shape, **fields) -> Tree:
    """With its flags and its logic."""
    tree = plant(project, shape, **fields)
    refresh(tree, actor=None, now=timezone.now())
    return tree


def found(client, **filters) -> list[str]:
    """The questions of the trees on the page, in order."""
    response = client.get(LIST, filters)
    assert response.status_code == 200
    return [tree.question.text for tree in response.context["page"]]


def test_strangers_and_workers_find_no_list(client, project):
    assert client.get(LIST).headers["Location"] == f"{reverse('accounts:login')}?next={LIST}"
    for person in (make_user(), make_member(project, Role.WORKER)):
        client.force_login(person)
        assert client.get(LIST).status_code == 404


def test_it_shows_only_the_trees_of_this_project_oldest_first(client, expert, project):
    other = make_project()
    make_member(other, Role.EXPERT, expert)
    plant(project, question="First?")
    plant(other, question="Elsewhere?")
    plant(project, question="Second?")
    assert found(client) == ["First?", "Second?"]


def test_a_tree_is_counted_without_what_was_taken_out(client, expert, project):
    tree = plant(project, Question("Here?", ADULT, NO))
    tree.nodes.filter(text="Are you over 18?").get().children.update(taken_out_at=timezone.now())
    tree.nodes.filter(text="Are you over 18?").update(taken_out_at=timezone.now())
    make_utterance(tree)
    make_utterance(tree)
    (row,) = client.get(LIST).context["page"]
    assert (row.question_count, row.utterance_count) == (1, 2)


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("lend me", ["May I?"]),
        ("may", ["May I?"]),
        ("OVER 18", ["Can I?"]),
        ("taken out", []),
        ("100%", []),
        ("雨水", ["雨水?"]),
        ("zzz", []),
    ],
)
def test_search_looks_at_rule_question_and_live_follow_up_questions(
    client, expert, project, text, questions
):
    plant(project, question="Can I?")
    plant(project, OpenBranch(), question="May I?", rule="They lend me a bike.")
    tree = plant(project, Question("Was it taken out?", YES, NO), question="雨水?")
    tree.nodes.update(taken_out_at=timezone.now())
    assert found(client, q=text) == questions


def test_filters_join(client, expert, project):
    plant(project, question="Finished, dev?", domain="a.example")
    plant(project, OpenBranch(), question="Growing, dev?", domain="a.example")
    plant(project, question="No split?", domain="b.example", split="")
    assert found(client, state="growing") == ["Growing, dev?"]
    assert found(client, domain="a.example") == ["Finished, dev?", "Growing, dev?"]
    assert found(client, split="none") == ["No split?"]
    assert found(client, split="dev", state="finished") == ["Finished, dev?"]


@pytest.mark.parametrize(
    ("mark", "questions"),
    [
        ("to_settle", ["Needless?", "Twice?", "Nested?"]),
        ("one answer", ["Needless?"]),
        ("same branches", ["Nested?"]),
        ("asked twice", ["Twice?"]),
        ("near", []),
        ("disputed", ["Matters?"]),
    ],
)
def test_trees_that_an_expert_has_to_look_at(client, expert, project, mark, questions):
    matters = planted(project, ADULT, question="Matters?")
    planted(project, Question("Deep?", NO, Question("Which?", YES, YES)), question="Needless?")
    planted(project, Question("A?", Question("a", YES, NO), NO), question="Twice?")
    planted(project, Question("B?", ADULT, ADULT), question="Nested?")
    planted(project, Question("Open?", YES, OpenBranch()), question="Not yet known?")
    matters.nodes.filter(parent=None).update(disputed_at=timezone.now())
    assert found(client, marked=mark) == questions


def test_what_an_expert_kept_waits_no_more(client, expert, project):
    planted(project, Question("Which?", YES, YES))
    Flag.objects.update(state="kept", reason="It is asked.")
    assert found(client, marked="to_settle") == []


def test_one_tree_and_its_logic_are_told_in_the_words_of_the_filter(client, expert, project):
    planted(project, Question("Here?", ADULT, NO), question="All?")
    page = client.get(LIST).content.decode()
    assert "1 in all" in page
    logics = {str(label) for _, label in LOGIC}
    assert {"AND and OR", "With a NOT"} < logics


def test_finished_trees_by_their_logic(client, expert, project):
    planted(project, ADULT, question="One?")
    planted(project, Question("Here?", ADULT, NO), question="All?")
    planted(project, Question("Which?", YES, YES), question="Always?")
    planted(project, Question("Open?", YES, OpenBranch()), question="Not yet known?")
    assert found(client, logic="one_question") == ["One?"]
    assert found(client, logic="and") == ["All?"]
    assert found(client, logic="constant") == ["Always?"]
    assert found(client, logic="or") == []


@pytest.mark.parametrize(
    "query",
    [
        {"state": "burnt"},
        {"domain": "nowhere.example"},
        {"split": "0"},
        {"marked": "x"},
        {"logic": "x"},
        {"q": "\0"},
        {"q": "x" * 201},
        {"page": "abc"},
        {"page": "99999999999999999999999"},
        {"page": "-1"},
        {"page": "\0"},
        {"unknown": "1"},
    ],
)
def test_a_filter_that_makes_no_sense_filters_nothing(client, expert, project, query):
    plant(project)
    assert found(client, **query) == ["Can I?"]


def test_the_25th_is_the_last_of_a_page(client, expert, project):
    for number in range(26):
        plant(project, OpenBranch(), question=f"{number}?")
    assert found(client)[-1] == "24?"
    assert found(client, page="2") == ["25?"]
    assert found(client, page="77") == ["25?"]


def test_htmx_gets_the_results_alone(client, expert, project):
    plant(project)
    page = client.get(LIST).content.decode()
    response = client.get(LIST, headers={"HX-Request": "true", "HX-Target": "results"})
    fragment = response.content.decode()
    assert fragment.startswith('<section id="results"')
    assert "<html" not in fragment
    assert fragment.strip() in page
    assert response.headers["Vary"] == "HX-Target, Cookie"


def test_going_back_gets_the_whole_page(client, expert, project):
    response = client.get(
        LIST, headers={"HX-Request": "true", "HX-History-Restore-Request": "true"}
    )
    assert "<html" in response.content.decode()


def test_an_empty_list_says_what_to_do(client, expert, project):
    assert "There are no trees in this project yet." in client.get(LIST).content.decode()
    plant(project)
    assert "No tree fits this search" in client.get(LIST, {"q": "zzz"}).content.decode()


def test_markup_in_a_question_is_text(client, expert, project):
    plant(project, question="<script>alert(1)</script>", rule="<img src=x onerror=alert(1)>")
    content = client.get(LIST).content.decode()
    assert "<script>alert" not in content
    assert "<img" not in content


def test_one_row_and_three_take_the_same_queries(client, expert, project):
    needless = Question("Which?", YES, YES)
    filters = {"q": "bike", "state": "finished", "split": "dev", "domain": "office.example",
               "logic": "constant", "marked": "to_settle"}  # fmt: skip

    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as caught:
            assert client.get(LIST, filters).status_code == 200
        return len(caught)

    planted(project, needless)
    at_one_row = queries()
    planted(project, needless)
    planted(project, needless)
    assert (at_one_row, queries()) == (10, 10)
