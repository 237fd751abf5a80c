"""What the pages of the consistency proof and of the text checks show."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db.models import Count, Exists, OuterRef

from apps.projects.models import Project
from apps.projects.paging import page_of
from apps.scenarios.domain.consistency import InconsistencyReason
from apps.scenarios.domain.turns import QUESTION
from apps.scenarios.models import FindingQuerySet, ScenarioFault, ScenarioFaultQuerySet, Waived
from apps.scenarios.services.proof import numbers_of, waivers_in_force
from apps.scenarios.services.verification import REASONS
from apps.scenarios.verification_forms import FaultFilter, FindingFilter
from apps.snippets.domain.folding import fold
from apps.trees.models import Node

ROWS_ON_PAGE = 25

MENDING = {
    ScenarioFault.Reason.CONTRADICTORY: (
        "It tells Yes and No to one question. Read the text and decide which one it says; take the "
        "other fact out, or send the scenario back."
    ),
    ScenarioFault.Reason.NOT_ASKED: (
        "The tree does not ask this: the question was taken out, is worded otherwise there, or "
        "never was in it. Give the fact the wording of the tree, or take it out."
    ),
    ScenarioFault.Reason.NOT_ON_ONE_PATH: (
        "The tree asks each of these, but nobody is asked all of them. Take out what the text does "
        "not say, or look whether an answer in the tree is wrong."
    ),
    ScenarioFault.Reason.NO_FACTS: (
        "It answers no question of its tree, so it gives no utterance. Add what the text does say, "
        "or leave it: it harms nothing."
    ),
}


def consistency_page(
    project: Project, findings: FindingQuerySet, form: FindingFilter, *, asked: str | None
) -> dict[str, Any]:
    """The findings of the project, with their numbers and waivers."""
    listed = form.filtered(findings.filter(utterance__project=project))
    waived = Waived.objects.filter(
        utterance=OuterRef("utterance"), ended_at__isnull=True, waiver__reason=OuterRef("reason")
    )
    shown = findings.select_related(
        "utterance__tree__question", "utterance__project", "utterance__job"
    ).annotate(
        is_waived=Exists(waived), blocks=Exists(findings.blocking().filter(pk=OuterRef("pk")))
    )
    page = page_of(
        listed.order_by("reason", "utterance__utterance_id"), shown, asked=asked, size=ROWS_ON_PAGE
    )
    return {
        "project": project,
        "form": form,
        "page": page,
        "rows": [
            {"finding": finding, "words": REASONS[InconsistencyReason(finding.reason)]}
            for finding in page.object_list
        ],
        "numbers": numbers_of(project),
        "waivers": list(waivers_in_force(project)),
    }


def text_checks_page(
    project: Project, faults: ScenarioFaultQuerySet, form: FaultFilter, *, asked: str | None
) -> dict[str, Any]:
    """Scenarios with a fault; those without facts only when they are asked for."""
    of_project = faults.filter(scenario__tree__project=project)
    reason = form.chosen
    no_facts = ScenarioFault.Reason.NO_FACTS
    listed = of_project.filter(reason=reason) if reason else of_project.exclude(reason=no_facts)
    shown = faults.select_related("scenario__tree__question", "scenario__tree__project")
    page = page_of(listed.order_by("reason", "pk"), shown, asked=asked, size=ROWS_ON_PAGE)
    rows = of_project.order_by().values("reason").annotate(number=Count("pk"))
    counts = {ScenarioFault.Reason(row["reason"]): row["number"] for row in rows}
    return {
        "project": project,
        "form": form,
        "page": page,
        "rows": _with_advice(list(page.object_list)),
        "counts": counts,
        "without_facts": counts.get(no_facts, 0),
        "numbers": numbers_of(project),
    }


def _with_advice(faults: list[ScenarioFault]) -> list[dict[str, Any]]:
    """Each with how to mend it, and for each fact where its question stands in the tree (`node`),
    or that it was taken out. One query."""
    there, out = _questions({fault.scenario.tree_id for fault in faults})
    return [
        {
            "fault": fault,
            "mending": MENDING[ScenarioFault.Reason(fault.reason)],
            "facts": [
                {**fact, "node": there.get(question), "is_cut": question in out}
                for fact in fault.facts
                for question in [(fault.scenario.tree_id, fold(fact[QUESTION]))]
            ],
        }
        for fault in faults
    ]


_Asked = tuple[int, str]
"""The tree and the folded question."""


def _questions(trees: Collection[int]) -> tuple[dict[_Asked, int], set[_Asked]]:
    """The questions that the trees ask, each with its first node, and those that were taken out."""
    there: dict[_Asked, int] = {}
    out: set[_Asked] = set()
    rows = Node.objects.filter(tree__in=trees).questions().order_by("pk")
    for key, tree, text, taken_out_at in rows.values_list("pk", "tree_id", "text", "taken_out_at"):
        if taken_out_at is None:
            there.setdefault((tree, fold(text)), key)
        else:
            out.add((tree, fold(text)))
    return there, out
