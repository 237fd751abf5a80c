"""The tree page: rule text, the tree in words and as a drawing, the panel of a node."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.template.loader import render_to_string
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Role
from apps.projects.services.jobs import start_job_here
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question, Turn
from apps.trees.models import Cut, Node, Tree
from apps.trees.services.cuts import take_out
from apps.workers.models import Assignment
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
from tests.pages import words
from tests.strategies import full_tree
from tests.trees.rows import grow

pytestmark = pytest.mark.django_db

YES, NO = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
GROWING = Question("Over 18?", yes=Question("Here?", YES, OpenBranch()), no=NO)


@pytest.fixture
def project():
    return make_project("bikes")


@pytest.fixture
def expert(client, project):
    user = make_member(project, Role.EXPERT, make_user("erin"))
    client.force_login(user)
    return user


def address(tree: Tree) -> str:
    return reverse("trees:detail", args=[tree.project.slug, tree.tree_id])


def page_of(client, tree: Tree, **query) -> str:
    response = client.get(address(tree), query)
    assert response.status_code == 200
    content: str = response.content.decode()
    return content


def panel_of(client, tree: Tree, node: object) -> str:
    """The words of a node's panel."""
    headers = {"HX-Request": "true", "HX-Target": "node-panel"}
    response = client.get(address(tree), {"node": str(node)}, headers=headers)
    assert response.status_code == 200
    return words(response.content.decode())


def facts_of(client, tree: Tree, node: object) -> str:
    """The panel's title, then what it says below the forms."""
    panel = panel_of(client, tree, node)
    title = re.split(r" (?:Change the|Give this branch)", panel, maxsplit=1)[0]
    return f"{title} {panel[panel.index('History ') :]}"


def node(tree: Tree, **fields) -> Node:
    return tree.nodes.get(**fields)


def outline(content: str) -> list[tuple[str, str, str, str]]:
    """Level, expanded, number in its group, and words of each tree item."""
    items = re.findall(r'<a role="treeitem"(.*?)>(.*?)</a>', content, re.DOTALL)

    def attribute(name: str, tag: str) -> str:
        match = re.search(rf'{name}="(.*?)"', tag)
        return match[1] if match else ""

    return [
        (
            attribute("aria-level", tag),
            attribute("aria-expanded", tag),
            attribute("aria-posinset", tag),
            words(text),
        )
        for tag, text in items
    ]


def test_strangers_and_workers_find_no_tree(client, project):
    tree = make_tree(project, GROWING)
    assert client.get(address(tree)).status_code == 302
    for person in (make_user(), make_member(project, Role.WORKER)):
        client.force_login(person)
        assert client.get(address(tree)).status_code == 404


def test_a_tree_is_found_only_inside_its_own_project(client, expert, project):
    other = make_project("other")
    make_member(other, Role.EXPERT, expert)
    tree = make_tree(other, GROWING)
    assert client.get(address(tree)).status_code == 200
    assert client.get(f"/p/bikes/trees/{tree.tree_id}/").status_code == 404


@pytest.mark.parametrize("tree_id", ["x", "0" * 40, "%00", "a" * 500])
def test_an_unknown_tree_is_not_found(client, expert, project, tree_id):
    assert client.get(f"/p/bikes/trees/{tree_id}/").status_code == 404


def test_the_outline_says_the_whole_tree_in_words(client, expert, project):
    content = page_of(client, make_tree(project, GROWING))
    assert outline(content) == [
        ("1", "true", "1", "(1) Over 18?"),
        ("2", "true", "1", "YES (2) Here?"),
        ("3", "", "1", "YES = Yes"),
        ("3", "", "2", "NO open"),
        ("2", "", "2", "NO = No"),
    ]
    assert content.count('<ul role="group"') == 2
    assert content.count("<ul") == content.count("</ul>")
    assert len(re.findall(r"<li[ >]", content)) == content.count("</li>")


def test_the_drawing_is_the_outlines_twin(client, expert, project):
    content = page_of(client, make_tree(project, GROWING))
    assert re.findall(r'data-box="(.*?)"', content) == re.findall(r'data-slot="(.*?)"', content)
    drawn = re.findall(r"<text[^>]*>(YES|NO)</text>", content)
    assert drawn == ["YES", "YES", "NO", "NO"]


def test_a_tree_that_nobody_began_is_one_open_branch(client, expert, project):
    tree = make_tree(project, None)
    assert outline(page_of(client, tree)) == [("1", "", "1", "open")]
    assert "nobody has begun this tree" in panel_of(client, tree, "root")


def test_redundant_questions_are_marked_once_with_words(client, expert, project):
    same = Question("Needless?", Question("Both?", YES, YES), YES)
    content = page_of(client, grow(project, Question("Over 18?", same, NO)))
    assert [text for *_, text in outline(content) if "!" in text] == [
        "YES (2) Needless? ! same answer on both sides"
    ]
    assert "1 question to settle" in words(content)


def test_branches_that_go_on_in_the_same_way_are_marked(client, expert, project):
    same = Question("Here?", YES, NO)
    tree = grow(project, Question("Over 18?", same, Question("here", YES, NO)))
    flags = [text for *_, text in outline(page_of(client, tree)) if "!" in text]
    assert flags == ["(1) Over 18? ! both sides go on in the same way"]


@pytest.mark.parametrize(("depth", "folded"), [(5, False), (6, True)])
def test_a_large_tree_opens_folded(client, expert, project, depth, folded):
    content = page_of(client, make_tree(project, full_tree(depth)))
    assert ("data-opens-folded" in content) is folded
    assert len(outline(content)) == 2 ** (depth + 1) - 1


def test_spans_are_marked_in_code_points(client, expert, project):
    rule = "# 👩\u200d👧 é\n\nYou can if you are over 18 & live here."
    snippet = make_snippet(make_document(project), text=rule)
    tree = make_tree(project, GROWING, question=make_question(snippet))
    start = rule.index("over 18 & live")
    tree.nodes.filter(text="Over 18?").update(span_start=start, span_end=start + 14)
    slot = node(tree, text="Over 18?").pk
    marked = f'<mark class="source" data-slots="{slot}">over 18 &amp; live</mark> here.'
    assert marked in page_of(client, tree)


def test_arabic_keeps_its_direction(client, expert, project):
    tree = make_tree(project, Question("هل عمرك فوق 18 سنة؟", YES, NO))
    content = page_of(client, tree)
    assert '<text direction="rtl">' in content
    assert '<div class="rule-text" dir="auto"' in content


def test_without_scripts_the_panel_comes_by_link(client, expert, project):
    tree = make_tree(project, GROWING)
    here = node(tree, text="Here?")
    content = page_of(client, tree, node=here.pk)
    assert f'href="?node={here.pk}"' in content
    assert re.findall(r'data-slot="(\d+)"[^>]*aria-selected="true"', content) == [str(here.pk)]
    assert "History Over 18? Yes Answers" in words(content)


@pytest.mark.parametrize("asked", ["", "x", "\0", "99999999999999999999", "-1", "1-yes"])
def test_an_unknown_node_shows_the_root(client, expert, project, asked):
    tree = make_tree(project, GROWING)
    assert facts_of(client, tree, asked).startswith("(1) Over 18? History None")


def test_the_panel_of_a_question(client, expert, project):
    tree = make_tree(project, GROWING)
    tree.nodes.filter(text="Here?").update(created_by=expert)
    panel = facts_of(client, tree, node(tree, text="Here?").pk)
    assert panel.startswith(
        "(2) Here? History Over 18? Yes Answers Yes = Yes No open Provenance Written by erin, "
    )
    assert " UTC, by hand on a page. Scenarios through it 0 " in panel


def test_provenance_says_how_long_an_assignment_took():
    begun = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
    row = Node(
        created_at=begun + timedelta(minutes=4),
        created_by=User(username="writer"),
        assignment=Assignment(leased_at=begun, ended_at=begun + timedelta(minutes=4)),
    )
    assert words(render_to_string("trees/_provenance.html", {"row": row})) == (
        "Written by writer, 1 Mar 2026, 09:04 UTC, in an assignment of 4 minutes."
    )


def test_the_panel_of_an_open_branch(client, expert, project):
    tree = make_tree(project, GROWING)
    assert facts_of(client, tree, f"{node(tree, text='Here?').pk}-no") == (
        "Open branch History Over 18? Yes Here? No "
        "Provenance Nobody has continued this branch yet. "
        "Scenarios through it 0 No scenario with facts leads through here. "
        "Utterances of this node 0 An open branch gives no utterance."
    )


def test_the_panel_of_a_branch_whose_turns_were_taken_out(client, expert, project):
    tree = make_tree(project, GROWING)
    root = node(tree, text="Over 18?")
    take_out(root, kind=Cut.Kind.PRUNED, actor=expert, reason="", now=timezone.now())
    said = facts_of(client, tree, "root")
    assert "None: what began this tree was taken out." in said
    assert "What stood here was taken out; nobody has continued this branch since." in said


def test_only_admins_get_the_link_to_the_job(client, expert, project):
    tree = make_tree(project, GROWING)
    job = start_job_here(project, kind="import_sharc", parameters={}, created_by=None)
    tree.nodes.update(job=job)
    link = reverse("projects:job", args=["bikes", job.pk])
    assert "Made by the job" in words(page_of(client, tree))
    assert link not in page_of(client, tree)
    client.force_login(make_member(project, Role.ADMIN))
    assert link in page_of(client, tree)


def test_scenarios_with_facts_through_a_node(client, expert, project):
    tree = make_tree(project, GROWING)
    make_scenario(tree, "I am grown up.", Turn("over 18", Answer.YES))
    make_scenario(tree, "I am a child.", Turn("Over 18?", Answer.NO))
    make_scenario(tree, "I live nearby.", Turn("Here?", Answer.YES))
    make_scenario(tree, "I say nothing.")

    def through(**fields) -> list[str]:
        response = client.get(address(tree), {"node": str(node(tree, **fields).pk)})
        return [scenario.text for scenario in response.context["scenarios"]]

    assert through(text="Over 18?") == ["I am grown up.", "I am a child.", "I live nearby."]
    assert through(text="Here?") == ["I am grown up.", "I live nearby."]
    assert through(branch="no") == ["I am a child."]


def test_utterances_of_a_node_are_counted_and_ten_are_shown(client, expert, project):
    tree = make_tree(project, GROWING)
    here = node(tree, text="Here?")
    for number in range(12):
        make_utterance(
            tree, "Yes", node=here, kind="scenario", scenario=f"Situation {number}.",
            evidence=[{"follow_up_question": "Here?", "follow_up_answer": "Yes"}],
        )  # fmt: skip
    make_utterance(tree, "Over 18?")
    panel = panel_of(client, tree, here.pk)
    assert panel.count("Situation") == 10
    assert panel.count("Evidence Here? Yes") == 10
    assert panel.endswith("All 12 utterances of this node")
    link = (
        f"{reverse('scenarios:utterances', args=['bikes'])}?tree={tree.tree_id}&amp;node={here.pk}"
    )
    assert link in page_of(client, tree, node=here.pk)


def test_taken_out_nodes_are_listed_with_who_why_and_when(client, expert, project):
    tree = make_tree(project, GROWING)
    leaf = tree.nodes.filter(branch="no", kind="answer")
    now = timezone.now()
    cut = tree.cuts.create(
        kind="rejected", at=now, by=expert, reason="A child may, too.", branch="no"
    )
    leaf.update(taken_out_at=now, cut=cut)
    content = page_of(client, tree)
    assert outline(content)[-1] == ("2", "", "2", "NO open")
    said = words(content)
    assert "Taken out of this tree: 1 node, in 1 part Rejected the root By erin, " in said
    assert re.search(r" UTC: A child may, too\. = No ", said)


def test_a_source_that_is_no_web_address_is_no_link(client, expert, project):
    document = make_document(project, source_url="javascript:alert(1)")
    tree = make_tree(project, GROWING, question=make_question(make_snippet(document)))
    assert '"javascript:' not in page_of(client, tree)  # in words it may stand there


def test_no_style_or_script_stands_in_the_page(client, expert, project):
    content = page_of(client, make_tree(project, GROWING))
    assert not re.search(r"<style| style=| on[a-z]+=|<script>", content)


def test_markup_in_texts_is_text(client, expert, project):
    evil = "<script>alert(1)</script>?"
    snippet = make_snippet(make_document(project), text=f"{evil} <b onclick=x>b</b>")
    tree = make_tree(project, Question(evil, YES, NO), question=make_question(snippet, text=evil))
    tree.nodes.filter(text=evil).update(span_start=0, span_end=20)
    content = page_of(client, tree)
    assert "<script>alert" not in content
    assert "<b onclick" not in content


def test_larger_trees_take_no_more_queries(client, expert, project):
    def queries(tree: Tree) -> int:
        make_scenario(tree, "", Turn(tree.nodes.get(parent=None).text, Answer.YES))
        make_utterance(tree)
        with CaptureQueriesContext(connection) as caught:
            page_of(client, tree)
        return len(caught)

    small = make_tree(project, Question("Over 18?", YES, NO))
    large = make_tree(project, full_tree(4))
    for _ in range(2):
        make_scenario(large, "", Turn(large.nodes.get(parent=None).text, Answer.YES))
        make_utterance(large)
    assert (queries(small), queries(large)) == (14, 14)
