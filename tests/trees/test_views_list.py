"""The list of trees: filters, search, pages; for experts and admins only."""

import itertools

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.projects.models import Role
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question
from apps.trees.models import Tree
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


def test_trees_with_one_answer_on_both_sides(client, expert, project):
    plant(project, question="Matters?")
    plant(project, Question("Deep?", NO, Question("Which?", YES, YES)), question="Needless?")
    plant(project, Question("Open?", YES, OpenBranch()), question="Not yet known?")
    assert found(client, marked="one_answer") == ["Needless?"]


def test_a_leaf_that_was_taken_out_is_no_side(client, expert, project):
    tree = plant(project, Question("Which?", YES, YES))
    tree.nodes.filter(branch="no").update(taken_out_at=timezone.now())
    assert found(client, marked="one_answer") == []


@pytest.mark.parametrize(
    "query",
    [
        {"state": "burnt"},
        {"domain": "nowhere.example"},
        {"split": "0"},
        {"marked": "x"},
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
    filters = {"q": "bike", "state": "finished", "split": "dev", "domain": "office.example"}

    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as caught:
            assert client.get(LIST, filters).status_code == 200
        return len(caught)

    plant(project)
    at_one_row = queries()
    plant(project)
    plant(project)
    assert (at_one_row, queries()) == (9, 9)
