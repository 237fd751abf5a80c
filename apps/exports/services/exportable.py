"""Which utterances an export holds.

Those that belong to the dataset; of dev and test, those that an expert has verified, or that came
in a file. What nobody has looked at goes out only when it is asked for. What was made of a tree
that grows again waits for its missing branches: no exported path ends in a question.
"""

from __future__ import annotations

from collections import Counter

from django.db.models import BooleanField, Case, Count, Q, QuerySet, Value, When

from apps.projects.models import Job, Project, Split
from apps.scenarios.models import EXPANSION, Utterance, UtteranceQuerySet
from apps.trees.models import Tree

_STATES = Utterance.State


def exportable(project: Project, split: str, *, allow_unverified: bool) -> UtteranceQuerySet:
    rows = _of_whole_trees(project).in_split(split)
    if allow_unverified or split == Split.TRAIN:
        return rows
    return rows.filter(_is_verified(project))


def growing_by_split(project: Project) -> dict[str, int]:
    """How many utterances wait until their tree is finished again."""
    rows = Utterance.objects.filter(project=project).in_force()
    of_growing = rows.filter(_is_of_growing_tree(project)).order_by()
    return dict(
        of_growing.values_list("tree__question__snippet__document__split").annotate(Count("pk"))
    )


def _of_whole_trees(project: Project) -> UtteranceQuerySet:
    rows = Utterance.objects.filter(project=project).in_force()
    return rows.exclude(_is_of_growing_tree(project))


def _is_of_growing_tree(project: Project) -> Q:
    """What came in a file goes out as it came."""
    return Q(tree__state=Tree.State.GROWING, job__in=_expansions(project))


def _expansions(project: Project) -> QuerySet[Job]:
    return Job.objects.filter(project=project, kind=EXPANSION)


def _is_verified(project: Project) -> Q:
    """That its tree has changed since, or that nobody has looked at it, is said by `to_verify`."""
    is_imported = Q(job__isnull=False) & ~Q(job__in=_expansions(project))
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
    # From the trees to an index that has all of it: twice as fast as to read each utterance.
    of_trees = Utterance.objects.filter(tree__project=project).in_force()
    rows = (
        of_trees.exclude(_is_of_growing_tree(project))
        .annotate(is_open=is_open)
        .values_list("tree__question__snippet__document__split", "answer_class", "is_open")
        .annotate(number=Count("*"))
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
