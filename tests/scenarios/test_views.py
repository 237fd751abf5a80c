"""The list of utterances and one utterance's page; for experts and admins only."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.projects.models import Role
from apps.scenarios.models import NegativeQuestion, Utterance
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question
from apps.trees.models import Tree
from tests.factories import (
    make_document,
    make_member,
    make_project,
    make_question,
    make_scenario,
    make_snippet,
    make_tree,
    make_user,
    make_utterance,
)
from tests.pages import words_of_main

pytestmark = pytest.mark.django_db

YES, NO = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
TREE = Question("Over 18?", yes=Question("Here?", YES, OpenBranch()), no=NO)
LIST = reverse("scenarios:utterances", args=["bikes"])
Kind, Origin = Utterance.Kind, Utterance.Origin


def turn(question: str, answer: str) -> dict[str, str]:
    return {"follow_up_question": question, "follow_up_answer": answer}


@pytest.fixture
def project():
    return make_project("bikes")


@pytest.fixture
def tree(project) -> Tree:
    return make_tree(project, TREE)


@pytest.fixture
def expert(client, project):
    user = make_member(project, Role.EXPERT)
    client.force_login(user)
    return user


def found(client, **filters) -> set[str]:
    """The scenarios of the utterances on the page."""
    response = client.get(LIST, filters)
    assert response.status_code == 200
    return {utterance.scenario for utterance in response.context["page"]}


def say(tree: Tree, scenario: str, answer: str = "Yes", **fields) -> Utterance:
    return make_utterance(tree, answer, **{"scenario": scenario, "kind": Kind.SCENARIO, **fields})


def page_of(client, utterance: Utterance) -> str:
    response = client.get(utterance.get_absolute_url())
    assert response.status_code == 200
    content: str = response.content.decode()
    return content


# The list --------------------------------------------------------------------------------------


def test_strangers_and_workers_find_no_list(client, project):
    assert client.get(LIST).headers["Location"] == f"{reverse('accounts:login')}?next={LIST}"
    for person in (make_user(), make_member(project, Role.WORKER)):
        client.force_login(person)
        assert client.get(LIST).status_code == 404


def test_it_shows_only_this_project_in_the_order_of_the_export(client, expert, tree):
    elsewhere = make_project()
    make_member(elsewhere, Role.EXPERT, expert)
    say(make_tree(elsewhere, TREE), "elsewhere")
    for digit in "cab":
        say(tree, digit, utterance_id=digit * 40)
    response = client.get(LIST)
    assert [one.scenario for one in response.context["page"]] == ["a", "b", "c"]


def test_filters_by_what_an_utterance_is(client, expert, project, tree):
    train = make_document(project, split="train")
    other = make_tree(project, TREE, question=make_question(make_snippet(train)))
    say(tree, "a", "Yes", origin=Origin.HAND)
    say(tree, "b", "No", kind=Kind.NEGATIVE_SCENARIO)
    say(other, "c", "Here?")
    assert found(client, answer="yes") == {"a"}
    assert found(client, answer="more") == {"c"}
    assert found(client, origin="hand") == {"a"}
    assert found(client, kind="negative_scenario") == {"b"}
    assert found(client, split="train") == {"c"}
    assert found(client, split="none") == set()
    assert found(client, tree=tree.tree_id) == {"a", "b"}
    assert found(client, split="dev", answer="no") == {"b"}


def test_filter_by_node_and_by_tree(client, expert, tree):
    here = tree.nodes.get(text="Here?")
    say(tree, "at the root")
    say(tree, "here", node=here)
    assert found(client, node=here.pk) == {"here"}
    content = client.get(LIST, {"tree": tree.tree_id, "node": here.pk}).content.decode()
    assert "Only one node of the tree Can I? · Show all trees" in words_of_main(content)
    assert f'<input type="hidden" name="node" value="{here.pk}" id="id_node">' in content


@pytest.mark.parametrize(
    ("text", "scenarios"),
    [
        ("ride", {"I ride a bike."}),
        ("here?", {"b"}),
        ("may i", {"b"}),
        ("ABCDEF", {"c"}),
        ("bcdef", set()),
        ("%", set()),
        ("_", set()),
    ],
)
def test_search_looks_at_question_scenario_answer_and_the_start_of_the_id(
    client, expert, tree, text, scenarios
):
    say(tree, "I ride a bike.", utterance_id="0" * 40)
    say(tree, "b", "Here?", question="May I?", utterance_id="1" * 40)
    say(tree, "c", utterance_id="abcdef" + "2" * 34)
    assert found(client, q=text) == scenarios


@pytest.mark.parametrize(
    "query",
    [
        {"split": "x"},
        {"answer": "MORE"},
        {"kind": "\0"},
        {"origin": "x"},
        {"q": "\0"},
        {"q": "x" * 201},
        {"tree": "\0"},
        {"tree": "0" * 40},
        {"node": "x"},
        {"node": "-1"},
        {"node": str(2**63)},
        {"page": "abc"},
        {"page": "99999999999999999999999"},
    ],
)
def test_a_filter_that_makes_no_sense_filters_nothing(client, expert, tree, query):
    say(tree, "a")
    assert found(client, **query) == {"a"}


def test_an_unknown_node_has_no_utterances(client, expert, tree):
    say(tree, "a")
    assert found(client, node=2**63 - 1) == set()


def test_another_projects_tree_is_not_named(client, expert, tree):
    secret = make_tree(make_project(), TREE)
    response = client.get(LIST, {"tree": secret.tree_id})
    assert response.context["form"].cleaned_data.get("tree") is None
    assert "Only the tree" not in words_of_main(response.content.decode())


def test_pages_have_25_rows_and_keep_the_filter(client, expert, tree):
    for number in range(26):
        say(tree, f"{number:02}", utterance_id=f"{number:040x}")
    assert len(found(client, answer="yes")) == 25
    assert found(client, answer="yes", page="2") == {"25"}
    assert found(client, answer="yes", page="77") == {"25"}
    assert "?answer=yes&amp;page=2" in client.get(LIST, {"answer": "yes"}).content.decode()


def test_htmx_gets_the_results_alone(client, expert, tree):
    say(tree, "a")
    page = client.get(LIST).content.decode()
    response = client.get(LIST, headers={"HX-Request": "true", "HX-Target": "results"})
    assert response.content.decode().startswith('<section id="results"')
    assert response.content.decode().strip() in page
    assert response.headers["Vary"] == "HX-Target, Cookie"


def test_an_empty_list_says_what_to_do(client, expert, tree):
    assert "There are no utterances in this project yet." in words_of_main(
        client.get(LIST).content.decode()
    )
    assert "No utterance fits this search" in words_of_main(
        client.get(LIST, {"q": "z"}).content.decode()
    )


def test_one_row_and_three_take_the_same_queries(client, expert, project, tree):
    filters = {"q": "a", "split": "dev", "answer": "yes", "tree": tree.tree_id}

    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            assert len(client.get(LIST, filters).context["page"]) in {1, 3}
        return len(caught)

    say(tree, "a")
    at_one_row = queries()
    say(tree, "aa")
    say(tree, "aaa")
    assert (at_one_row, queries()) == (9, 9)


# One utterance ------------------------------------------------------------------------------------


def test_strangers_and_workers_find_no_utterance(client, project, tree):
    address = say(tree, "a").get_absolute_url()
    assert client.get(address).status_code == 302
    for person in (make_user(), make_member(project, Role.WORKER)):
        client.force_login(person)
        assert client.get(address).status_code == 404


def test_an_utterance_is_found_only_inside_its_own_project(client, expert, project):
    other = make_project("other")
    make_member(other, Role.EXPERT, expert)
    utterance = say(make_tree(other, TREE), "a")
    assert client.get(utterance.get_absolute_url()).status_code == 200
    assert client.get(f"/p/bikes/utterances/{utterance.utterance_id}/").status_code == 404
    for unknown in ("x", "0" * 40, "%00"):
        assert client.get(f"/p/bikes/utterances/{unknown}/").status_code == 404


def test_it_is_shown_as_a_model_reads_it_and_then_the_answer(client, expert, tree):
    utterance = say(
        tree, "I live nearby.", node=tree.nodes.get(text="Here?"),
        history=[turn("Over 18?", "Yes")], evidence=[turn("Here?", "Yes")],
    )  # fmt: skip
    content = page_of(client, utterance)
    assert (
        "What a model reads Question Can I? Scenario I live nearby. History Over 18? Yes "
        "What it should answer Yes Evidence Here? Yes Where it comes from"
    ) in words_of_main(content)
    assert "does not follow" not in content
    assert f'{tree.get_absolute_url()}?node={utterance.node_id}"' in content


@pytest.mark.parametrize(
    ("fields", "answer", "finding"),
    [
        (
            {"history": [turn("Over 21?", "Yes")]}, "Yes",
            "It has a question that its tree does not ask. The tree goes on with: “Over 18?”",
        ),
        (
            {"history": [turn("Over 18?", "No")]}, "Yes",
            "Its turns contradict each other, or the tree ends in another final answer. "
            "The tree goes on with: No",
        ),
        (
            {"evidence": [turn("Over 18?", "Yes")]}, "Over 18?",
            "It asks what its history or its evidence has already answered. "
            "The tree goes on with: “Here?”",
        ),
        (
            {}, "Yes",
            "It passes over a question that the tree still asks. "
            "The tree goes on with: “Over 18?”",
        ),
        (
            {"history": [turn("Over 18?", "Yes"), turn("Here?", "No")]}, "No",
            "The tree goes no further here yet.",
        ),
    ],
)  # fmt: skip
def test_an_answer_that_does_not_follow_is_told_in_words(
    client, expert, tree, fields, answer, finding
):
    content = words_of_main(page_of(client, say(tree, "a", answer, **fields)))
    assert f"The answer does not follow from the tree. {finding} Rule text" in content


def test_an_irrelevant_question_leads_to_its_own_tree(client, expert, project, tree):
    other = make_tree(project, TREE)
    negative = NegativeQuestion.objects.create(tree=tree, source=other.question, text="May I?")
    utterance = make_utterance(
        tree, "Irrelevant", kind=Kind.NEGATIVE_QUESTION, question="May I?",
        negative_question=negative,
    )  # fmt: skip
    content = page_of(client, utterance)
    assert f'Belongs to <a href="{other.get_absolute_url()}">another tree</a>' in content
    assert "does not follow" not in content


def test_an_irrelevant_question_from_elsewhere_has_no_link(client, expert, project, tree):
    negative = NegativeQuestion.objects.create(tree=tree, text="May I?")
    utterance = make_utterance(
        tree, "Irrelevant", kind=Kind.NEGATIVE_QUESTION, question="May I?",
        negative_question=negative,
    )  # fmt: skip
    assert "Belongs to a tree that is not in this project" in words_of_main(
        page_of(client, utterance)
    )


def test_origin_provenance_and_the_record_as_it_came(client, expert, tree):
    utterance = say(tree, "a", origin=Origin.HAND, created_by=expert, as_imported='{"answer": 1}')
    content = words_of_main(page_of(client, utterance))
    assert "Origin By hand: expanding the tree leaves it as it is." in content
    assert re.search(rf"Provenance Written by {expert}, .* UTC, by hand on a page\.", content)
    assert 'The record as it came {"answer": 1}' in content


def test_an_utterance_without_a_node_says_so(client, expert, tree):
    content = words_of_main(page_of(client, say(tree, "a", node=None)))
    assert "Its tree; the tree has no node with this history" in content


def test_markup_in_texts_is_text(client, expert, tree):
    evil = "<script>alert(1)</script>"
    utterance = say(tree, evil, question=evil, as_imported=evil, history=[turn(evil, "Yes")])
    assert "<script>alert" not in page_of(client, utterance)
    assert "<script>alert" not in client.get(LIST).content.decode()


def test_the_queries_do_not_grow_with_the_tree(client, expert, project, tree):
    make_scenario(tree)
    leaf = make_tree(project, YES)
    small, large = make_utterance(leaf), say(tree, "a")
    counts = []
    for utterance in (small, large):
        with CaptureQueriesContext(connection) as caught:
            page_of(client, utterance)
        counts.append(len(caught))
    assert counts == [8, 8]
