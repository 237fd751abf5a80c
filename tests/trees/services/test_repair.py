"""`repair_trees`: what is kept beside the nodes, computed anew."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.projects.models import Role
from apps.trees.domain.tree import Question
from apps.trees.models import Cut, Flag, Node, Tree
from apps.trees.services.cuts import take_out
from apps.trees.services.near_questions import look_for_near_questions
from apps.trees.services.repair import differences, raise_flags
from apps.workers.models import Assignment, Kind
from tests.factories import make_member, make_project
from tests.trees.rows import NO, OPEN, YES, flag_on, flags, grow, leaf, node

pytestmark = pytest.mark.django_db

NEAR = Question("Are you over 18?", YES, Question("Are you over 18 years?", YES, NO))


@pytest.fixture
def project():
    return make_project("bikes")


@pytest.fixture
def worker(project):
    return make_member(project, Role.WORKER)


def run(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("repair_trees", "--project", "bikes", *arguments, stdout=out)
    return out.getvalue().splitlines()


def refused(*arguments: str) -> str:
    with pytest.raises(CommandError) as refusal:
        run(*arguments)
    return str(refusal.value)


def found(project) -> list[str]:
    return [difference.what for difference in differences(project)]


def lease(worker, kind: Kind, key: int, part: str = "") -> Assignment:
    now = timezone.now()
    return Assignment.objects.create(
        project=worker.memberships.get().project, worker=worker, kind=kind, work_id=key, part=part,
        leased_at=now, expires_at=now + timedelta(hours=1),
    )  # fmt: skip


def test_where_all_is_right_nothing_differs(project, worker):
    grow(project)
    growing = grow(project, Question("Over 18?", YES, OPEN))
    lease(worker, Kind.PATH, growing.pk, f"{node(growing, 'Over 18?').pk}-no")
    root = grow(project, OPEN)
    lease(worker, Kind.PATH, root.pk, "root")
    assert run() == ["nothing differs"]
    assert run("--fix") == ["nothing differs"]


def test_a_project_that_is_not_there_is_refused():
    assert refused() == "--project bikes: there is no such project"


def test_differences_are_printed_and_refused_and_fixed_when_asked(project):
    tree = grow(project)
    Tree.objects.filter(pk=tree.pk).update(state="growing", logic_class="or")
    Flag.objects.all().delete()
    assert refused() == (
        "--project bikes: 3 differences in 1 trees, printed above; --fix brings them in line"
    )
    assert run("--fix") == [
        f"{tree.tree_id}\tits state is growing, and should be finished",
        f"{tree.tree_id}\tthe flag “Same answer on both sides” on “Needless?” is missing",
        f"{tree.tree_id}\tits class of logic is or, and should be one_question",
        "brought in line: 3",
    ]
    assert run() == ["nothing differs"]
    tree.refresh_from_db()
    assert (tree.state, tree.logic_class) == ("finished", "one_question")
    assert flags(tree) == [("Needless?", "one answer", "open")]


def test_a_flag_that_does_not_hold_goes(project):
    tree = grow(project)
    Node.objects.filter(place="yn").update(answer="No")
    assert found(project) == [
        "the flag “Same answer on both sides” on “Needless?” does not hold",
        "its class of logic is one_question, and should be and",
    ]
    run("--fix")
    assert flags(tree) == [("Needless?", "one answer", "gone")]


def test_a_tree_that_should_grow_keeps_the_flags_that_hold(project):
    tree = grow(project)
    Node.objects.filter(place="n").delete()
    assert found(project) == [
        "its state is finished, and should be growing",
        "its class of logic is one_question, and should be none",
    ]
    run("--fix")
    assert flags(tree) == [("Needless?", "one answer", "open")]


def test_near_questions_differ_only_where_somebody_has_looked(project):
    tree = grow(project, NEAR)
    assert found(project) == []
    look_for_near_questions(Tree.objects.all(), now=timezone.now())
    Flag.objects.all().delete()
    assert found(project) == [
        "the flag “Nearly the same as a question before it” on “Are you over 18 years?” is missing"
    ]
    run("--fix")
    assert flags(tree) == [("Are you over 18 years?", "near", "open")]
    assert found(project) == []


def test_places_follow_from_parents(project):
    tree = grow(project)
    Node.objects.filter(place="n").delete()
    Node.objects.filter(place="y").update(branch="no", place="n")
    assert found(project)[1:3] == [
        "the place of “Yes” is “yy”, and should be “ny”",
        "the place of “Yes” is “yn”, and should be “nn”",
    ]
    run("--fix")
    assert leaf(tree, "nn").parent == node(tree, "Needless?")


def test_a_dispute_about_what_was_taken_out_ends(project):
    tree = grow(project)
    take_out(leaf(tree, "n"), kind=Cut.Kind.REJECTED, actor=None, reason="", now=timezone.now())
    Node.objects.filter(place="n").update(disputed_at=timezone.now())
    assert found(project) == ["“No” was taken out, and is still said to be in dispute"]
    run("--fix")
    assert not Node.objects.filter(disputed_at__isnull=False).exists()


def test_leases_that_hang_in_the_air_end(project, worker):
    tree = grow(project)
    over, needless = node(tree, "Over 18?").pk, node(tree, "Needless?").pk
    free = grow(project, Question("Free?", OPEN, YES))
    held = [
        lease(worker, Kind.PATH, tree.pk, "root"),
        lease(worker, Kind.PATH, tree.pk, f"{over}-yes"),
        lease(worker, Kind.PATH, tree.pk, f"{leaf(tree, 'n').pk}-yes"),
        lease(worker, Kind.PATH, tree.pk, "123456-no"),
        lease(worker, Kind.PATH, 123456, "root"),
        lease(worker, Kind.NODE_CHECK, needless),
        lease(worker, Kind.NODE_CHECK, 123456),
    ]
    good = lease(worker, Kind.PATH, free.pk, f"{node(free, 'Free?').pk}-yes")
    assert len(found(project)) == len(held)
    assert found(project)[0].startswith(f"Path of a tree of {worker}, in work since ")
    assert found(project)[0].endswith(": what was worked on is not there any more")
    run("--fix")
    assert [row.state for row in Assignment.objects.exclude(pk=good.pk)] == ["released"] * len(held)
    good.refresh_from_db()
    assert good.state == "leased"


def test_other_projects_are_left_alone(project):
    other = grow(make_project())
    Tree.objects.filter(pk=other.pk).update(state="growing")
    assert run("--fix") == ["nothing differs"]


def test_flags_are_raised_where_they_are_missing_and_no_tree_is_touched_elsewhere(project):
    grow(project)
    missing = grow(project)
    flag_on(missing, "Needless?").delete()
    with CaptureQueriesContext(connection) as caught:
        raise_flags(project, now=timezone.now())
    written = [query["sql"] for query in caught if query["sql"].startswith("INSERT")]
    assert [sql.split()[2].strip('"') for sql in written] == ["trees_flag"]
    assert flags(missing) == [("Needless?", "one answer", "open")]


def test_more_trees_take_no_more_queries(project):
    def queries() -> int:
        grow(project)
        with CaptureQueriesContext(connection) as caught:
            assert found(project) == []
        return len(caught)

    assert (queries(), queries(), queries()) == (4, 4, 4)
