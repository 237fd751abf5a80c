"""What admins correct about a document after it was loaded."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.projects.models import Project
from apps.projects.services import audit
from apps.snippets.domain.source import host
from apps.snippets.errors import DocumentRefusedError
from apps.snippets.models import Document
from apps.snippets.services.ingest import Details, refuse_unlikely

FIELDS = ("title", "language", "licence", "attribution", "retrieved_on")


@transaction.atomic
def correct_details(document: Document, *, details: Details, actor: User) -> dict[str, list[Any]]:
    """Saves what differs and returns it: field -> [old, new]. The URL is that of all versions.

    Raises DocumentRefusedError.
    """
    refuse_unlikely(details)
    Project.objects.select_for_update(no_key=True).get(pk=document.project_id)
    stored = Document.objects.without_texts().get(pk=document.pk)
    wanted = {name: getattr(details, name) for name in (*FIELDS, "source_url")}
    pairs = {name: [getattr(stored, name), value] for name, value in wanted.items()}
    changes = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if "source_url" in changes:
        _move(stored, to=details.source_url)
    own = {name: wanted[name] for name in FIELDS if name in changes}
    if own:
        Document.objects.filter(pk=stored.pk).update(**own)
    if changes:
        shown = {name: [str(one or "") for one in pair] for name, pair in changes.items()}
        audit.record(actor, "correct", stored, project=stored.project, changes=shown)
    return changes


def _move(document: Document, *, to: str) -> None:
    of_project = Document.objects.filter(project=document.project_id)
    if of_project.filter(source_url=to).exists():
        raise DocumentRefusedError("Another document of this project has this source URL.")
    of_project.filter(source_url=document.source_url).update(source_url=to, domain=host(to))
