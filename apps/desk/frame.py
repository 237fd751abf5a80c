"""What stands around every page of a project: its steps with counts, and where one can go."""

from dataclasses import dataclass
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from apps.projects.models import Membership, Project, Role
from apps.scenarios.models import Scenario, Utterance
from apps.snippets.models import Document, Question, Snippet
from apps.trees.models import Tree

_COUNTS = (
    "document_count",
    "snippet_count",
    "question_count",
    "tree_count",
    "finished_count",
    "scenario_count",
    "utterance_count",
)


@dataclass(frozen=True)
class Link:
    label: str
    url: str = ""
    count: str = ""
    is_current: bool = False


def project_frame(request: HttpRequest, project: Project) -> dict[str, Any]:
    """Two queries: the reader's memberships, and (for those who may read it) all counts."""
    memberships = list(
        Membership.objects.filter(user__in=[request.user.pk])
        .select_related("project")
        .order_by("project__name")
    )
    role = next((one.role for one in memberships if one.project_id == project.pk), Role.WORKER)
    reads = role in {Role.ADMIN, Role.EXPERT}
    return {
        "project": project,
        "projects": [membership.project for membership in memberships],
        "project_links": _project_links(project, role=role),
        "steps": _steps(request, project, role=role) if reads else [],
        "search_url": _address("trees:list", project) if reads else "",
    }


def _project_links(project: Project, *, role: str) -> list[Link]:
    names = [("Overview", "desk:project"), ("Guidelines", "projects:guidelines")]
    if role == Role.ADMIN:
        names += [("Settings", "projects:settings"), ("Log", "projects:log")]
    links = [Link(label, _address(name, project)) for label, name in names]
    return [link for link in links if link.url]


def _steps(request: HttpRequest, project: Project, *, role: str) -> list[Link]:
    counts = _counts(project)
    steps = [
        ("Documents", "", counts["document_count"]),
        ("Snippets", "", counts["snippet_count"]),
        ("Questions", "", counts["question_count"]),
        ("Trees", "trees:list", f"{counts['finished_count']}/{counts['tree_count']}"),
        ("Scenarios", "", counts["scenario_count"]),
        ("Utterances", "scenarios:utterances", counts["utterance_count"]),
    ]
    if role == Role.ADMIN:
        steps += [("People", "projects:people", ""), ("Exports", "exports:list", "")]
    addresses = [_address(name, project) for _, name, _ in steps]
    return [
        Link(label, url, count, is_current=bool(url) and request.path.startswith(url))
        for (label, _, count), url in zip(steps, addresses, strict=True)
    ]


def _counts(project: Project) -> dict[str, Any]:
    questions = Question.objects.filter(state=Question.State.ACCEPTED)
    finished = Tree.objects.filter(state=Tree.State.FINISHED)
    counted = Project.objects.filter(pk=project.pk).annotate(
        document_count=_count(Document.objects.all(), "project"),
        snippet_count=_count(Snippet.objects.all(), "document__project"),
        question_count=_count(questions, "snippet__document__project"),
        tree_count=_count(Tree.objects.all(), "project"),
        finished_count=_count(finished, "project"),
        scenario_count=_count(Scenario.objects.all(), "tree__project"),
        utterance_count=_count(Utterance.objects.all(), "project"),
    )
    return {name: intcomma(str(count)) for name, count in counted.values(*_COUNTS).get().items()}


def _count(rows: QuerySet[Any], project: str) -> Coalesce:
    of_project = rows.filter(**{project: OuterRef("pk")}).order_by()
    number = of_project.values(project).annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(number), 0)


def _address(name: str, project: Project) -> str:
    try:
        return reverse(name, args=[project.slug]) if name else ""
    except NoReverseMatch:  # A page that does not exist yet is shown as plain text.
        return ""
