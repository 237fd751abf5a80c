"""Cases 28 to 39, as far as they are not beside the code that writes exports."""

import csv
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from apps.exports.services.export_jobs import run_export
from apps.exports.services.exporting import Wanted, export_here, queue_export
from apps.exports.services.splits import plan_splits_anew, write_splits
from apps.projects.models import Job, Project, Role, Split
from apps.projects.services.jobs import run_job
from apps.projects.services.projects import create_project
from apps.scenarios.models import Utterance
from apps.scenarios.services.expansion import expand_project
from apps.snippets.models import Document
from apps.trees.domain.tree import Answer, FinalAnswer, Question
from apps.trees.services.paths import submit_path
from apps.trees.services.walks import give_final_answer, undo
from sharc_studio.environment import BASE_DIR
from tests.cases.large import fill_many
from tests.factories import make_member, make_project, make_tree, make_user, make_utterance
from tests.trees.services.growing import NOW, make_questions, take

pytestmark = pytest.mark.django_db

ALL = ["csv", "sharc", "conversational-json", "mnbvc-dialogue"]


def quietly(*said: object) -> None:
    """No progress to show."""


def filled(slug: str, count: int) -> Project:
    project = make_project(slug)
    fill_many(project, range(count), admin=make_member(project, Role.ADMIN))
    return project


def peak_of_export(project: Project, split: Split) -> int:
    """Bytes that Python held at most while a job exported the split."""
    wanted = Wanted(["csv", "mnbvc-dialogue"], [split], allow_unverified=True)
    job = queue_export(project, wanted, author=make_member(project, Role.ADMIN))
    tracemalloc.start()
    run_job(job.pk, run_export)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    job.refresh_from_db()
    assert (job.state, job.error) == (Job.State.DONE, "")
    exported = sum(job.report["exported"][split].values())
    assert exported == Utterance.objects.in_split(split).count()
    return peak


@pytest.mark.once
def test_case_28_memory_does_not_grow_with_the_project():
    """Chunks are of 2,000 rows: from there on, more rows take no more memory."""
    project = filled("large", 7010)
    keys = list(Document.objects.order_by("pk").values_list("pk", flat=True))
    Document.objects.filter(pk__gt=keys[2009]).update(split=Split.TRAIN)
    Document.objects.filter(pk__lte=keys[9]).update(split=Split.TEST)
    peak_of_export(project, Split.TEST)  # whatever is loaded once
    assert peak_of_export(project, Split.TRAIN) < 1.35 * peak_of_export(project, Split.DEV)


@pytest.mark.once
def test_case_29_thousands_of_rows_are_asked_for_some_at_a_time(tmp_path):
    project = filled("many", 1200)
    # As builds of SQLite that take the fewest variables: SQLITE_LIMIT_VARIABLE_NUMBER.
    before = connection.connection.setlimit(9, 999)
    try:
        export_here(project, splits=[], out=tmp_path / "out", formats=ALL, progress=quietly,
                    allow_unverified=True)  # fmt: skip
        Document.objects.update(split="")
        moved = write_splits(project, plan_splits_anew(project), actor=make_user())
    finally:
        connection.connection.setlimit(9, before)
    assert moved == 1200


def test_case_31_commas_quotes_and_line_breaks_survive_in_csv(tmp_path):
    asked = 'Is it "so", or\nnot;\r\nor ",\n"?'
    project = make_project("odd")
    tree = make_tree(project, Question(asked, FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)))
    make_utterance(tree, asked)
    export_here(project, splits=[], out=tmp_path / "out", formats=["csv"], progress=quietly,
                allow_unverified=True)  # fmt: skip
    with (tmp_path / "out" / "utterances_dev.csv").open(encoding="utf-8", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert row["answer"] == asked


WRITE = """\
import sys
from pathlib import Path

import django

django.setup()
from apps.exports.formats.registry import FORMATS
from apps.exports.formats.rows import Options
from apps.trees.domain.tree import Answer, FinalAnswer
from tests.exports.sources import ListSource, tree_row

tree = tree_row(FinalAnswer(Answer.YES), snippet="Zürich 東京", question="Où?", url="u")
for name in FORMATS:
    folder = Path(sys.argv[1]) / name
    folder.mkdir(parents=True)
    FORMATS[name].write(ListSource({"dev": [tree]}), folder, Options())
    found = [row for one in FORMATS[name].read(folder) for row in one.utterances]
    assert all(row.snippet in ("", tree.snippet) for row in found), name
"""


@pytest.mark.once
def test_case_34_files_are_utf_8_whatever_the_locale_is(tmp_path):
    script = tmp_path / "write.py"
    script.write_text(WRITE, encoding="utf-8")
    made = []
    for locale in ("C", "C.UTF-8"):
        target = tmp_path / locale
        env = {**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0",
               "DJANGO_SETTINGS_MODULE": "sharc_studio.settings",
               "PYTHONPATH": str(BASE_DIR)}  # fmt: skip
        subprocess.run([sys.executable, script, target], cwd=BASE_DIR, env=env, check=True)
        made.append(
            {path.relative_to(target): path.read_bytes() for path in sorted(target.rglob("*.*"))
             if path.is_file()}
        )  # fmt: skip
    assert made[0] == made[1]
    assert "Zürich 東京".encode() in made[0][Path("csv/utterances_dev.csv")]


def test_case_35_yes_then_no_then_yes_is_one_yes(tmp_path):
    project = make_questions(1, slug="minds")
    Document.objects.update(split=Split.DEV)
    lease = take(project)
    for answer in (Answer.YES, Answer.NO):
        give_final_answer(lease, position=0, answer=answer, now=NOW)
        undo(lease, position=0, now=NOW)
    give_final_answer(lease, position=0, answer=Answer.YES, now=NOW)
    submit_path(lease, key="once", now=NOW)
    submit_path(lease, key="once", now=NOW)
    expand_project(project, author=None, progress=quietly)
    export_here(project, splits=[], out=tmp_path / "out", progress=quietly, allow_unverified=True)
    rows: list[dict[str, Any]] = json.loads(
        (tmp_path / "out" / "minds" / "json" / "sharc_dev.json").read_text()
    )
    assert [(row["answer"], row["history"]) for row in rows] == [("Yes", [])]


def test_case_39_two_projects_called_a_b_both_export(tmp_path):
    for slug in ("a-b", "a-b-2"):
        project = create_project(Project(slug=slug, name="A/B"), created_by=make_user())
        make_utterance(make_tree(project, FinalAnswer(Answer.YES)))
        wanted = Wanted(["sharc"], [Split.DEV], allow_unverified=True)
        job = queue_export(project, wanted, author=make_member(project, Role.ADMIN))
        run_job(job.pk, run_export)
        job.refresh_from_db()
        assert (job.state, job.result) == (Job.State.DONE, f"exports/{job.pk}/{slug}.zip")
        call_command("export", project=slug, format="huggingface", out=tmp_path / slug,
                     allow_unverified=True)  # fmt: skip
        assert "A/B" in (tmp_path / slug / "README.md").read_text("utf-8")
    assert Utterance.objects.count() == 2
