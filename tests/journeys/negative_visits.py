"""The pages of negatives in each state that looks different, for tests of all pages."""

from collections.abc import Iterator
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Project
from apps.scenarios.models import NegativeQuestion, NegativeScenario
from apps.scenarios.services.negative_choices import replace_negative
from apps.scenarios.services.negatives import Wish, mine_here
from apps.scenarios.services.similarities import measure_or_queue
from apps.trees.models import Node


def negative_visits(project: Project, reader: User) -> Iterator[tuple[str, str]]:
    """Names of URLs, with the state, and addresses."""

    def visit(name: str, *arguments: object, query: str = "", state: str = "") -> tuple[str, str]:
        address = reverse(f"scenarios:{name}", args=[project.slug, *arguments]) + query
        return f"scenarios:{name} {state}".strip(), address

    wish = Wish(4, 2, 0.9, attach=True)  # the demo has two and one
    job = mine_here(project, wish, author=reader, progress=lambda *_: None)
    negatives = NegativeQuestion.objects.filter(job=job).select_related("tree__project", "job")
    dropped, *others = negatives.order_by("pk")
    replaced = replace_negative(dropped, reason="Too easy.", actor=reader, now=timezone.now())
    measure_or_queue(project, author=reader)
    yield visit("negatives")
    yield visit("negatives", query="?kind=scenarios&q=zzzz", state="nothing found")
    yield visit("negative", "questions", dropped.pk, state="dropped")
    attached = next(one for one in others if one.attached_scenario_id)
    yield visit("negative", "questions", attached.pk, state="attached")
    yield visit("negative", "scenarios", NegativeScenario.objects.filter(job=job)[0].pk)
    for part in ("batch", "tree"):
        yield visit("audit_parts", part)
    authors = Node.objects.filter(tree__project=project, created_by__isnull=False)
    name = authors.values_list("created_by__username", flat=True).earliest("pk")
    yield visit("audit", query=f"?{urlencode({'worker': name})}", state="of a part")
    yield visit("similarities", query="?threshold=0.05")
    yield "projects:job negatives", job.get_absolute_url()
    assert replaced is not None
    yield "projects:job replacing", replaced.get_absolute_url()
