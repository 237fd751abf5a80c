"""What must hold of trees (cases 24 to 27; 21 to 23 stand beside the code that grows them)."""

import ast
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.db import models
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.exports.formats.mnbvc.sessions import sessions
from apps.exports.services.exporting import export_here
from apps.projects.models import Project, Role, Split
from apps.scenarios.services.expansion import expand_project
from apps.trees.domain.tree import Answer, FinalAnswer, OpenBranch, Question, Turn
from apps.trees.domain.tree import Tree as Shape
from apps.trees.models import Cut, Node, Tree
from apps.trees.services.cuts import take_out
from sharc_studio.environment import BASE_DIR
from tests.exports.frozen import frozen
from tests.factories import (
    make_document,
    make_member,
    make_project,
    make_question,
    make_scenario,
    make_snippet,
    make_tree,
)

YES, NO, OPEN = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO), OpenBranch()
OLD, POOR = "Are you old?", "Are you poor?"
DEEP = Question(OLD, Question(POOR, YES, NO), Question("Are you ill?", NO, YES))
UNFINISHED = Question(OLD, Question(POOR, YES, OPEN), NO)


# Exported paths -----------------------------------------------------------------------------------


def planted(project: Project, shape: Shape) -> Tree:
    snippet = make_snippet(make_document(project, split=Split.TRAIN))
    return make_tree(project, shape, question=make_question(snippet))


def expand(project: Project) -> None:
    expand_project(project, author=None, progress=lambda *_: None)


def exported(project: Project, folder: Path, *warnings: str) -> list[dict]:
    report = export_here(project, splits=[Split.TRAIN], out=folder, progress=lambda *_: None)
    assert [one for one in report["warnings"] if "grow again" in one] == list(warnings)
    (file,) = folder.rglob("sharc_train.json")
    return list(json.loads(file.read_text()))


def ends_of(utterances: list[dict]) -> list[str]:
    """The answers where no exported path goes on. What a scenario tells is a part of the path.

    Each question that is answered goes on both ways, or it was never asked.
    """
    paths: dict[tuple[str, str], dict[frozenset[tuple[str, str]], str]] = defaultdict(dict)
    for one in utterances:
        turns = frozenset(
            (turn["follow_up_question"], turn["follow_up_answer"])
            for turn in [*one["history"], *one["evidence"]]
        )
        paths[one["tree_id"], one["scenario"]][turns] = one["answer"]
    ends = []
    for here in paths.values():
        for turns, answer in here.items():
            goes_on = [turns | {(answer, word)} in here for word in ("Yes", "No")]
            if not all(goes_on):
                ends.append(answer)
    return sorted(ends)


@pytest.mark.django_db
def test_case_24_every_exported_path_ends_in_a_final_answer(tmp_path):
    project = make_project()
    tree, growing = planted(project, DEEP), planted(project, UNFINISHED)
    make_scenario(tree, "I am 70.", Turn(OLD, Answer.YES))
    expand(project)
    utterances = exported(project, tmp_path / "one")
    assert ends_of(utterances) == ["No", "No", "No", "Yes", "Yes", "Yes"]
    assert {one["tree_id"] for one in utterances} == {tree.tree_id} != {growing.tree_id}
    plain = [one for one in utterances if not one["scenario"]]
    assert ends_of(plain) == ["No", "No", "Yes", "Yes"]
    lost = [one for one in plain if one["answer"] != "Yes"]
    assert ends_of(lost) != ends_of(plain)


@pytest.mark.django_db
def test_case_24_a_tree_that_grows_again_leaves_no_half_of_a_path(tmp_path):
    project = make_project()
    other = planted(project, Question(POOR, YES, NO))
    tree = planted(project, DEEP)
    make_scenario(tree, "I am 70.", Turn(OLD, Answer.YES))
    expand(project)
    cut = tree.nodes.live().get(text=POOR)
    take_out(cut, kind=Cut.Kind.PRUNED, actor=None, reason="", now=timezone.now())
    expand(project)
    left = exported(
        project, tmp_path,
        "4 utterances were left out: their trees grow again, and wait for branches",
    )  # fmt: skip
    assert {one["tree_id"] for one in left} == {other.tree_id}
    assert ends_of(left) == ["No", "Yes"]


@pytest.mark.django_db
def test_case_24_a_conversation_ends_with_an_answer():
    project = make_project()
    planted(project, DEEP)
    expand(project)
    with frozen(project, [Split.TRAIN]) as source:
        rows = list(source.utterances(Split.TRAIN))
    assert {session.last.answer for session in sessions(rows)} == {"Yes", "No"}


# Not answered -------------------------------------------------------------------------------------


@pytest.mark.once
def test_case_25_nothing_is_answered_by_default():
    answers = [
        field
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if isinstance(field, models.Field) and {"Yes", "No"} & set(dict(field.choices or []))
    ]
    names = {f"{field.model.__name__}.{field.name}" for field in answers}
    assert names >= {"Node.answer", "PathStep.answer", "Fact.follow_up_answer"}
    assert {field.get_default() for field in answers} == {""}
    yes_or_no = [
        f"{model.__name__}.{field.name}"
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if isinstance(field, models.BooleanField) and "answer" in field.name
    ]
    assert yes_or_no == []


# A tree of 63 nodes -------------------------------------------------------------------------------


def full(depth: int, way: str = "") -> Shape:
    """31 questions and 32 ends at depth 5, two of them open."""
    if not depth:
        return OPEN if way in {"nynyy", "ynnny"} else YES if way.count("y") > 2 else NO
    text = f"Do you have the paper {way or 'of the beginning'}?"
    return Question(text, full(depth - 1, f"{way}y"), full(depth - 1, f"{way}n"))


@pytest.fixture
def expert() -> User:
    return make_member(make_project("papers"), Role.EXPERT)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_case_26_a_tree_of_63_nodes_is_read_by_keyboard_alone(expert, open_as):
    tree = make_tree(Project.objects.get(), full(5))
    assert tree.nodes.count() == 63 - 2
    page = open_as(expert, tree.get_absolute_url(), viewport={"width": 1280, "height": 800})
    assert shown(page) == 63
    assert page.evaluate("document.documentElement.scrollWidth") == 1280

    page.keyboard.press("o")
    expect(focused(page)).to_contain_text("open")
    first = place(page)
    page.keyboard.press("o")
    second = place(page)
    page.keyboard.press("o")
    assert place(page) == first
    assert {first, second} == {slot_of(tree, "ynnn", "yes"), slot_of(tree, "nyny", "yes")}

    page.keyboard.press("f")
    assert shown(page) == 15
    page.keyboard.press("o")
    assert shown(page) == 15 + 4, "only what is above the open branch is unfolded"
    expect(focused(page)).to_be_visible()
    page.keyboard.press("u")
    assert shown(page) == 63

    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("i")
    assert shown(page) == 1 + 31
    expect(page.locator("[data-tree-status]")).to_have_text("Only this branch is shown.")
    page.keyboard.press("i")
    assert shown(page) == 63
    assert size_of_letters(page) >= 9
    page.keyboard.press("z")
    assert size_of_letters(page) >= 12


def shown(page: Page) -> int:
    """Nodes and open branches, in the outline and in the drawing alike."""
    boxes = page.locator("svg [data-box]:visible").count()
    assert page.get_by_role("treeitem").count() == boxes
    return boxes


def focused(page: Page):
    return page.locator("[role=treeitem]:focus")


def place(page: Page) -> str:
    return str(page.evaluate("document.activeElement.dataset.slot"))


def slot_of(tree: Tree, above: str, branch: str) -> str:
    return f"{Node.objects.get(tree=tree, place=above).pk}-{branch}"


def size_of_letters(page: Page) -> float:
    return float(
        page.evaluate(
            """() => {
              const svg = document.querySelector("[data-drawing]");
              const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
              const letters = getComputedStyle(svg.querySelector("[data-box] text")).fontSize;
              return parseFloat(letters) * scale;
            }"""
        )
    )


# What only looks ----------------------------------------------------------------------------------


NAMES = {
    "save", "create", "delete", "update", "bulk_create", "bulk_update", "get_or_create",
    "update_or_create", "aupdate", "asave", "send_task", "delay",
}  # fmt: skip
Key = tuple[str, str]
"""Module and name of a function."""

WRITES: set[Key] = {("", name) for name in NAMES}
"""Methods, whoever's they are."""


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in sorted((BASE_DIR / "apps").rglob("*.py")):
        where = str(path.relative_to(BASE_DIR))
        if "/migrations/" not in where:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef):
                    yield where, node


def module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def names_of(path: str) -> dict[str, Key]:
    """What the names of a module's functions and imports stand for."""
    here = module_of(path)
    names: dict[str, Key] = {}
    for node in ast.walk(ast.parse((BASE_DIR / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            names[node.name] = here, node.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {one.asname or one.name: (node.module, one.name) for one in node.names}
    return names


def calls_of(node: ast.FunctionDef, names: dict[str, Key]) -> set[Key]:
    """Functions that it calls or hands on, and methods as if they were this module's."""
    found: set[Key] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and one.id in names:
            found.add(names[one.id])
        elif isinstance(one, ast.Attribute):
            whose = names.get(one.value.id) if isinstance(one.value, ast.Name) else None
            found.add((".".join(whose), one.attr) if whose else names.get(one.attr, ("", "")))
            found |= {("", one.attr)} & WRITES
    return found


@pytest.mark.once
def test_case_27_what_is_named_as_a_condition_writes_nothing_nor_does_what_it_calls():
    known = list(functions())
    names = {where: names_of(where) for where in {where for where, _ in known}}
    calls: dict[Key, set[Key]] = defaultdict(set)
    for where, node in known:
        calls[module_of(where), node.name] |= calls_of(node, names[where])
    writers, before = set(WRITES), set[Key]()
    while writers != before:  # who calls what writes, writes
        before = set(writers)
        writers |= {key for key, called in calls.items() if called & writers}
    assert writers > {
        ("apps.trees.services.cuts", "take_out"), ("apps.projects.services.audit", "record"),
        ("apps.trees.services.path_steps", "ask_question"),
        ("apps.workers.services.leases", "expire_leases"),
    }  # fmt: skip

    conditions = {
        (module_of(where), node.name) for where, node in known
        if node.name.lstrip("_").startswith(("is_", "has_", "can_", "needs_", "may_"))
    }  # fmt: skip
    assert len(conditions) > 40
    assert {key: calls[key] & writers for key in conditions & writers} == {}
