"""A project from documents to a release, by scripted people: every step leads to the next."""

import pytest

from apps.projects.models import Project
from apps.scenarios.models import Scenario, Utterance
from apps.trees.models import Tree
from apps.workers.models import Assignment
from benchmarks.whole_project import SLUG, run

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_project_goes_from_documents_to_a_release(tmp_path):
    """Cases 24, 30 and 36, on all steps together."""
    counts = run(tmp_path, documents=4, say=lambda line: None)
    assert counts["documents"] == {"loaded": 4, "snippets": 8}
    assert counts["questions"] == {"accepted": 8, "snippets left": 0}
    assert counts["trees"]["trees finished"] == 8
    asking = Tree.objects.filter(nodes__kind="question").distinct().count()
    assert counts["scenarios"]["kept"] == 2 * asking
    assert counts["scenarios"]["checks"] == 2 * asking + counts["scenarios"]["sent back"]
    assert set(Scenario.objects.values_list("state", flat=True)) <= {"stands", "sent back"}
    assert counts["negatives"]["questions"] == 16
    waited = counts["utterances"]["dev"] + counts["utterances"]["test"]
    assert sum(counts["verification"].values()) == waited > 20
    assert counts["proof"] | {"found": 0} == {"found": 0, "blocking": 0, "unproven": 0}
    kept = waited - counts["verification"]["dropped"]
    assert counts["release"] == {"in the files": kept, "in the dataset": kept}
    project = Project.objects.get(slug=SLUG)
    unverified = Utterance.objects.filter(project=project).to_verify()
    assert not unverified.in_splits(["dev", "test"]).exists()
    assert not Assignment.objects.leased().exists()
    people = b"".join(path.read_bytes() for path in (tmp_path / "release").rglob("*.csv"))
    assert b"sim-0001" not in people
    assert b"whole-a" not in people
