"""Puts documents into train, dev and test (design 4.7), and says what crosses."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha1

from django.db import transaction

from apps.accounts.models import User
from apps.exports.domain.splits import (
    DEFAULT_RATIOS,
    Leak,
    RatiosError,
    Source,
    check_ratios,
    leaks,
    place_sources,
)
from apps.exports.errors import SplitsRefusedError
from apps.projects.models import Job, Project, Split
from apps.projects.services import audit
from apps.projects.services.jobs import finish_job, queue_job
from apps.snippets.domain.folding import fold
from apps.snippets.models import Document, DocumentQuerySet
from apps.trees.models import Tree

AT_ONCE = 500
KIND = "splits"
TASK = "exports.make_splits"
QUEUED_FROM = 3000
"""Pages; drawing fewer takes about a second."""


@dataclass(frozen=True)
class SplitPlan:
    """What drawing splits would do: the sources as they would be, and where each moved goes.

    `before` are the same sources, as they are now.
    """

    sources: tuple[Source, ...]
    moved: dict[str, str]
    before: tuple[Source, ...] = ()

    @property
    def table(self) -> list[tuple[str, Counter[str]]]:
        """Trees by domain, and within it by split; the domains by name."""
        trees: dict[str, Counter[str]] = defaultdict(Counter)
        for source in self.sources:
            trees[source.domain][source.split] += source.trees
        return sorted(trees.items())

    @property
    def totals(self) -> Counter[str]:
        """Trees by split."""
        return sum((by_split for _, by_split in self.table), Counter())

    @property
    def changed(self) -> int:
        """How many sources would be in another split than they are, or in one at last."""
        pairs = zip(self.before, self.sources, strict=True)
        return sum(before.split != after.split for before, after in pairs)

    @property
    def leaks(self) -> list[Leak]:
        return leaks(self.sources)


def plan_splits(
    project: Project, *, ratios: Sequence[float] = DEFAULT_RATIOS, seed: int = 0
) -> SplitPlan:
    """Places what is in no split; what is placed stays. Raises SplitsRefusedError."""
    sources = sources_of(project)
    return _plan(sources, sources, ratios, seed)


def plan_splits_anew(
    project: Project, *, ratios: Sequence[float] = DEFAULT_RATIOS, seed: int = 0
) -> SplitPlan:
    """Places everything anew but what is pinned. Raises SplitsRefusedError."""
    sources = sources_of(project)
    return _plan(sources, [one if one.is_pinned else replace(one, split="") for one in sources],
                 ratios, seed)  # fmt: skip


def _plan(
    before: Sequence[Source], sources: Sequence[Source], ratios: Sequence[float], seed: int
) -> SplitPlan:
    try:
        moved = place_sources(sources, ratios=check_ratios(ratios), seed=seed)
    except RatiosError as error:
        raise SplitsRefusedError(f"{str(error).capitalize()}.") from error
    after = tuple(replace(one, split=moved.get(one.key, one.split)) for one in sources)
    return SplitPlan(after, moved, tuple(before))


def empty_splits(plan: SplitPlan, ratios: Sequence[float]) -> list[str]:
    """Those that would hold no tree, though a share of the trees is wanted in them."""
    if not plan.sources:
        return []
    shares = zip(Split.values, ratios, strict=True)
    return [split for split, share in shares if share and not plan.totals[split]]


@transaction.atomic
def write_splits(project: Project, plan: SplitPlan, *, actor: User | None) -> int:
    """Moves the documents as planned; returns how many. Raises SplitsRefusedError."""
    locked = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    refuse_frozen(locked)
    moved = 0
    for split in Split:
        keys = [one.key for one in plan.sources if one.split == split]
        for start in range(0, len(keys), AT_ONCE):
            some = _documents(project).filter(source_url__in=keys[start : start + AT_ONCE])
            moved += some.exclude(split=split).update(split=split)
    if moved:
        totals = {name: plan.totals[name] for name in Split.values}
        audit.record(actor, "make splits", project, project=project, documents=moved, trees=totals)
    return moved


def refuse_frozen(project: Project) -> None:
    if project.splits_frozen_at is not None:
        raise SplitsRefusedError(
            "The splits of this project are frozen for a release. Thaw them on the page Splits "
            "before documents can move."
        )


@transaction.atomic
def pin_document(document: Document, *, split: Split, actor: User) -> None:
    """The page stays in this split from now on, with all its versions."""
    project = Project.objects.select_for_update(no_key=True).get(pk=document.project_id)
    refuse_frozen(project)
    same = _documents(project).filter(source_url=document.source_url)
    same.update(split=split, is_split_pinned=True)
    audit.record(actor, "pin split", document, project=project, split=split)


@transaction.atomic
def unpin_document(document: Document, *, actor: User) -> None:
    """The page may move again when splits are drawn anew."""
    same = Document.objects.filter(project=document.project_id, source_url=document.source_url)
    if same.filter(is_split_pinned=True).update(is_split_pinned=False):
        audit.record(actor, "unpin split", document, project=document.project)


@transaction.atomic
def freeze_splits(project: Project, *, actor: User, now: datetime) -> bool:
    """False: they were frozen before."""
    thawed = Project.objects.filter(pk=project.pk, splits_frozen_at=None)
    if not thawed.update(splits_frozen_at=now):
        return False
    audit.record(actor, "freeze splits", project, project=project)
    return True


@transaction.atomic
def thaw_splits(project: Project, *, actor: User) -> bool:
    """False: they were not frozen."""
    frozen = Project.objects.filter(pk=project.pk, splits_frozen_at__isnull=False)
    if not frozen.update(splits_frozen_at=None):
        return False
    audit.record(actor, "thaw splits", project, project=project)
    return True


def queue_splits(
    project: Project, *, ratios: Sequence[float], seed: int, anew: bool, author: User
) -> Job:
    """For projects that are too large to draw while somebody waits."""
    parameters = {"ratios": list(ratios), "seed": seed, "anew": anew}
    return queue_job(project, kind=KIND, task=TASK, parameters=parameters, created_by=author)


@transaction.atomic
def run_splits(job: Job) -> None:
    """The work of a queued job."""
    said = dict(job.parameters)
    make_plan = plan_splits_anew if said.pop("anew") else plan_splits
    plan = make_plan(job.project, **said)
    moved = write_splits(job.project, plan, actor=job.created_by)
    totals = [(name, plan.totals[name]) for name in Split.values]
    report = {
        "documents": moved, "trees": totals, "leaks": len(plan.leaks),
        "empty": empty_splits(plan, said["ratios"]),
    }  # fmt: skip
    finish_job(job, report=report)


def state_of(sources: Iterable[Source]) -> str:
    """Changes whenever rule texts, splits or pins do."""
    digest = sha1(usedforsecurity=False)
    for one in sources:
        parts = [one.key, one.domain, one.trees, one.split, one.is_pinned, *sorted(one.texts)]
        digest.update(f"{parts}\n".encode())
    return digest.hexdigest()


def sources_of(project: Project) -> list[Source]:
    """The pages that have trees. One query; of the rule texts only digests are kept."""
    rows = Tree.objects.filter(project=project).values_list(
        "question__snippet__document__source_url",
        "question__snippet__document__domain",
        "question__snippet__document__split",
        "question__snippet__document__is_split_pinned",
        "question__snippet__text",
    )
    domains: dict[str, str] = {}
    splits: dict[str, set[str]] = defaultdict(set)
    texts: dict[str, list[str]] = defaultdict(list)
    pinned = set()
    for url, domain, split, is_pinned, text in rows.order_by().iterator():
        domains[url] = domain
        splits[url].add(split)
        if is_pinned:
            pinned.add(url)
        texts[url].append(sha1(fold(text).encode(), usedforsecurity=False).hexdigest())
    return [
        # A new version of a page is in no split until it follows the older ones.
        Source(
            url,
            domains[url],
            len(texts[url]),
            frozenset(texts[url]),
            max(splits[url]),
            url in pinned,
        )
        for url in sorted(domains)
    ]


def _documents(project: Project) -> DocumentQuerySet:
    return Document.objects.filter(project=project)
