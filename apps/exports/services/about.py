"""How a project's dataset came about, in numbers: for its card and its metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from apps.exports.formats.about import About, Measured
from apps.exports.models import DatasetCard
from apps.exports.services.exportable import classes_by_split
from apps.projects.models import Project, Split
from apps.scenarios.models import Scenario, ScenarioCheck, Utterance
from apps.scenarios.services.audit import judge, last_audit
from apps.scenarios.services.proof import findings_of
from apps.snippets.models import Question
from apps.trees.models import Node, NodeCheck, Tree

STATES = {
    Utterance.State.ACCEPTED: "accepted as they were",
    Utterance.State.CORRECTED: "corrected",
    Utterance.State.DROPPED: "dropped",
}


def about_unverified(project: Project, splits: Sequence[Split]) -> About:
    """The same of an export that lets unverified utterances through: how many there are."""
    found, unverified = classes_by_split(project, allow_unverified=True)
    held_back = [split for split in splits if split != Split.TRAIN]
    return replace(
        about(project, splits),
        held_back=sum(found[split].total() for split in held_back),
        unverified=sum(unverified[split] for split in held_back),
    )


def about(project: Project, splits: Sequence[Split]) -> About:
    """Of the trees with utterances in these splits; who did what is counted over the project."""
    card = DatasetCard.objects.filter(project=project).first() or DatasetCard(project=project)
    audit = last_audit(project)
    report = audit.report if audit else {}
    found = findings_of(project)
    return About(
        description=card.description, url=card.url, licence=card.licence,
        creators=tuple(card.creators.splitlines()), citation=card.citation, version=card.version,
        published_on=_published_on(project, card).isoformat(), pay=card.pay,
        people=_people(project), verified=_verified(project), agreement=_agreement(project),
        audit=_measured(project, report), audited=report.get("utterances", 0),
        inconsistent=found.count(), waived=found.waived().count(),
        **_sources(project, splits),
    )  # fmt: skip


def _sources(project: Project, splits: Sequence[Split]) -> dict[str, Any]:
    told = Exists(Utterance.objects.filter(tree=OuterRef("pk")))
    trees = Tree.objects.filter(
        told, project=project, question__snippet__document__split__in=splits
    )
    documents = Count("question__snippet__document", distinct=True)
    of_document = ("question__snippet__document__licence", "question__snippet__document__language")
    licences, languages = Counter[str](), set[str]()
    for licence, language, number in trees.values_list(*of_document).annotate(documents).order_by():
        licences[licence] += number
        languages.add(language or project.language)
    return {
        "licences": dict(sorted(licences.items())),
        "languages": tuple(sorted(languages)),
        **trees.aggregate(
            trees=Count("pk"), imported_trees=Count("pk", filter=Q(job__isnull=False)),
            documents=documents, hosts=Count("question__snippet__document__domain", distinct=True),
        ),
    }  # fmt: skip


def _published_on(project: Project, card: DatasetCard) -> date:
    """No clock: the same state of the project says the same."""
    if card.published_on:
        return card.published_on
    newest = project.utterances.aggregate(newest=Max("created_at"))["newest"]
    day = project.splits_frozen_at or newest
    return day.date() if day else date(1970, 1, 1)


def _people(project: Project) -> dict[str, int]:
    """How many did which work."""
    did = {
        "wrote first questions": Question.objects.filter(snippet__document__project=project),
        "grew trees": Node.objects.filter(tree__project=project),
        "wrote scenarios": Scenario.objects.filter(tree__project=project),
    }
    people = {work: _distinct(rows, "created_by") for work, rows in did.items()}
    checks = NodeCheck.objects.filter(node__tree__project=project)
    readings = ScenarioCheck.objects.filter(scenario__tree__project=project)
    return people | {
        "checked turns of others": _distinct(checks, "checker"),
        "checked scenarios of others": _distinct(readings, "checker"),
        "verified utterances": _distinct(project.utterances.all(), "verified_by"),
    }


def _distinct(rows: QuerySet, field: str) -> int:  # type: ignore[type-arg]
    return int(rows.aggregate(number=Count(field, distinct=True))["number"])


def _verified(project: Project) -> dict[str, int]:
    rows = project.utterances.in_splits([Split.DEV, Split.TEST]).order_by()
    counted = dict(rows.values_list("state").annotate(Count("pk")))
    return {name: counted.get(state, 0) for state, name in STATES.items()}


def _agreement(project: Project) -> tuple[str, ...]:
    """What people said of each other's work; nothing where nobody looked."""
    turns = NodeCheck.objects.filter(node__tree__project=project).aggregate(
        all=Count("pk"), well=Count("pk", filter=Q(verdict=NodeCheck.Verdict.AGREES))
    )
    scenarios = ScenarioCheck.objects.filter(scenario__tree__project=project).aggregate(
        all=Count("pk"), well=Count("pk", filter=Q(verdict=ScenarioCheck.Verdict.APPROVES))
    )
    return tuple(
        f"{what}: {counted['well']:,} of {counted['all']:,} "
        f"({100 * counted['well'] / counted['all']:.1f} %)."
        for what, counted in (
            ("Judgements of other workers that a turn is right", turns),
            ("Judgements of other workers that a scenario fits its facts", scenarios),
        )
        if counted["all"]
    )


def _measured(project: Project, report: dict) -> tuple[Measured, ...]:  # type: ignore[type-arg]
    return tuple(
        Measured(
            one.figure["label"],
            one.figure["value"],
            one.figure["hits"],
            one.figure["of"],
            one.most,
            one.waiver,
        )
        for one in judge(project, report)
    )
