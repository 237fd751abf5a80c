"""What a release waits for: answers that do not follow, and limits of the audit that are passed.

A release is an export of dev or test without unverified utterances; an export with them is for
working on, and waits for nothing. Of what came in a file, and nobody here has touched, whoever
published it stands for the answers: it goes out as it came, and is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Q
from django.urls import reverse

from apps.exports.services.exportable import exportable
from apps.projects.models import Job, Project, Split
from apps.scenarios.models import AuditLimit, Finding, FindingQuerySet, Utterance
from apps.scenarios.services.audit import Judged, judge, last_audit
from apps.scenarios.services.proof import PROVEN_AT_ONCE, prove

RELEASED = (Split.DEV, Split.TEST)
NO_RELEASE = "or allow unverified ones (--allow-unverified): then it is no release"

State = Utterance.State


@dataclass(frozen=True)
class Carried:
    """What a release goes out with all the same. Empty for an export that is none."""

    imported: dict[str, int] = field(default_factory=dict)  # findings by reason, as they came
    waived: dict[str, int] = field(default_factory=dict)  # findings by reason
    waived_figures: list[str] = field(default_factory=list)  # of the audit, by their codes

    @property
    def in_manifest(self) -> dict[str, Any]:
        """For an export's entry in MANIFEST.json; nothing where there is nothing to say."""
        said = {
            "imported_findings": self.imported,
            "waived_findings": self.waived,
            "waived_figures": self.waived_figures,
        }
        found = {name: value for name, value in said.items() if value}
        return {"release": found} if found else {}

    @property
    def warnings(self) -> Iterator[str]:
        if number := sum(self.imported.values()):
            yield (
                f"{_count(number, 'imported utterance')} went out with an answer that does not "
                "follow from the tree, as it came"
            )
        if number := sum(self.waived.values()):
            yield f"{_count(number, 'answer')} that does not follow was waived"
        if number := len(self.waived_figures):
            yield f"{_count(number, 'limit')} of the audit was waived"


def unfit(project: Project, splits: Iterable[str], *, allow_unverified: bool) -> Iterator[str]:
    """Why it would be a release that must wait, in one sentence. Proves answers first."""
    if released := _released(splits, allow_unverified):
        prove(project)
        yield from _waits(project, released)


def unfit_at_once(
    project: Project, splits: Iterable[str], *, allow_unverified: bool
) -> Iterator[str]:
    """The same while somebody waits: a large project is judged by its last proof, and once more
    by the job."""
    if released := _released(splits, allow_unverified):
        utterances = Utterance.objects.filter(project=project).order_by()
        if utterances[:PROVEN_AT_ONCE].count() < PROVEN_AT_ONCE:
            prove(project)
        yield from _waits(project, released)


def carried(project: Project, splits: Iterable[str], *, allow_unverified: bool) -> Carried:
    """What a release that was not refused goes out with."""
    released = _released(splits, allow_unverified)
    if not released:
        return Carried()
    return Carried(
        _by_reason(Finding.objects.open().as_imported(), project, released),
        _by_reason(Finding.objects.waived(), project, released),
        sorted(one.figure["code"] for one in _over(project) if one.waiver),
    )


def _released(splits: Iterable[str], allow_unverified: bool) -> list[str]:
    """The splits that go out, if that is a release."""
    chosen = list(splits)
    is_release = not allow_unverified and any(split in RELEASED for split in chosen)
    return chosen if is_release else []


def _waits(project: Project, splits: list[str]) -> Iterator[str]:
    if reasons := "; and for ".join(_reasons(project, splits)):
        yield f"a release waits for {reasons}, {NO_RELEASE}"


def _reasons(project: Project, splits: list[str]) -> Iterator[str]:
    page = reverse("scenarios:consistency", args=[project.slug])
    for split in splits:
        if number := sum(_by_reason(Finding.objects.blocking(), project, [split]).values()):
            yield (
                f"{_count(number, 'utterance')} of {split} whose answer does not follow from the "
                f"tree; correct, drop or waive what {page}?state=blocks&split={split} lists"
            )
    yield from _audit_reasons(project)


def _by_reason(findings: FindingQuerySet, project: Project, splits: list[str]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for split in splits:
        rows = exportable(project, split, allow_unverified=False)
        of_split = findings.filter(utterance__in=rows.order_by()).order_by()
        found.update(dict(of_split.values_list("reason").annotate(Count("pk"))))
    return dict(sorted(found.items()))


# The audit ------------------------------------------------------------------------------------


def _audit_reasons(project: Project) -> Iterator[str]:
    """Only limits that the project has set itself make a release wait."""
    if not _limits(project):
        return
    page = reverse("scenarios:audit", args=[project.slug])
    audit = last_audit(project)
    if audit is None or (newer := _newer_than(audit, project)):
        since = f"{_count(newer, 'utterance')} came or changed since the last" if audit else "none"
        yield f"an audit, which the project has limits for: {since}; measure on {page}"
    for one in _over(project):
        if not one.waiver:
            yield (
                f"the audit's “{one.figure['label']}”, which is at {one.percent} % and over the "
                f"project's limit of {one.most_percent} %; bring it down, or waive it on {page}"
            )


def _limits(project: Project) -> set[str]:
    limits = AuditLimit.objects.filter(project=project, most__isnull=False)
    return set(limits.values_list("figure", flat=True))


def _over(project: Project) -> list[Judged]:
    audit = last_audit(project)
    limited = _limits(project)
    judged = judge(project, audit.report) if audit and limited else []
    return [one for one in judged if one.figure["code"] in limited and not one.passes]


def _newer_than(audit: Job, project: Project) -> int:
    """Utterances that the audit cannot have seen as they are."""
    since = audit.created_at
    changed = Q(verified_at__gt=since, state__in=[State.CORRECTED, State.DROPPED])
    rows = Utterance.objects.filter(project=project)
    return rows.filter(Q(created_at__gt=since) | changed).count()


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
