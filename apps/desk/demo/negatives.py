"""Negatives of the demo's finished trees (design 4.5), always the same ones."""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import TypeVar

from apps.accounts.models import User
from apps.projects.models import Project
from apps.scenarios.models import NegativeQuestion, NegativeScenario, Scenario
from apps.snippets.models import Document
from apps.trees.models import Tree

T = TypeVar("T")


def draw_negatives(project: Project, *, made_by: User | None, at: datetime) -> None:
    """Gives each finished tree questions and scenarios of other hosts' trees, in its language.

    A language with one host only gets none: in another language nothing is hard to tell apart.
    """
    trees = list(Tree.objects.filter(project=project).with_source())
    scenarios = list(
        Scenario.objects.filter(tree__project=project)
        .select_related("tree__question__snippet__document")
        .order_by("pk")
    )
    made = {"created_by": made_by, "created_at": at}
    for place, tree in enumerate(trees):
        if tree.state != Tree.State.FINISHED:
            continue
        questions = [
            other.question for other in trees if _is_foreign(_source(tree), _source(other))
        ]
        NegativeQuestion.objects.bulk_create(
            NegativeQuestion(tree=tree, source=question, text=question.text, **made)
            for question in _pick(questions, project.questions_per_tree, start=place)
        )
        foreign = [s for s in scenarios if _is_foreign(_source(tree), _source(s.tree))]
        NegativeScenario.objects.bulk_create(
            NegativeScenario(tree=tree, source=scenario, text=scenario.text, **made)
            for scenario in _pick(foreign, project.scenarios_per_tree, start=place)
        )


def _source(tree: Tree) -> Document:
    return tree.question.snippet.document


def _is_foreign(document: Document, other: Document) -> bool:
    return other.domain != document.domain and other.language == document.language


def _pick(candidates: Sequence[T], count: int, *, start: int) -> list[T]:
    """`count` of the candidates, spread over all of them; another `start`, others first."""
    stride = max(1, len(candidates) // max(1, count))
    turned = [*candidates[start % stride :], *candidates[: start % stride]] if candidates else []
    return list(islice(turned[::stride], count))
