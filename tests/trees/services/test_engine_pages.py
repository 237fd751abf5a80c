"""Scripted people who work through the pages, by plain requests, as a browser without scripts."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.models import User
from apps.projects.models import Project
from apps.scenarios.models import Scenario, ScenarioCheck
from apps.trees.models import Node, Tree
from apps.workers.models import Assignment
from tests.scenarios.writing import make_writing
from tests.trees.services.growing import make_questions
from tests.workers.qualifying import make_test, need_it

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]

NUISANCES = ("--returns=0.1", "--rejections=0.15", "--slow=0.15", "--double=0.2", "--crashes=0.15")


def simulate(project: Project, workers: int, *options: str) -> dict[str, str]:
    out = StringIO()
    arguments = (f"--project={project.slug}", f"--workers={workers}", *options)
    call_command("simulate_workers", *arguments, stdout=out, stderr=StringIO())
    return dict(line.rsplit(": ", 1) for line in out.getvalue().splitlines())


def test_through_the_pages_people_bring_trees_to_their_end(live_server):
    project = make_questions(
        2, max_depth=2, rejection_votes=2, rejection_voters=2, spans_required=True,
        scenarios_per_finished_tree=0,
    )  # fmt: skip
    said = simulate(project, 5, "--until-done", "--seed=5", f"--http={live_server.url}", *NUISANCES)
    assert said["trees finished"] == "2"
    done = Assignment.objects.filter(state="submitted").count()
    assert (int(said["accepted"]), Assignment.objects.leased().count()) == (done, 0)
    assert {tree.state for tree in Tree.objects.all()} == {"finished"}
    questions = Node.objects.questions().filter(assignment__isnull=False)
    assert not questions.filter(span_start=None).exists()
    assert not any(person.has_usable_password() for person in User.objects.all())


def test_through_the_pages_people_write_scenarios_and_check_them(live_server):
    project, tree = make_writing(2, checks_per_scenario=1)
    rates = ("--slow=0.2", "--double=0.2", "--crashes=0.1", "--returns=0", "--rejections=0")
    said = simulate(project, 5, "--until-done", "--seed=2", f"--http={live_server.url}", *rates)
    done = Assignment.objects.filter(state="submitted")
    assert (int(said["accepted"]), Assignment.objects.leased().count()) == (done.count(), 0)
    written = Scenario.objects.filter(tree=tree)
    assert written.kept().count() == 2 or written.count() == 5  # all were sent back
    assert not written.filter(state="waiting").exists()
    assert ScenarioCheck.objects.count() == done.filter(kind="scenario check").count() >= 2


def test_who_lacks_the_qualification_is_told_and_does_nothing(live_server):
    project = make_questions(1, max_depth=1)
    make_test(project)
    need_it(project)
    with pytest.raises(CommandError, match="1 scripted person lacks the qualification"):
        simulate(project, 1, "--until-done", f"--http={live_server.url}")


def test_an_address_that_is_none_is_refused():
    with pytest.raises(CommandError, match="begins with http"):
        call_command(
            "simulate_workers", "--project=x", "--workers=1", "--http=ftp://office.example"
        )


def test_where_nothing_answers_it_says_so_at_once():
    project = make_questions(1)
    with pytest.raises(CommandError, match=r"--http http://127\.0\.0\.1:1: nothing answers there"):
        simulate(project, 1, "--http=http://127.0.0.1:1")
    assert not Assignment.objects.exists()


def test_a_page_that_nobody_should_see_ends_it_with_exit_code_1(live_server, settings):
    project = make_questions(1, max_depth=1)
    settings.ALLOWED_HOSTS = ["office.example"]
    with pytest.raises(CommandError, match="400 at"):
        simulate(project, 1, f"--http={live_server.url}")
