"""Negatives that stand behind a scenario or a history, out of the house and back."""

import pytest
from django.core.management import call_command

from apps.projects.models import Project
from apps.scenarios.models import NegativeQuestion
from apps.scenarios.services.expansion import expand_project
from apps.scenarios.services.negatives import Wish, mine_here
from apps.trees.domain.tree import Answer, FinalAnswer, Question, Turn
from tests.factories import (
    make_document,
    make_project,
    make_question,
    make_scenario,
    make_snippet,
    make_tree,
)

pytestmark = pytest.mark.django_db
SHAPE = Question("Do you pay rent?", FinalAnswer(Answer.YES), FinalAnswer(Answer.NO))


def say_nothing(step: str, done: int, total: int) -> None:
    pass


def attached(project: Project) -> list[tuple[str, str, str, float | None]]:
    rows = NegativeQuestion.objects.filter(tree__project=project).select_related(
        "attached_scenario"
    )
    return sorted(
        (row.text, row.attached_place, str(row.attached_scenario and row.attached_scenario.text),
         row.hardness)
        for row in rows
    )  # fmt: skip


def test_expanding_what_came_back_adds_nothing(tmp_path):
    project = make_project("out")
    for topic in ("dogs", "cars", "tax", "visas"):
        snippet = make_snippet(make_document(project), text=f"You can have {topic}.")
        tree = make_tree(project, SHAPE, question=make_question(snippet, text=f"Can I {topic}?"))
        make_scenario(tree, f"I like {topic}.", Turn("Do you pay rent?", Answer.YES))
    mine_here(project, Wish(3, 0, 1.0, attach=True), author=None, progress=say_nothing)
    expand_project(project, author=None, progress=say_nothing)
    out = tmp_path / "out"
    call_command("export", project="out", format="sharc", out=out, allow_unverified=True)
    (data,) = out.rglob("sharc_dev.json")
    (negatives,) = out.rglob("*negative_question*")
    call_command("import_sharc", data, project="back", negative_questions=negatives)
    back = Project.objects.get(slug="back")
    assert attached(back) == attached(project)
    assert {bool(place) for _, place, _, _ in attached(back)} == {True, False}
    job = expand_project(back, author=None, progress=say_nothing)
    assert job.report["added"] == {}
