"""Scripted people write scenarios and check each other's, with all their nuisances."""

from io import StringIO

import pytest
from django.core.management import call_command

from apps.scenarios.models import Contradiction, Scenario, ScenarioCheck
from apps.workers.models import Assignment
from tests.scenarios.writing import make_writing

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("rejections", [0, 0.5])
def test_scripted_people_write_what_a_tree_needs_and_check_it(rejections):
    project, tree = make_writing(2, checks_per_scenario=1)
    out = StringIO()
    call_command(
        "simulate_workers", f"--project={project.slug}", "--workers=8", "--until-done", "--seed=2",
        "--slow=0.2", "--double=0.2", "--crashes=0.1", f"--rejections={rejections}",
        stdout=out, stderr=StringIO(),
    )  # fmt: skip
    said = dict(line.rsplit(": ", 1) for line in out.getvalue().splitlines())
    done = Assignment.objects.filter(state="submitted")
    assert (int(said["accepted"]), Assignment.objects.leased().count()) == (done.count(), 0)
    written = Scenario.objects.filter(tree=tree)
    assert not written.filter(state="waiting").exists()
    checks = done.filter(kind="scenario check").count()
    assert ScenarioCheck.objects.count() == checks == written.filter(assignment__in=done).count()
    if rejections:
        assert Contradiction.objects.exists()
    else:
        assert written.kept().count() == 2
