"""manage.py simulate_workers: what it says, and when it refuses."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.models import User
from apps.projects.models import Membership, Project, Role
from apps.trees.models import Tree
from apps.trees.simulation.people import make_people, name_of
from apps.workers.models import Assignment
from tests.factories import make_member, make_user
from tests.trees.services.growing import make_questions, take, walk, worker_of

pytestmark = pytest.mark.django_db(transaction=True)

CALM = ("--returns=0", "--rejections=0", "--slow=0", "--double=0", "--crashes=0")


def simulate(project: str, workers: int, *options: str) -> tuple[list[str], str]:
    """What it says, and its progress."""
    out, err = StringIO(), StringIO()
    arguments = (f"--project={project}", f"--workers={workers}", *options)
    call_command("simulate_workers", *arguments, stdout=out, stderr=err)
    return out.getvalue().splitlines(), err.getvalue()


def refusal_of(project: str, workers: int, *options: str) -> str:
    with pytest.raises(CommandError) as refusal:
        simulate(project, workers, *options)
    return str(refusal.value)


def test_it_brings_a_project_to_its_end_and_says_what_happened():
    """Case 22: from first questions alone, with no hand work."""
    project = make_questions(3, max_depth=2)
    said, progress = simulate(project.slug, 6, "--until-done", "--seed=1")
    numbers = dict(line.rsplit(": ", 1) for line in said)
    assert numbers["trees finished"] == "3"
    assert {"live nodes", "accepted", "asked", "seconds"} < set(numbers)
    assert int(numbers["accepted"]) == Assignment.objects.filter(state="submitted").count()
    assert "trees finished 3, growing 0" in progress
    assert not Assignment.objects.leased().exists()
    again, _ = simulate(project.slug, 2, "--until-done")
    assert again[:2] == said[:2]


def test_without_until_done_each_does_one_piece_of_work():
    project = make_questions(5, max_depth=2)
    simulate(project.slug, 3, *CALM)
    assert Assignment.objects.filter(state="submitted").count() == 3
    assert len(set(Assignment.objects.values_list("worker", flat=True))) == 3


def test_nobody_can_log_in_as_a_scripted_person_and_a_role_stays():
    project = make_questions(1)
    expert = make_member(project, Role.EXPERT, make_user(name_of(1)))
    people = make_people(project, 2)
    assert make_people(project, 2) == people
    assert (people[0], people[0].has_usable_password()) == (expert, True)
    assert (people[1].username, people[1].has_usable_password()) == ("sim-0002", False)
    roles = Membership.objects.filter(project=project).order_by("user__username")
    assert [one.role for one in roles] == ["expert", "worker"]
    assert User.objects.filter(username__startswith="sim-").count() == 2


def test_too_few_people_are_said_in_one_line():
    project = make_questions(1, max_depth=4)
    Project.objects.update(active_trees=1)
    walk(take(project, make_people(project, 1)[0]), "One?", "Two?")
    assert refusal_of(project.slug, 1, "--until-done") == (
        "not done: 1 tree is not finished: each of 1 scripted people wrote above its open "
        "branches, or had them or gave them back; take more --workers"
    )


def test_what_other_people_have_in_hand_is_said():
    project = make_questions(2, max_depth=1, active_trees=1)
    lease = take(project, worker_of(project))
    Assignment.objects.update(leased_at="2040-01-01T10:00Z", expires_at="2040-01-01T11:00Z")
    said = refusal_of(project.slug, 2, "--until-done", *CALM)
    assert said.startswith(
        "not done: 1 piece of work is in other people's hands, until 2040-01-01 11:00 UTC at the "
        "latest; 1 tree is not finished"
    )
    assert said.endswith(
        "1 first question waits for a tree, and the project lets 1 tree grow at once"
    )
    lease.refresh_from_db()
    assert lease.state == "leased"


def test_a_question_that_everybody_here_wrote_is_said():
    project = make_questions(1)
    (person,) = make_people(project, 1)
    tree_question = project.documents.get().snippets.get().questions.get()
    tree_question.created_by = person
    tree_question.save()
    assert refusal_of(project.slug, 1, "--until-done") == (
        "not done: 1 first question waits for a tree, and everybody here wrote it themselves"
    )


def test_turns_in_dispute_are_said():
    project = make_questions(1, max_depth=1, rejection_votes=2, rejection_voters=2)
    people = make_people(project, 2)
    walk(take(project, people[0]), "One?")
    simulate(project.slug, 2, *CALM[:1], "--rejections=1", *CALM[2:])
    assert "1 turn in dispute waits for a vote" in refusal_of(project.slug, 2, "--until-done")
    said, _ = simulate(project.slug, 4, "--until-done")
    assert said[0] == "trees finished: 1"


def test_what_must_never_be_is_found_and_ends_with_exit_code_1():
    project = make_questions(1, max_depth=1)
    simulate(project.slug, 3, "--until-done")
    Tree.objects.update(state="growing")
    said = refusal_of(project.slug, 3, "--until-done")
    assert said.startswith("not done: ")  # the reason first: the rest may follow from it
    assert "; what must never be, and was so before this run: tree " in said


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--workers=0", "a number of people from 1 to 500"),
        ("--workers=x", "a number of people from 1 to 500"),
        ("--workers=501", "a number of people from 1 to 500"),
        ("--slow=1.5", "a share from 0 to 1"),
        ("--slow=often", "a share from 0 to 1"),
    ],
)
def test_a_wrong_number_is_refused(option, said):
    with pytest.raises(CommandError, match=said):
        call_command("simulate_workers", "--project=x", "--workers=1", option)


def test_a_project_that_is_not_there_is_refused():
    assert refusal_of("nowhere", 1) == "--project nowhere: there is no such project"
    assert not User.objects.exists()
