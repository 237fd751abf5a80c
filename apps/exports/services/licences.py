"""No text leaves the house without a licence that allows it.

A document that was loaded here needs one before anything of it is exported. What came in a ShARC
file has no page here: who published the file stands for it, and card and manifest say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from apps.exports.errors import ExportRefusedError
from apps.exports.services.exportable import exportable
from apps.projects.models import Project, Split
from apps.snippets.models import Document


def refuse_without_licence(
    project: Project, splits: Iterable[Split], *, allow_unverified: bool
) -> None:
    """Raises ExportRefusedError."""
    lacking = list(_lacking(project, splits, allow_unverified=allow_unverified))
    if lacking:
        documents = "one document has" if len(lacking) == 1 else f"{len(lacking):,} documents have"
        raise ExportRefusedError(
            f"{project.slug}: {documents} no licence, such as {lacking[0]}; state it under "
            "Documents, Licences, for all documents of a host at once, or in the list that they "
            "are loaded with"
        )


def _lacking(project: Project, splits: Iterable[Split], *, allow_unverified: bool) -> Iterator[str]:
    """The source URLs of documents without a licence that utterances of the export are about."""
    documents = Document.objects.filter(project=project, licence="").collected()
    for split in splits:
        here = documents.filter(split=split)
        # Nearly always there is none: to look through all utterances would take seconds.
        if here.exists():
            rows = exportable(project, split, allow_unverified=allow_unverified)
            asked = rows.order_by().values("tree__question__snippet__document")
            told = here.filter(pk__in=asked).order_by("source_url", "version")
            yield from told.values_list("source_url", flat=True)
