"""Which utterances an export holds.

Those that belong to the dataset; of dev and test, those that an expert has verified, or that came
in a file. What nobody has looked at goes out only when it is asked for.
"""

from __future__ import annotations

from collections import Counter

from django.db.models import BooleanField, Case, Count, Q, Value, When

from apps.projects.models import Job, Project, Split
from apps.scenarios.models import EXPANSION, Utterance, UtteranceQuerySet

_STATES = Utterance.State


def exportable(project: Project, split: str, *, allow_unverified: bool) -> UtteranceQuerySet:
    rows = Utterance.objects.filter(project=project).in_force().in_split(split)
    if allow_unverified or split == Split.TRAIN:
        return rows
    return rows.filter(_is_verified(project))


def _is_verified(project: Project) -> Q:
    """That its tree has changed since, or that nobody has looked at it, is said by `to_verify`."""
    expansions = Job.objects.filter(project=project, kind=EXPANSION)
    is_imported = Q(job__isnull=False) & ~Q(job__in=expansions)
    looked_at = Q(state__in=[_STATES.ACCEPTED, _STATES.CORRECTED])
    return Q(gone_at__isnull=True) & (looked_at | is_imported)


def classes_by_split(
    project: Project, *, allow_unverified: bool
) -> tuple[dict[str, Counter[str]], Counter[str]]:
    """Utterances by split and class, and by split those that are left out as unverified."""
    held_back = Q(tree__question__snippet__document__split__in=[Split.DEV, Split.TEST])
    is_open = Case(
        When(held_back & ~_is_verified(project), then=Value(True)),
        default=Value(False),
        output_field=BooleanField(),
    )
    rows = (
        Utterance.objects.filter(project=project)
        .in_force()
        .annotate(is_open=is_open)
        .values_list("tree__question__snippet__document__split", "answer_class", "is_open")
        .annotate(Count("pk"))
        .order_by()
    )
    found: dict[str, Counter[str]] = {split: Counter() for split in (*Split, "")}
    unverified: Counter[str] = Counter()
    for split, answer_class, is_unverified, count in rows:
        if is_unverified:
            unverified[split] += count
        if allow_unverified or not is_unverified:
            found[split][answer_class] += count
    return found, unverified
