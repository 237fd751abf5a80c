"""Which snippets of a project say nearly the same: compared in the background, kept in a table.

Asked for whenever an expert takes a document; compared only when texts or the threshold have
changed since, and not every minute: the comparison is of all texts with all.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from heapq import heappush, heappushpop
from typing import Any

from django.db import transaction
from django.db.models import Count, Max

from apps.projects.models import Job, Project
from apps.projects.services.jobs import finish_job, queue_job, report_progress
from apps.snippets.domain.similarity import near_duplicates
from apps.snippets.models import BenchStep, NearDuplicate, Snippet

KIND = "near-duplicates"
TASK = "snippets.find_near_duplicates"
NOT_SOONER_THAN = timedelta(minutes=10)
MOST_PER_SNIPPET = 10
"""A sentence that stands on every page would otherwise be a pair with each of them."""
SMALLEST_THRESHOLD = 0.01
BATCH = 1000

Found = dict[int, list[tuple[float, int]]]


def look_for_near_duplicates(project: Project, *, now: datetime) -> Job | None:
    """Queues the comparison if there is something new to compare."""
    texts = _state_of_texts(project)
    last = project.jobs.filter(kind=KIND).first()
    if last and (last.parameters == texts or last.queued_at > now - NOT_SOONER_THAN):
        return None
    return queue_job(project, kind=KIND, task=TASK, parameters=texts, created_by=None)


def find_near_duplicates(job: Job) -> None:
    """What the job does; all of the project's pairs are replaced at once."""
    report_progress(job, step="comparing")
    snippets = Snippet.objects.filter(
        document__project=job.project, state__in=[Snippet.State.PROPOSED, Snippet.State.ACCEPTED]
    )
    keys, texts = [], []
    for key, text in snippets.order_by("pk").values_list("pk", "text"):
        keys.append(key)
        texts.append(text)
    threshold = max(job.project.near_duplicate_threshold, SMALLEST_THRESHOLD)
    found = _closest(near_duplicates(texts, threshold))
    report_progress(job, step="writing")
    with transaction.atomic():
        NearDuplicate.objects.filter(snippet__document__project=job.project).delete()
        NearDuplicate.objects.bulk_create(_rows(found, keys), batch_size=BATCH)
        finish_job(job, report={"compared": len(keys), "with_near_duplicates": len(found)})


def _closest(pairs: Iterable[tuple[int, int, float]]) -> Found:
    found: Found = defaultdict(list)
    for one, other, cosine in pairs:
        for snippet, near in ((one, other), (other, one)):
            closest, entry = found[snippet], (cosine, near)
            if len(closest) < MOST_PER_SNIPPET:
                heappush(closest, entry)
            else:
                heappushpop(closest, entry)
    return found


def _rows(found: Found, keys: list[int]) -> Iterator[NearDuplicate]:
    for snippet, closest in found.items():
        for cosine, other in closest:
            yield NearDuplicate(snippet_id=keys[snippet], other_id=keys[other], cosine=cosine)


def _state_of_texts(project: Project) -> dict[str, Any]:
    """Changes whenever a text does."""
    counted = Snippet.objects.filter(document__project=project).aggregate(
        snippets=Count("pk"), newest=Max("pk")
    )
    reshaping = BenchStep.objects.filter(
        document__project=project, action__in=["edit", "merge", "split"]
    )
    last_step = reshaping.aggregate(step=Max("pk"), undone=Count("undone_at"))
    return {**counted, **last_step, "threshold": project.near_duplicate_threshold}
