"""Two people import or expand at the same moment: each row once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection

from apps.exports.services.sharc_import import import_here
from apps.exports.services.sharc_reading import ImportFiles
from apps.projects.models import Job, Project
from apps.scenarios.models import Utterance
from apps.scenarios.services.expansion import expand_project
from apps.trees.models import Tree
from tests.exports.records import bus_pass, write
from tests.factories import make_project

pytestmark = pytest.mark.django_db(transaction=True)


def quietly(step: str, done: int, total: int) -> None:
    """No progress to show."""


def import_once(path: Path) -> Job:
    try:
        return import_here(
            ImportFiles(utterances=((path.name, path),)),
            slug="buses", split=None, author=None, progress=quietly,
        )  # fmt: skip
    finally:
        connection.close()


def test_the_same_file_imported_by_six_at_once_is_here_once(tmp_path):
    make_project("buses")
    path = write(tmp_path / "sharc_dev.json", bus_pass())
    with ThreadPoolExecutor(6) as pool:
        jobs = list(pool.map(import_once, [path] * 6))
    assert Tree.objects.count() == 1
    assert Utterance.objects.count() == 9
    created = [dict(job.report["created"]).get("utterances", 0) for job in jobs]
    assert sorted(created) == [0, 0, 0, 0, 0, 9]


def expand_once(project: Project) -> int:
    try:
        job = expand_project(project, author=None, progress=quietly)
        return sum(job.report["added"].values())
    finally:
        connection.close()


def test_a_project_expanded_by_four_at_once_has_each_utterance_once(tmp_path):
    project = make_project("buses")
    import_once(write(tmp_path / "sharc_dev.json", bus_pass()))
    Utterance.objects.all().delete()
    with ThreadPoolExecutor(4) as pool:
        added = list(pool.map(expand_once, [project] * 4))
    # 5 plain; the scenario of an old person stands at two nodes, the other has no facts; 1 of bees.
    assert sorted(added) == [0, 0, 0, 8]
    assert Utterance.objects.count() == 8
