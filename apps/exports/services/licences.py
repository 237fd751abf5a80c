"""No text leaves the house without a licence that allows it.

A document that was loaded here needs one before anything of it is exported. What came in a ShARC
file has no page here: who published the file stands for it, and card and manifest say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.db.models import Exists, OuterRef

from apps.exports.services.exportable import exportable
from apps.projects.models import Project, Split
from apps.scenarios.models import Utterance
from apps.snippets.models import Document


def without_licence(
    project: Project, splits: Iterable[Split], *, allow_unverified: bool
) -> Iterator[str]:
    """Why an export is refused; nothing when every document has one."""
    lacking = list(_lacking(project, splits, allow_unverified=allow_unverified))
    if lacking:
        documents = "one document has" if len(lacking) == 1 else f"{len(lacking):,} documents have"
        yield (
            f"{documents} no licence, such as {lacking[0]}; state it under Documents, Licences, "
            "for all documents of a host at once, or in the list that they are loaded with"
        )


def count_without_licence(project: Project) -> int:
    """Documents in a split with utterances that some export waits for. One query."""
    told = Utterance.objects.filter(tree__question__snippet__document=OuterRef("pk"))
    lacking = Document.objects.filter(project=project, licence="", split__in=Split.values)
    return lacking.collected().filter(Exists(told.in_force())).count()


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
