"""The consistency proof: every answer must be what walking its tree gives (domain/consistency.py).

What was found is kept, with the fingerprint of all that it depends on; only trees that have changed
since are looked at again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import (
    BooleanField,
    Case,
    Count,
    Exists,
    Max,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    When,
)
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Job, Project
from apps.projects.services import audit
from apps.projects.services.jobs import finish_job, queue_job
from apps.scenarios.domain.consistency import Inconsistency, Prover, check
from apps.scenarios.domain.corrections import Parts
from apps.scenarios.domain.facts import fault_of
from apps.scenarios.domain.turns import turns_as_json, turns_from_json
from apps.scenarios.errors import NothingToWaiveError, OtherNumberError
from apps.scenarios.models import (
    Derived,
    Finding,
    FindingQuerySet,
    Scenario,
    ScenarioFault,
    Utterance,
    Waived,
    Waiver,
)
from apps.scenarios.services.prints import prints_of_proof
from apps.trees.domain import tree as domain
from apps.trees.models import Tree, TreeQuerySet, build

KIND = "consistency proof"
TASK = "scenarios.prove"
PROVEN_AT_ONCE = 10_000
"""Fewer utterances than this are proven while somebody waits: it takes about a second."""

TREES_AT_ONCE = 100
BATCH = 500


def open_inconsistencies(project: Project) -> FindingQuerySet:
    """The findings that nobody has waived. Proves first what has changed."""
    prove(project)
    return findings_of(project).open()


def findings_of(project: Project) -> FindingQuerySet:
    """As they were found last."""
    return Finding.objects.filter(utterance__project=project)


def unverified_count(project: Project, splits: Sequence[str]) -> int:
    """How many utterances of these splits an expert has still to look at."""
    rows = Utterance.objects.filter(project=project).to_verify()
    return rows.in_splits(splits).count()


def find_inconsistency(shape: domain.Tree, kind: str, parts: Parts) -> Inconsistency | None:
    """Why the answer does not follow from the tree; None when it does, or is Irrelevant by kind."""
    if kind == Utterance.Kind.NEGATIVE_QUESTION:
        return None
    found = check(
        shape, parts.history, parts.evidence, parts.answer, has_scenario=bool(parts.scenario)
    )
    return found if isinstance(found, Inconsistency) else None


def numbers_of(project: Project) -> dict[str, Any]:
    """For a dashboard: findings by reason, open and waived, and when they were last looked for."""
    waived, blocking = (
        Q(pk__in=some.values("pk"))
        for some in (findings_of(project).waived(), findings_of(project).blocking())
    )
    rows = findings_of(project).order_by().values("reason")
    counted = rows.annotate(
        all=Count("pk"), waived=Count("pk", filter=waived), blocking=Count("pk", filter=blocking)
    )
    found = {row["reason"]: (row["all"], row["all"] - row["waived"]) for row in counted}
    reasons = [(reason, *found.get(reason, (0, 0))) for reason in Finding.Reason]
    never = Q(derived__isnull=True) | Q(derived__proven="")
    unproven = _with_something_to_prove(Tree.objects.filter(never, project=project))
    return {
        "reasons": [{"reason": reason, "all": all, "open": open} for reason, all, open in reasons],
        "all": sum(all for _, all, _ in reasons),
        "open": sum(open for _, _, open in reasons),
        "blocking": sum(row["blocking"] for row in counted),
        **Tree.objects.filter(project=project).aggregate(
            proven_at=Max("derived__proven_at"),
            unproven=Count("pk", filter=Q(pk__in=unproven.values("pk"))),
        ),
    }


# Proving -------------------------------------------------------------------------------------


def prove_or_queue(project: Project, *, author: User) -> int | None:
    """Proves at once, and returns how many trees were looked at; None: a job will do it."""
    utterances = Utterance.objects.filter(project=project).order_by()
    if utterances[:PROVEN_AT_ONCE].count() < PROVEN_AT_ONCE:
        return prove(project)
    if not Job.objects.unfinished().filter(project=project, kind=KIND).exists():
        queue_job(project, kind=KIND, task=TASK, parameters={}, created_by=author)
    return None


@transaction.atomic
def run_proof(job: Job) -> None:
    """The work of a queued job."""
    trees = prove(job.project)
    numbers = numbers_of(job.project)
    finish_job(job, report={"trees": trees, "all": numbers["all"], "open": numbers["open"]})


@transaction.atomic
def prove(project: Project) -> int:
    """Looks again at every tree that has changed since it was last looked at; returns how many."""
    # Two at once would both write what they find.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    trees = _with_something_to_prove(Tree.objects.filter(project=project)).order_by("pk")
    keys = list(trees.values_list("pk", flat=True))
    number = 0
    for start in range(0, len(keys), TREES_AT_ONCE):
        some = keys[start : start + TREES_AT_ONCE]
        prints = prints_of_proof(some)
        proven = dict(Derived.objects.filter(tree__in=some).values_list("tree_id", "proven"))
        changed = [key for key in some if proven.get(key, "") != prints[key]]
        if changed:
            _prove_some(changed, prints, now=timezone.now())
        number += len(changed)
    return number


def prove_utterance(utterance: Utterance, shape: domain.Tree) -> Finding | None:
    """The same for one utterance, which somebody has just changed."""
    Finding.objects.filter(utterance=utterance).delete()
    if not utterance.is_in_force:
        return None
    found = find_inconsistency(shape, utterance.kind, utterance.parts)
    if found is None:
        return None
    return Finding.objects.create(
        utterance=utterance, reason=found.reason.value, expected=found.expected or ""
    )


def prove_scenario(scenario: Scenario, shape: domain.Tree) -> ScenarioFault | None:
    """Brings the fault of a scenario in line whose facts somebody has just decided on."""
    ScenarioFault.objects.filter(scenario=scenario).delete()
    found = fault_of(shape, [fact.turn for fact in scenario.facts.all()])
    if found is None or scenario.state != Scenario.State.STANDS:
        return None
    return ScenarioFault.objects.create(
        scenario=scenario, reason=found.fault.value, facts=turns_as_json(found.facts)
    )


def _with_something_to_prove(trees: TreeQuerySet) -> TreeQuerySet:
    """Those with an utterance or a scenario."""
    utterances = Utterance.objects.filter(tree=OuterRef("pk"))
    scenarios = Scenario.objects.filter(tree=OuterRef("pk"))
    return trees.filter(Exists(utterances) | Exists(scenarios))


def _prove_some(keys: Sequence[int], prints: dict[int, str], *, now: datetime) -> None:
    Finding.objects.filter(utterance__tree__in=keys).delete()
    ScenarioFault.objects.filter(scenario__tree__in=keys).delete()
    scenarios = Prefetch("scenarios", Scenario.objects.in_force().order_by("pk"))
    trees = Tree.objects.filter(pk__in=keys).with_live_nodes()
    shapes: dict[int, domain.Tree] = {}
    faults: list[ScenarioFault] = []
    for tree in trees.prefetch_related(scenarios, "scenarios__facts"):
        shapes[tree.pk] = build(tree.nodes.all())
        faults += _faults(tree, shapes[tree.pk])
    Finding.objects.bulk_create(_findings(shapes), batch_size=BATCH)
    ScenarioFault.objects.bulk_create(faults, batch_size=BATCH)
    Derived.objects.bulk_create(
        (Derived(tree_id=key, proven=prints[key], proven_at=now) for key in keys),
        update_conflicts=True, unique_fields=["tree"], update_fields=["proven", "proven_at"],
        batch_size=BATCH,
    )  # fmt: skip


def _findings(shapes: dict[int, domain.Tree]) -> Iterator[Finding]:
    provers = {key: Prover(shape) for key, shape in shapes.items()}
    rows = Utterance.objects.in_force().filter(tree__in=list(shapes)).order_by("pk")
    looked_at = rows.exclude(kind=Utterance.Kind.NEGATIVE_QUESTION)
    says = Case(When(scenario="", then=False), default=True, output_field=BooleanField())
    columns = ("pk", "tree_id", "history", "evidence", "answer", "says")
    told_of = looked_at.annotate(says=says).values_list(*columns)
    for key, tree, history, evidence, answer, has_scenario in told_of.iterator():
        told = turns_from_json(history), turns_from_json(evidence)
        found = provers[tree].check(*told, answer, has_scenario=has_scenario)
        if isinstance(found, Inconsistency):
            yield Finding(
                utterance_id=key, reason=found.reason.value, expected=found.expected or ""
            )


def _faults(tree: Tree, shape: domain.Tree) -> Iterator[ScenarioFault]:
    for scenario in tree.scenarios.all():
        if found := fault_of(shape, [fact.turn for fact in scenario.facts.all()]):
            yield ScenarioFault(
                scenario=scenario, reason=found.fault.value, facts=turns_as_json(found.facts)
            )


# Waivers -------------------------------------------------------------------------------------


@transaction.atomic
def waive(
    findings: FindingQuerySet, *, reason: str, number: int, why: str, by: User, now: datetime
) -> Waiver:
    """Writes down why those of `findings` with this reason, all of one project, block no release.

    `number` is how many the expert has seen. What is found later is not covered. Raises
    NothingToWaiveError and OtherNumberError.
    """
    rows = list(findings.open().filter(reason=reason).select_related("utterance__project"))
    if not rows:
        raise NothingToWaiveError
    if len(rows) != number:
        raise OtherNumberError(number, len(rows))
    project = rows[0].utterance.project
    waiver = Waiver.objects.create(project=project, reason=reason, why=why, by=by, at=now)
    utterances = [row.utterance for row in rows]
    end_waivers(utterances, by=by, now=now)  # of another reason, which no longer holds
    Waived.objects.bulk_create(
        (Waived(waiver=waiver, utterance=utterance) for utterance in utterances), batch_size=BATCH
    )
    audit.record(
        by, "waive inconsistencies", waiver, project=project, reason=reason, why=why,
        utterances=[utterance.utterance_id for utterance in utterances],
    )  # fmt: skip
    return waiver


@transaction.atomic
def withdraw_waiver(waiver: Waiver, *, by: User, now: datetime) -> int:
    """What it covered is open again; returns how many."""
    ended = waiver.covered.filter(ended_at__isnull=True).update(ended_at=now, ended_by=by)
    if ended:
        audit.record(by, "withdraw waiver", waiver, project=waiver.project, utterances=ended)
    return ended


def end_waivers(utterances: Sequence[Utterance], *, by: User, now: datetime) -> None:
    """For utterances that have changed: what was said of them before does not hold for them now."""
    for start in range(0, len(utterances), BATCH):
        some = utterances[start : start + BATCH]
        covered = Waived.objects.filter(utterance__in=some, ended_at__isnull=True)
        covered.update(ended_at=now, ended_by=by)


def waivers_in_force(project: Project) -> QuerySet[Waiver]:
    """Those that still cover something, with what they cover."""
    covered = Waived.objects.filter(ended_at__isnull=True).select_related("utterance")
    waivers = Waiver.objects.filter(
        project=project, covered__ended_at__isnull=True, covered__isnull=False
    )
    return (
        waivers.distinct()
        .select_related("by")
        .prefetch_related(Prefetch("covered", covered.order_by("utterance__utterance_id")))
    )
