"""What a release waits for: answers that do not follow, and limits of the audit."""

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.exports.errors import ExportRefusedError
from apps.exports.services import release
from apps.exports.services.export_jobs import run_export
from apps.exports.services.exporting import Wanted, queue_export
from apps.projects.models import Job, Project, Role, Split
from apps.projects.services.jobs import run_job, start_job_here
from apps.scenarios.models import Utterance
from apps.scenarios.services.audit import Scope, audit_here, set_limit
from apps.scenarios.services.proof import findings_of, prove, waive
from apps.snippets.models import Document
from apps.trees.domain.tree import Answer, FinalAnswer, Question
from apps.trees.models import Tree
from tests.factories import make_member, make_project, make_tree, make_utterance
from tests.pages import words_of_main

pytestmark = pytest.mark.django_db

OLD = "Are you old?"
SHAPE = Question(OLD, FinalAnswer(Answer.YES), FinalAnswer(Answer.NO))
WAITS = (
    "buses: a release waits for 1 utterance of dev whose answer does not follow from the tree; "
    "correct, drop or waive what /p/buses/consistency/?state=blocks&split=dev lists, or allow "
    "unverified ones (--allow-unverified): then it is no release"
)


@pytest.fixture
def tree() -> Tree:
    return make_tree(make_project("buses"), SHAPE)


@pytest.fixture
def project(tree: Tree) -> Project:
    return tree.project


@pytest.fixture
def ada(project) -> User:
    return make_member(project, Role.ADMIN)


def accepted(tree: Tree, ada: User, answer: str) -> Utterance:
    """One that was made here, and that an expert let pass."""
    return make_utterance(
        tree, answer, state=Utterance.State.ACCEPTED, verified_by=ada, verified_at=timezone.now()
    )


def imported(tree: Tree, answer: str, **fields: Any) -> Utterance:
    job = start_job_here(tree.project, kind="ShARC import", parameters={}, created_by=None)
    return make_utterance(tree, answer, job=job, **fields)


def export(out: Path, *more: str) -> tuple[str, dict[str, Any]]:
    """The notes of the command, and what the manifest says about the release."""
    notes = StringIO()
    call_command("export", "--project=buses", "--format=csv", f"--out={out}", *more,
                 stdout=StringIO(), stderr=notes)  # fmt: skip
    (entry,) = json.loads((out / "MANIFEST.json").read_text())["exports"]
    call_command("check_export", str(out), stdout=StringIO())
    return notes.getvalue(), entry.get("release", {})


def refusal(out: Path) -> str:
    with pytest.raises(CommandError) as refused:
        export(out)
    assert not out.exists()
    return str(refused.value)


# Answers --------------------------------------------------------------------------------------


def test_a_release_waits_for_an_answer_that_does_not_follow_until_it_is_waived(
    project, tree, ada, tmp_path
):
    accepted(tree, ada, OLD)
    accepted(tree, ada, "Yes")
    assert refusal(tmp_path / "out") == WAITS
    waive(findings_of(project), reason="decides_early", number=1, why="So.", by=ada,
          now=timezone.now())  # fmt: skip
    notes, said = export(tmp_path / "out")
    assert "note: 1 answer that does not follow was waived" in notes
    assert said == {"waived_findings": {"decides_early": 1}}


def test_what_is_no_release_waits_for_nothing(tree, ada, tmp_path):
    accepted(tree, ada, "Yes")
    assert export(tmp_path / "all", "--allow-unverified")[1] == {}
    Document.objects.update(split=Split.TRAIN)
    assert export(tmp_path / "train")[1] == {}


def test_a_release_waits_for_its_train_set_too(tree, ada, tmp_path):
    accepted(tree, ada, "Yes")
    Document.objects.update(split=Split.TRAIN)
    accepted(make_tree(tree.project, SHAPE), ada, OLD)
    assert refusal(tmp_path / "out") == WAITS.replace("dev", "train")


def test_what_goes_out_with_nobody_is_not_waited_for(tree, ada, tmp_path):
    accepted(tree, ada, OLD)
    make_utterance(tree, "Yes")  # unverified: the page counts it as little as the refusal
    assert prove(tree.project)
    assert not findings_of(tree.project).blocking().exists()
    accepted(make_tree(make_project(), SHAPE), ada, "Yes")
    assert export(tmp_path / "out")[1] == {}


def test_what_came_in_a_file_goes_out_as_it_came_until_it_is_touched(tree, ada, tmp_path):
    utterance = imported(tree, "Yes")
    notes, said = export(tmp_path / "one")
    assert "note: 1 imported utterance went out with an answer that does not follow" in notes
    assert said == {"imported_findings": {"decides_early": 1}}
    Utterance.objects.filter(pk=utterance.pk).update(
        state="accepted", verified_by=ada, verified_at=timezone.now(), version=2
    )
    assert refusal(tmp_path / "two") == WAITS


# From the page --------------------------------------------------------------------------------


def test_the_page_says_what_a_release_waits_for(client, tree, ada):
    accepted(tree, ada, "Yes")
    client.force_login(ada)
    there = reverse("exports:list", args=["buses"])
    asked = {"formats": ["csv"], "splits": ["dev"]}
    said = WAITS.removeprefix("buses: a ")
    assert f"A {said}." in words_of_main(client.post(there, asked).content.decode())
    assert client.post(there, {**asked, "allow_unverified": "on"}).status_code == 302


def test_a_large_project_is_proven_by_its_job(tree, ada, monkeypatch):
    monkeypatch.setattr(release, "PROVEN_AT_ONCE", 1)
    accepted(tree, ada, "Yes")
    job = queue_export(tree.project, Wanted(["csv"], [Split.DEV]), author=ada)
    run_job(job.pk, run_export)
    job.refresh_from_db()
    assert (job.state, job.error) == (Job.State.FAILED, WAITS)
    with pytest.raises(ExportRefusedError):  # what the job has found is known now
        queue_export(tree.project, Wanted(["csv"], [Split.DEV]), author=ada)


# The audit ------------------------------------------------------------------------------------


@pytest.fixture
def audited(tree: Tree, ada: User) -> Tree:
    """Two of two trees' leaves give the answer on their last edge: usually that is too much."""
    accepted(tree, ada, OLD)
    prove(tree.project)
    audit_here(tree.project, Scope(), author=None, progress=lambda *step: None)
    return tree


def limit(tree: Tree, ada: User, most: float | None, waiver: str = "") -> None:
    set_limit(tree.project, "leaf_is_last_edge", most=most, waiver=waiver, actor=ada,
              now=timezone.now())  # fmt: skip


def test_a_limit_of_the_project_makes_a_release_wait_until_it_is_waived(audited, ada, tmp_path):
    export(tmp_path / "usual")
    limit(audited, ada, 0.5)
    assert refusal(tmp_path / "out") == (
        "buses: a release waits for the audit's “Leaves that give the answer on their last edge”, "
        "which is at 100.0 % and over the project's limit of 50 %; bring it down, or waive it on "
        "/p/buses/audit/, or allow unverified ones (--allow-unverified): then it is no release"
    )
    limit(audited, ada, 0.5, "The rules are so.")
    notes, said = export(tmp_path / "out")
    assert "note: 1 limit of the audit was waived" in notes
    assert said == {"waived_figures": ["leaf_is_last_edge"]}
    limit(audited, ada, 1.0)
    assert export(tmp_path / "within")[1] == {}


def test_an_audit_that_has_not_seen_all_does_not_count(audited, ada, tmp_path):
    limit(audited, ada, 1.0)
    make_utterance(audited, "Yes")
    Utterance.objects.filter(answer=OLD).update(
        state="corrected", verified_at=timezone.now() + timedelta(minutes=1)
    )
    assert "waits for an audit, which the project has limits for: 2 utterances came or changed" in (
        refusal(tmp_path / "out")
    )
    Job.objects.filter(kind="audit").delete()
    assert "which the project has limits for: none; measure on /p/buses/audit/" in (
        refusal(tmp_path / "out")
    )
