"""What pieces of work are about, with a link: work itself knows only kinds and keys."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.urls import reverse

from apps.projects.models import Project
from apps.scenarios.models import Scenario
from apps.snippets.models import Document, Question, Snippet
from apps.trees.models import Node, Tree
from apps.workers.models import Assignment, Kind


@dataclass(frozen=True)
class Subject:
    text: str
    address: str


Found = Iterator[tuple[int, Subject]]


def subjects_of(
    leases: Iterable[Assignment], project: Project
) -> Iterator[tuple[Assignment, Subject | None]]:
    """Each lease with what it is about. One query for each kind among them."""
    rows = list(leases)
    by_kind = {kind: dict(look(project, _keys(rows, kind))) for kind, look in _LOOK.items()}
    for one in rows:
        yield one, by_kind[Kind(one.kind)].get(one.work_id)


def _keys(rows: list[Assignment], kind: Kind) -> set[int]:
    return {one.work_id for one in rows if one.kind == kind}


def _of_tree(tree: Tree, project: Project) -> Subject:
    return Subject(str(tree.question), reverse("trees:detail", args=[project.slug, tree.tree_id]))


def _of_document(document: Document, project: Project) -> Subject:
    return Subject(
        str(document), reverse("snippets:document", args=[project.slug, document.pk])
    )  # fmt: skip


def _trees(project: Project, keys: set[int]) -> Found:
    for tree in Tree.objects.filter(project=project, pk__in=keys).select_related("question"):
        yield tree.pk, _of_tree(tree, project)


def _nodes(project: Project, keys: set[int]) -> Found:
    nodes = Node.objects.filter(tree__project=project, pk__in=keys)
    for node in nodes.select_related("tree__question"):
        yield node.pk, _of_tree(node.tree, project)


def _scenarios(project: Project, keys: set[int]) -> Found:
    scenarios = Scenario.objects.filter(tree__project=project, pk__in=keys)
    for scenario in scenarios.select_related("tree__question"):
        yield scenario.pk, _of_tree(scenario.tree, project)


def _snippets(project: Project, keys: set[int]) -> Found:
    snippets = Snippet.objects.filter(document__project=project, pk__in=keys)
    for snippet in snippets.select_related("document"):
        yield snippet.pk, _of_document(snippet.document, project)


def _documents(project: Project, keys: set[int]) -> Found:
    for document in Document.objects.filter(project=project, pk__in=keys):
        yield document.pk, _of_document(document, project)


def _questions(project: Project, keys: set[int]) -> Found:
    for question in Question.objects.filter(snippet__document__project=project, pk__in=keys):
        address = reverse("snippets:question", args=[project.slug, question.pk])
        yield question.pk, Subject(question.text, address)


_LOOK: Mapping[Kind, Callable[[Project, set[int]], Found]] = {
    Kind.SNIPPETS: _documents,
    Kind.QUESTION: _snippets,
    Kind.QUESTION_CHECK: _questions,
    Kind.PATH: _trees,
    Kind.NODE_CHECK: _nodes,
    Kind.SCENARIO: _trees,
    Kind.SCENARIO_CHECK: _scenarios,
}
