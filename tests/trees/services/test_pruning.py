"""All redundant questions of a project, found and taken out: `find_redundant`, and the job."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.projects.models import Job, Role
from apps.trees.domain.tree import Question
from apps.trees.models import Cut, Flag, Node, Tree
from apps.trees.services.cuts import take_out
from apps.trees.services.flags import keep
from apps.trees.services.pruning import Preview, preview_of, queue_pruning
from apps.trees.tasks import prune_redundant
from apps.workers.services.next_work import take_work
from tests.factories import make_member, make_project, make_tree, make_user
from tests.trees.rows import NO, REDUNDANT, YES, flag_on, flags, grow, leaf

pytestmark = pytest.mark.django_db

NEAR = Question("Are you over 18?", YES, Question("Are you over 18 years?", YES, NO))
TWICE = Question("Here?", Question("here", YES, NO), NO)


@pytest.fixture
def project():
    return make_project("bikes")


def run(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("find_redundant", "--project", "bikes", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue().splitlines()


def test_it_prints_each_question_with_its_tree_and_says_how_many(project):
    redundant, near, twice = (
        make_tree(project, shape, logic_class="x") for shape in (REDUNDANT, NEAR, TWICE)
    )
    make_tree(make_project(), REDUNDANT)
    assert run() == [
        f"{redundant.tree_id}\tsame answer on both sides\tNeedless?",
        "redundant: 1 questions of 1 trees",
        f"{twice.tree_id}\tasked before on its path\there",
        "asked before on its path: 1 questions",
        f"{near.tree_id}\tnearly the same as a question before it\tAre you over 18 years?"
        "\tnear to: Are you over 18?",
        "nearly the same as a question before it: 1 questions",
    ]
    assert Flag.objects.count() == 3
    assert run()[0] == f"{redundant.tree_id}\tsame answer on both sides\tNeedless?"
    assert Flag.objects.count() == 3
    assert not Cut.objects.exists()


def test_what_was_kept_is_left_out(project):
    flag = flag_on(grow(project), "Needless?")
    keep(flag, seen="", expert=make_user(), reason="It is asked.", now=timezone.now())
    assert run("--prune")[0] == "redundant: 0 questions of 0 trees"
    assert not Cut.objects.exists()


def test_prune_takes_all_of_them_out_with_provenance(project):
    trees = [grow(project) for _ in range(3)]
    twice = grow(project, TWICE)
    assert run("--prune")[-1] == "taken out: 3 redundant questions of 3 trees, 9 nodes in all"
    assert [flags(tree) for tree in trees] == [[("Needless?", "one answer", "pruned")]] * 3
    assert flags(twice) == [("here", "asked twice", "open")]
    cuts = Cut.objects.filter(kind="pruned", by=None)
    assert [cut.tree for cut in cuts] == trees
    assert Node.objects.filter(cut__in=cuts).count() == 9
    (job,) = Job.objects.filter(kind="pruning")
    assert (job.state, job.report) == ("done", {"trees": 3, "questions": 3, "nodes": 9})


def test_a_project_that_is_not_there_is_refused():
    with pytest.raises(CommandError, match=r"^--project bikes: there is no such project$"):
        run()


def test_a_preview_says_what_goes(project):
    for _ in range(2):
        grow(project)
    grow(project, TWICE)
    grow(make_project())
    last = Flag.objects.redundant().filter(tree__project=project).latest("pk").pk
    assert preview_of(project) == Preview(trees=2, questions=2, nodes=6, leases=0, last=last)


def test_a_preview_counts_the_work_that_ends(project):
    deep = Question("Deep?", YES, YES)
    tree = grow(project, Question("Over 18?", Question("Needless?", deep, deep), NO))
    worker = make_member(project, Role.WORKER)
    take_out(leaf(tree, "n"), kind=Cut.Kind.REJECTED, actor=None, reason="", now=timezone.now())
    lease = take_work(project, worker=worker, now=timezone.now())
    assert lease is not None
    assert preview_of(project).leases == 0
    lease.part = f"{leaf(tree, 'yy').pk}-yes"
    lease.save()
    assert preview_of(project).leases == 1


def test_an_empty_project_has_nothing_to_prune(project):
    assert preview_of(project) == Preview(trees=0, questions=0, nodes=0, leases=0, last=0)


def test_a_preview_takes_the_same_queries_for_more_trees(project):
    def queries() -> int:
        grow(project)
        with CaptureQueriesContext(connection) as caught:
            preview_of(project)
        return len(caught)

    assert (queries(), queries(), queries()) == (5, 5, 5)


def test_the_job_prunes_what_the_preview_showed_and_no_more(project):
    admin = make_member(project, Role.ADMIN)
    shown, settled = grow(project), grow(project)
    last = preview_of(project).last
    later = grow(project)
    keep(flag_on(settled, "Needless?"), seen="", expert=admin, reason="Stays.", now=timezone.now())
    job = queue_pruning(project, last=last, author=admin)
    prune_redundant(job.pk)
    job.refresh_from_db()
    assert (job.state, job.report) == ("done", {"trees": 1, "questions": 1, "nodes": 3})
    assert [flags(tree)[0][2] for tree in (shown, settled, later)] == ["pruned", "kept", "open"]
    assert Cut.objects.get().by == admin


def test_taken_up_again_the_job_goes_on_with_the_rest(project):
    admin = make_member(project, Role.ADMIN)
    for _ in range(2):
        grow(project)
    job = queue_pruning(project, last=preview_of(project).last, author=admin)
    prune_redundant(job.pk)
    Job.objects.update(state="queued")
    prune_redundant(job.pk)
    job.refresh_from_db()
    assert job.report == {"trees": 2, "questions": 2, "nodes": 6}


def test_the_last_node_of_many_trees(project):
    """Case 29 in small: as many trees as one statement must not name."""
    for _ in range(3):
        grow(project, Question("Needless?", YES, YES))
    run("--prune")
    assert set(Tree.objects.values_list("state", flat=True)) == {"growing"}
    assert not Node.objects.live().exists()
