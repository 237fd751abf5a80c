"""What allows us to use the documents: set for all documents of a host at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet

from apps.accounts.models import User
from apps.projects.models import Project
from apps.projects.services import audit
from apps.snippets.models import Document, DocumentQuerySet


@dataclass
class Host:
    """A domain ("" for files without one), and how many documents of it have which licence."""

    domain: str
    documents: int
    without: int
    stated: list[tuple[str, str, int]] = field(default_factory=list)  # licence, attribution, number


def hosts_by_need(project: Project) -> QuerySet[Any, Any]:
    """Rows with domain, documents and without; those that lack most licences first."""
    return (
        _documents(project)
        .order_by()
        .values("domain")
        .annotate(documents=Count("pk"), without=Count("pk", filter=Q(licence="")))
        .order_by("-without", "domain")
    )


def with_licences(project: Project, rows: Iterable[dict[str, Any]]) -> list[Host]:
    """The rows of `hosts_by_need`, with what is stated. One query."""
    hosts = [Host(**row) for row in rows]
    stated: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    found = _documents(project).filter(domain__in=[host.domain for host in hosts])
    counted = found.exclude(licence="").values_list("domain", "licence", "attribution")
    for domain, licence, attribution, number in counted.annotate(Count("pk")).order_by(
        "domain", "licence", "attribution"
    ):
        stated[domain].append((licence, attribution, number))
    for host in hosts:
        host.stated = stated[host.domain]
    return hosts


def state_licence(
    project: Project, domain: str, *, licence: str, attribution: str, actor: User
) -> int:
    """For the documents of the host that have none; returns how many."""
    lacking = _documents(project).filter(domain=domain, licence="")
    return _write(project, domain, lacking, licence, attribution, actor)


def replace_licence(
    project: Project, domain: str, *, licence: str, attribution: str, actor: User
) -> int:
    """For all documents of the host; returns how many changed."""
    same = Q(licence=licence, attribution=attribution)
    others = _documents(project).filter(domain=domain).exclude(same)
    return _write(project, domain, others, licence, attribution, actor)


@transaction.atomic
def _write(
    project: Project, domain: str, documents: DocumentQuerySet, licence: str, attribution: str,
    actor: User,
) -> int:  # fmt: skip
    number = documents.update(licence=licence, attribution=attribution)
    if number:
        audit.record(
            actor, "set licence", project, project=project, domain=domain, licence=licence,
            attribution=attribution, documents=number,
        )  # fmt: skip
    return number


def _documents(project: Project) -> DocumentQuerySet:
    return Document.objects.filter(project=project)
