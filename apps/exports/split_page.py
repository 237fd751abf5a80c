"""What the page of splits shows: sizes as they are and as they would be, and what crosses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator

from apps.exports.domain.splits import DEFAULT_RATIOS, Leak, Source
from apps.exports.services.leaks import last_leak_report
from apps.exports.services.splits import SplitPlan, empty_splits
from apps.projects.models import Job, Project, Split
from apps.snippets.models import Document
from apps.trees.models import Tree

NAMES = [*((split.value, split.label) for split in Split), ("", "In no split")]
DOMAINS_ON_PAGE = 25
LEAKS_ON_PAGE = 20


@dataclass(frozen=True)
class Size:
    """Of one split: pages and trees, and their share of all trees in per cent."""

    pages: int
    trees: int
    share: float


@dataclass(frozen=True)
class SizeRow:
    name: str
    now: Size
    after: Size | None
    wanted: float | None


def empty(plan: SplitPlan, wanted: Sequence[float] | None) -> list[str]:
    """Names of the splits that have no tree, or would have none of the share that is wanted."""
    if not wanted and not any(one.split for one in plan.sources):
        return []
    return [Split(split).label for split in empty_splits(plan, wanted or DEFAULT_RATIOS)]


@dataclass(frozen=True)
class DomainRow:
    """Trees of a domain by split, in the order of NAMES: as they are, and as they would be."""

    domain: str
    cells: list[tuple[str, int, int]]


def sizes(plan: SplitPlan, wanted: Sequence[float] | None) -> list[SizeRow]:
    """`wanted` are the shares that a preview was asked for; without them there is none."""
    now, after = _by_split(plan.before), _by_split(plan.sources)
    shares = [*(100 * share for share in wanted), None] if wanted else [None] * len(NAMES)
    return [
        SizeRow(name, now[split], after[split] if wanted else None, share)
        for (split, name), share in zip(NAMES, shares, strict=True)
    ]


def _by_split(sources: Sequence[Source]) -> Mapping[str, Size]:
    pages, trees = Counter[str](), Counter[str]()
    for one in sources:
        pages[one.split] += 1
        trees[one.split] += one.trees
    all_trees = trees.total() or 1
    return {
        split: Size(pages[split], trees[split], 100 * trees[split] / all_trees)
        for split, _ in NAMES
    }


def domains(plan: SplitPlan, asked: str | None) -> Page[DomainRow]:
    now, after = _by_domain(plan.before), _by_domain(plan.sources)
    rows = [
        DomainRow(domain, [(name, now[domain][split], after[domain][split])
                           for split, name in NAMES])
        for domain in sorted(now)
    ]  # fmt: skip
    return Paginator(rows, DOMAINS_ON_PAGE).get_page(asked)


def _by_domain(sources: Sequence[Source]) -> Mapping[str, Counter[str]]:
    trees: dict[str, Counter[str]] = defaultdict(Counter)
    for one in sources:
        trees[one.domain][one.split] += one.trees
    return trees


def exact_leaks(project: Project, plan: SplitPlan) -> tuple[int, list[tuple[Leak, list[Document]]]]:
    """How many there are as it is, and the first ones with the documents. One query."""
    found = SplitPlan(plan.before, {}).leaks
    shown = found[:LEAKS_ON_PAGE]
    urls = [key for leak in shown for key in leak.keys]
    rows = Document.objects.filter(project=project, source_url__in=urls).without_texts()
    by_url: dict[str, Document] = {}
    for document in rows.select_related("project").order_by("source_url", "-version"):
        by_url.setdefault(document.source_url, document)
    return len(found), [(leak, [by_url[key] for key in leak.keys]) for leak in shown]


@dataclass(frozen=True)
class NearRow:
    percent: float
    sides: list[tuple[str, str, str]]  # split, tree_id, rule text


def near_leaks_page(project: Project, state: str, asked: str | None) -> dict[str, Any]:
    """The last report; "is_old" when something has changed since. Two queries."""
    job = last_leak_report(project)
    if job is None:
        return {"job": None}
    page: Any = Paginator(job.report["pairs"], LEAKS_ON_PAGE).get_page(asked)
    page.object_list = _near_rows(project, page.object_list)
    return {"job": job, "page": page, "is_old": _is_old(job, project, state)}


def _is_old(job: Job, project: Project, state: str) -> bool:
    seen = (job.report["state"], job.report["threshold"])
    return seen != (state, project.near_duplicate_threshold)


def _near_rows(project: Project, pairs: list[Any]) -> list[NearRow]:
    keys = {tree_id for _, _, tree_ids in pairs for tree_id in tree_ids}
    trees = Tree.objects.filter(project=project, tree_id__in=keys)
    texts = dict(trees.values_list("tree_id", "question__snippet__text"))
    return [
        NearRow(100 * cosine, [(split, tree_id, texts.get(tree_id, ""))
                               for split, tree_id in zip(splits, tree_ids, strict=True)])
        for cosine, splits, tree_ids in pairs
    ]  # fmt: skip
