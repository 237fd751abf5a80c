"""What the page of numbers shows: documents by domain, snippets by state, how fast experts are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from django.db.models import Count, Q, QuerySet

from apps.accounts.models import User
from apps.projects.models import Project
from apps.snippets.domain.pace import Pace, pace
from apps.snippets.models import Document, Snippet

DOMAINS_SHOWN = 50


@dataclass(frozen=True)
class Numbers:
    """Five queries, however many rows there are."""

    domains: Sequence[Any]  # name, documents, snippets: all, proposed, accepted, discarded
    domain_count: int
    states: Sequence[tuple[str, str, int]]
    reasons: Sequence[tuple[str, str, int]]
    experts: Sequence[tuple[User, Pace]]


def numbers_of(project: Project) -> Numbers:
    documents = Document.objects.filter(project=project)
    snippets = Snippet.objects.filter(document__project=project).order_by()
    return Numbers(
        domains=_domains(documents),
        domain_count=documents.aggregate(number=Count("domain", distinct=True))["number"],
        states=_counted(snippets, "state", Snippet.State.choices),
        reasons=_counted(
            snippets.exclude(discard_reason=""), "discard_reason", Snippet.DiscardReason.choices
        ),
        experts=_experts(snippets),
    )


def _domains(documents: QuerySet[Document]) -> list[Any]:
    state = Snippet.State
    counted = (
        documents.order_by()
        .values_list("domain")
        .annotate(
            document_count=Count("pk", distinct=True),
            snippet_count=Count("snippets"),
            proposed_count=Count("snippets", filter=Q(snippets__state=state.PROPOSED)),
            accepted_count=Count("snippets", filter=Q(snippets__state=state.ACCEPTED)),
            discarded_count=Count("snippets", filter=Q(snippets__state=state.DISCARDED)),
        )
    )
    return list(counted.order_by("-document_count", "domain")[:DOMAINS_SHOWN])


def _counted(
    snippets: QuerySet[Snippet], field: str, choices: Sequence[tuple[str, str]]
) -> list[tuple[str, str, int]]:
    counts = dict(snippets.values_list(field).annotate(number=Count("pk")))
    return [(value, label, counts.get(value, 0)) for value, label in choices]


def _experts(snippets: QuerySet[Snippet]) -> list[tuple[User, Pace]]:
    settled = snippets.filter(settled_by__isnull=False, settled_at__isnull=False)
    rows = settled.order_by("settled_by").values_list("settled_by", "settled_at").iterator()
    moments: dict[int, list[datetime]] = {}
    for person, group in groupby(rows, key=lambda row: row[0]):
        moments[person] = [at for _, at in group if at]
    people = User.objects.filter(pk__in=list(moments))
    paced = [(person, pace(moments[person.pk])) for person in people]
    return sorted(paced, key=lambda one: (-one[1].done, one[0].username))
