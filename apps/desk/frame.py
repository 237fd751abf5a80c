"""What stands around every page of a project: its steps with counts, and where one can go."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from apps.desk.counts import counts_of
from apps.projects.models import Membership, Project, Role


@dataclass(frozen=True)
class Link:
    """A place to go; without an address it only says that the step exists."""

    label: str
    url: str = ""
    count: str = ""
    current: str = ""  # aria-current: "page" on its page, "true" below it


def project_frame(request: HttpRequest, project: Project) -> dict[str, Any]:
    """Two queries: the reader's memberships, and (for those who may read it) all counts."""
    memberships = list(
        Membership.objects.filter(user__in=[request.user.pk], project__deleted_at__isnull=True)
        .select_related("project")
        .order_by("project__name", "project")
    )
    role = next((one.role for one in memberships if one.project_id == project.pk), Role.WORKER)
    reads = role in {Role.ADMIN, Role.EXPERT}
    return {
        "project": project,
        "projects": [membership.project for membership in memberships],
        "project_links": _project_links(request, project, role=role),
        "steps": _steps(request, project, role=role) if reads else [],
        "search_url": _address("trees:list", project) if reads else "",
    }


def _project_links(request: HttpRequest, project: Project, *, role: str) -> list[Link]:
    names = [
        ("Overview", "desk:project"),
        ("My work", "workers:mine"),
        ("Guidelines", "projects:guidelines"),
    ]
    if role in {Role.ADMIN, Role.EXPERT}:
        names += [("Audit", "scenarios:audit"), ("Qualification", "workers:qualification")]
    if role == Role.ADMIN:
        names += [
            ("Leases", "workers:leases"),
            ("Splits", "exports:splits"),
            ("Licences", "snippets:licences"),
            ("Settings", "projects:settings"),
            ("Log", "projects:log"),
        ]
    return [_link(request, label, _address(name, project)) for label, name in names]


# Pages of a step whose addresses do not begin with the step's own.
_BELOW = {
    "Utterances": (
        "scenarios:verification", "scenarios:consistency", "scenarios:text_checks",
        "scenarios:audit", "scenarios:negatives",
    ),
    "Exports": ("exports:splits", "exports:import"),
}  # fmt: skip


def _steps(request: HttpRequest, project: Project, *, role: str) -> list[Link]:
    counted = counts_of(project)
    trees = f"{intcomma(counted.finished_count)}/{intcomma(counted.tree_count)}"
    steps = [
        ("Documents", "snippets:documents", intcomma(counted.document_count)),
        ("Snippets", "snippets:snippets", intcomma(counted.snippet_count)),
        ("Questions", "snippets:questions", intcomma(counted.question_count)),
        ("Trees", "trees:list", trees),
        ("Scenarios", "scenarios:scenario_list", intcomma(counted.scenario_count)),
        ("Utterances", "scenarios:utterances", intcomma(counted.utterance_count)),
    ]
    if role == Role.ADMIN:
        steps += [("People", "projects:people", ""), ("Exports", "exports:list", "")]
    return [
        _link(request, label, _address(name, project), count, below=_below(label, project))
        for label, name, count in steps
    ]


def _below(label: str, project: Project) -> list[str]:
    return [_address(name, project) for name in _BELOW.get(label, ())]


def _link(
    request: HttpRequest, label: str, url: str, count: str = "", *, below: Iterable[str] = ()
) -> Link:
    # The overview's address begins every other one, so that it is current only when it is equal.
    begins = [] if label == "Overview" else [url, *below]
    is_below = any(begin and request.path.startswith(begin) for begin in begins)
    current = "page" if request.path == url else "true" if is_below else ""
    return Link(label, url, count, current)


def _address(name: str, project: Project) -> str:
    try:
        return reverse(name, args=[project.slug]) if name else ""
    except NoReverseMatch:  # A page that does not exist yet is shown as plain text.
        return ""
