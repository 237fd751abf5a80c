"""Negatives of a project, drawn by the service and the command."""

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.projects.models import Job, Project
from apps.scenarios.models import NegativeQuestion, NegativeScenario, Utterance
from apps.scenarios.services.expansion import expand_project
from apps.scenarios.services.negatives import (
    KIND,
    Wish,
    drop_all_drawn,
    drop_negative,
    mine_here,
    queue_mining,
    run_mining,
)
from apps.trees.domain.tree import Answer, FinalAnswer, Question
from tests.factories import (
    make_document,
    make_project,
    make_question,
    make_scenario,
    make_snippet,
    make_tree,
    make_user,
)

pytestmark = pytest.mark.django_db
YES, NO = FinalAnswer(Answer.YES), FinalAnswer(Answer.NO)
TOPICS = ["a dog", "rent", "a visa", "children", "tax", "a car"]


def say_nothing(step: str, done: int, total: int) -> None:
    pass


def add_tree(project: Project, topic: str, **document):
    snippet = make_snippet(make_document(project, **document))
    question = make_question(snippet, text=f"Can I have money for {topic}?")
    shape = Question(f"Do you pay for {topic}?", YES, NO)
    tree = make_tree(project, shape, question=question)
    for number in range(2):
        make_scenario(tree, f"I think of {topic}, time {number}.")
    return tree


@pytest.fixture
def project():
    project = make_project("rules", negative_threshold=0.9)
    for topic in TOPICS:
        add_tree(project, topic)
    return project


def drawn(project: Project) -> list[tuple[str, str]]:
    """By the trees' questions: independent of keys."""
    rows = [
        *NegativeQuestion.objects.filter(tree__project=project).in_force(),
        *NegativeScenario.objects.filter(tree__project=project).in_force(),
    ]
    return sorted((row.tree.question.text, row.text) for row in rows)


def test_each_finished_tree_gets_what_the_project_wants(project):
    growing = make_tree(project)
    job = mine_here(project, Wish.of(project), author=None, progress=say_nothing)
    assert job.report == {
        "trees": 6, "questions_made": 12, "questions_here": 0, "scenarios_made": 6,
        "scenarios_here": 0, "missing": {"questions": {}, "scenarios": {}},
    }  # fmt: skip
    for kind in (NegativeQuestion, NegativeScenario):
        for negative in kind.objects.select_related("tree__question__snippet__document"):
            assert negative.tree != growing
            assert negative.text != negative.tree.question.text
            assert 0 <= negative.cosine < 0.9
    assert not NegativeScenario.objects.filter(source__tree__question__text="").exists()


def test_again_nothing_is_drawn_and_what_is_missing_is_added(project):
    mine_here(project, Wish.of(project), author=None, progress=say_nothing)
    before = drawn(project)
    again = mine_here(project, Wish.of(project), author=None, progress=say_nothing)
    assert (again.report["questions_made"], again.report["questions_here"]) == (0, 12)
    assert drawn(project) == before
    more = Wish(3, 2, 0.9)
    mine_here(project, more, author=None, progress=say_nothing)
    assert set(before) <= set(drawn(project))
    assert len(drawn(project)) == 6 * (3 + 2)


@pytest.mark.parametrize("shards", [1, 2, 4])
def test_the_number_of_shards_changes_nothing(project, shards):
    for job in reversed(queue_mining(project, Wish.of(project), shards=shards, author=None)):
        Job.objects.filter(pk=job.pk).update(state=Job.State.RUNNING, attempt=1)
        job.refresh_from_db()
        run_mining(job)
    other = make_project(negative_threshold=0.9)
    for topic in reversed(TOPICS):  # other keys, the same contents but for snippet and URL
        add_tree(other, topic)
    for one, twin in zip(project.trees.order_by("pk"), other.trees.order_by("-pk"), strict=True):
        twin.tree_id = one.tree_id
        twin.save()
    mine_here(other, Wish.of(other), author=None, progress=say_nothing)
    assert drawn(project) == drawn(other)


def test_one_document_only_ends_with_a_sentence(capsys):
    project = make_project("one")
    for topic in TOPICS[:2]:
        add_tree(project, topic, source_url="https://a.example/", version=TOPICS.index(topic) + 1)
    call_command("mine_negatives", project="one")
    assert capsys.readouterr().out.splitlines() == [
        "finished trees: 2",
        "irrelevant questions: 0 made, 0 here already",
        "irrelevant questions that could not be made: 4; all trees come from one source document",
        "irrelevant scenarios: 0 made, 0 here already",
        "irrelevant scenarios that could not be made: 2; all trees come from one source document",
    ]


def test_a_threshold_of_zero_admits_no_scenario(project, capsys):
    call_command("mine_negatives", project="rules", threshold=0.0)
    assert (
        "irrelevant scenarios that could not be made: 6; all scenarios of other documents belong "
        "to trees whose questions are too like these" in capsys.readouterr().out
    )


def test_a_dropped_negative_is_not_drawn_again(project):
    mine_here(project, Wish.of(project), author=None, progress=say_nothing)
    expand_project(project, author=None, progress=say_nothing)
    negative = NegativeQuestion.objects.select_related("tree__project").earliest("pk")
    actor, now = make_user(), timezone.now()
    assert drop_negative(negative, reason="It is about the same.", actor=actor, now=now)
    assert not drop_negative(negative, reason="Again.", actor=actor, now=now)
    assert not Utterance.objects.filter(negative_question=negative).exists()
    mine_here(project, Wish.of(project), author=None, progress=say_nothing)
    assert NegativeQuestion.objects.filter(tree=negative.tree).in_force().count() == 2
    sources = NegativeQuestion.objects.filter(tree=negative.tree).values_list("source", flat=True)
    assert len(set(sources)) == 3
    expand_project(project, author=None, progress=say_nothing)
    assert not Utterance.objects.filter(negative_question=negative).exists()


def test_starting_over_keeps_what_was_not_drawn(project):
    mine_here(project, Wish.of(project), author=None, progress=say_nothing)
    expand_project(project, author=None, progress=say_nothing)
    tree = project.trees.earliest("pk")
    by_hand = NegativeQuestion.objects.create(tree=tree, text="Is it Tuesday?")
    before = drawn(project)
    assert drop_all_drawn(project, actor=None) == 18
    assert drop_all_drawn(project, actor=None) == 0
    assert drawn(project) == [(tree.question.text, by_hand.text)]
    call_command("mine_negatives", project="rules")
    again = [row for row in drawn(project) if row[1] != by_hand.text]
    assert set(again) <= set(before)
    assert Job.objects.filter(kind=KIND).count() == 2


def test_the_database_takes_one_source_once(project):
    mine_here(project, Wish.of(project), author=None, progress=say_nothing)
    one = NegativeScenario.objects.earliest("pk")
    with pytest.raises(IntegrityError), transaction.atomic():
        NegativeScenario.objects.create(tree=one.tree, source=one.source, text=one.text)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"project": "nowhere"}, "there is no such project"),
        ({"questions_per_tree": -1}, "--questions-per-tree: must be 0 or more"),
        ({"threshold": 1.5}, "--threshold: must be between 0 and 1"),
    ],
)
def test_the_command_refuses_in_one_line(project, options, why):
    with pytest.raises(CommandError, match=why):
        call_command("mine_negatives", **{"project": "rules", **options})
    assert not NegativeQuestion.objects.exists()
