"""No text leaves the house without a licence that allows it.

A document that was loaded here needs one before anything of it is exported. What came in a ShARC
file has no page here: who published the file stands for it, and card and manifest say so.
"""

from __future__ import annotations

from collections.abc import Iterable

from apps.exports.errors import ExportRefusedError
from apps.exports.services.exportable import exportable
from apps.projects.models import Project, Split
from apps.snippets.models import Document, DocumentQuerySet


def refuse_without_licence(
    project: Project, splits: Iterable[Split], *, allow_unverified: bool
) -> None:
    """Raises ExportRefusedError."""
    lacking = [
        document
        for split in splits
        for document in _told_in(project, split, allow_unverified=allow_unverified)
        .collected()
        .filter(licence="")
        .values_list("source_url", flat=True)
        .order_by("source_url", "version")
    ]
    if lacking:
        documents = "one document has" if len(lacking) == 1 else f"{len(lacking):,} documents have"
        raise ExportRefusedError(
            f"{project.slug}: {documents} no licence, such as {lacking[0]}; state it under "
            "Documents, Licences, for all documents of a host at once, or in the list that they "
            "are loaded with"
        )


def _told_in(project: Project, split: Split, *, allow_unverified: bool) -> DocumentQuerySet:
    """The documents that utterances of the export are about."""
    rows = exportable(project, split, allow_unverified=allow_unverified)
    asked = rows.order_by().values("tree__question__snippet__document")
    return Document.objects.filter(project=project, pk__in=asked)
