"""Several jobs draw the negatives of one project at the same moment: nothing is drawn twice."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.db.models import Count

from apps.projects.models import Job
from apps.projects.services.jobs import start_job_here
from apps.scenarios.models import MINING, NegativeQuestion, NegativeScenario
from apps.scenarios.services.negatives import mine
from tests.factories import make_project
from tests.scenarios.test_negatives import TOPICS, add_tree, say_nothing

pytestmark = pytest.mark.django_db(transaction=True)


def run(job: Job) -> None:
    try:
        mine(job, say_nothing)
    finally:
        connection.close()


def test_of_four_at_once_each_tree_gets_what_it_lacks():
    project = make_project("rules", negative_threshold=0.9)
    for topic in TOPICS:
        add_tree(project, topic)
    wish = {"questions_per_tree": 2, "scenarios_per_tree": 1, "threshold": 0.9}
    jobs = [
        start_job_here(
            project, kind=MINING, created_by=None,
            parameters={**wish, "seed": seed, "shard": 0, "shards": 1},
        )
        for seed in range(4)
    ]  # fmt: skip
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, jobs))
    for model, wanted in ((NegativeQuestion, 2), (NegativeScenario, 1)):
        numbers = model.objects.values("tree").annotate(number=Count("pk"))
        assert sorted(row["number"] for row in numbers) == [wanted] * len(TOPICS)
