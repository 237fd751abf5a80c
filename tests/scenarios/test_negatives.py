"""Negatives of a project, drawn by the service and the command."""

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.projects.models import AuditEvent, Job, Project
from apps.scenarios.models import (
    EXPANSION,
    MINING,
    REPLACING,
    NegativeQuestion,
    NegativeScenario,
    Scenario,
    Utterance,
)
from apps.scenarios.services import negative_choices
from apps.scenarios.services.expansion import expand_project
from apps.scenarios.services.negative_choices import (
    REPLACE_TASK,
    drop_negative,
    replace_negative,
    restore_negative,
    run_replacing,
)
from apps.scenarios.services.negatives import (
    Wish,
    mine_anew_here,
    mine_here,
    queue_mining,
    run_mining,
)
from apps.snippets.models import Document
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
            assert 0 <= negative.hardness <= 1
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


def test_without_a_finished_tree_the_commands_say_so(capsys):
    make_tree(make_project("young"))
    for command in ("mine_negatives", "expand_utterances"):
        call_command(command, project="young")
    mined, *expanded = capsys.readouterr().out.splitlines()
    assert mined == "nothing to do: the project has no finished tree, and only these get negatives"
    assert (
        "added: nothing; the project has no finished tree, and only these are expanded" in expanded
    )


def test_no_tree_gets_anything_in_another_language(capsys):
    project = make_project("rules", language="en", negative_threshold=1)
    for topic, language in zip(TOPICS, ["", "en-GB", "en", "ja", "JA", "de"], strict=True):
        add_tree(project, topic, language=language)
    call_command("mine_negatives", project="rules")
    assert capsys.readouterr().out.splitlines()[2:3] == [
        "irrelevant questions that could not be made: 2; other documents have too few",
    ]
    for kind in (NegativeQuestion, NegativeScenario):
        pairs = {
            tuple(
                next(topic for topic in TOPICS if topic in text)
                for text in (one.tree.question.text, one.text)
            )
            for one in kind.objects.all()
        }
        assert pairs
        one_language = [{"a dog", "rent", "a visa"}, {"children", "tax"}]
        assert all(set(pair) in one_language or any(set(pair) < some for some in one_language)
                   for pair in pairs)  # fmt: skip


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


def negative_to_drop(project: Project) -> NegativeQuestion:
    """With its utterance."""
    mine_here(project, Wish.of(project), author=None, progress=say_nothing)
    expand_project(project, author=None, progress=say_nothing)
    one: NegativeQuestion = NegativeQuestion.objects.select_related(
        "tree__project", "job"
    ).earliest("pk")
    return one


def test_a_dropped_negative_is_not_drawn_again(project):
    negative = negative_to_drop(project)
    actor, now = make_user(), timezone.now()
    assert drop_negative(negative, reason="It is about the same.", actor=actor, now=now)
    assert not drop_negative(negative, reason="Again.", actor=actor, now=now)
    dropped = Utterance.objects.get(negative_question=negative)
    assert (dropped.state, dropped.dropped_reason) == ("dropped", "It is about the same.")
    mine_here(project, Wish.of(project), author=None, progress=say_nothing)
    assert NegativeQuestion.objects.filter(tree=negative.tree).in_force().count() == 2
    sources = NegativeQuestion.objects.filter(tree=negative.tree).values_list("source", flat=True)
    assert len(set(sources)) == 3
    expand_project(project, author=None, progress=say_nothing)
    assert not Utterance.objects.in_force().filter(negative_question=negative).exists()


def test_a_dropped_negative_can_be_put_back(project):
    negative, actor, now = negative_to_drop(project), make_user(), timezone.now()
    drop_negative(negative, reason="Wrong.", actor=actor, now=now)
    negative.refresh_from_db()
    assert restore_negative(negative, actor=actor, now=now)
    assert not restore_negative(negative, actor=actor, now=now)
    negative.refresh_from_db()
    assert (negative.dropped_at, negative.dropped_reason) == (None, "")
    assert Utterance.objects.get(negative_question=negative).state == "to verify"
    actions = AuditEvent.objects.filter(actor=actor).values_list("action", flat=True)
    assert list(actions) == ["put negative back", "drop negative"]


@pytest.mark.parametrize("model", [NegativeQuestion, NegativeScenario])
def test_a_replaced_negative_gives_way_to_another(project, model, monkeypatch):
    negative_to_drop(project)
    negative = model.objects.select_related("tree__project", "job").earliest("pk")
    actor, now = make_user(), timezone.now()
    job = replace_negative(negative, reason="Too easy.", actor=actor, now=now)
    assert job is not None
    new = model.objects.get(pk=job.report["made"])
    assert (new.replaces, new.tree, new.job) == (negative, negative.tree, job)
    assert new.source != negative.source
    assert Job.objects.filter(kind=EXPANSION, created_by=actor).exists()
    assert replace_negative(negative, reason="Again.", actor=actor, now=now) is None
    monkeypatch.setattr(negative_choices, "READ_AT_ONCE", 0)
    queued = replace_negative(new, reason="Still too easy.", actor=actor, now=now)
    assert queued is not None
    assert (queued.kind, queued.task, queued.state) == (REPLACING, REPLACE_TASK, "queued")
    Job.objects.filter(pk=queued.pk).update(state=Job.State.RUNNING, attempt=1)
    queued.refresh_from_db()
    run_replacing(queued)
    assert model.objects.get(replaces=new).source not in {new.source, negative.source}
    assert model.objects.filter(tree=new.tree).in_force().count() == (
        2 if model.__name__ == "NegativeQuestion" else 1
    )


def test_a_negative_that_nothing_can_replace_is_dropped_all_the_same():
    project = make_project()
    trees = [add_tree(project, topic) for topic in TOPICS[:2]]
    wish = Wish(1, 0, 0.9)
    mine_here(project, wish, author=None, progress=say_nothing)
    one = NegativeQuestion.objects.select_related("tree__project", "job").get(tree=trees[0])
    actor, now = make_user(), timezone.now()
    job = replace_negative(one, reason="No.", actor=actor, now=now)
    assert job is not None
    assert job.report == {
        "made": None, "missing": {"questions": {"other documents have too few": 1}, "scenarios": {}}
    }  # fmt: skip
    trees[1].state = "growing"
    trees[1].save()
    other = NegativeQuestion.objects.select_related("tree__project", "job").get(tree=trees[1])
    job = replace_negative(other, reason="No.", actor=actor, now=now)
    assert job is not None
    assert job.report["missing"]["questions"] == {"its tree is not finished any more": 1}


def test_starting_over_keeps_what_was_not_drawn_or_is_verified(project):
    verified = negative_to_drop(project)
    accepted = {"state": "accepted", "verified_by": make_user(), "verified_at": timezone.now()}
    Utterance.objects.filter(negative_question=verified).update(**accepted)
    tree = project.trees.latest("pk")
    by_hand = NegativeQuestion.objects.create(tree=tree, text="Is it Tuesday?")
    before = drawn(project)
    job = mine_anew_here(project, Wish(0, 0, 0.9), author=None, progress=say_nothing)
    assert job.report["taken_away"] == 17
    assert drawn(project) == sorted(
        [(tree.question.text, by_hand.text), (verified.tree.question.text, verified.text)]
    )
    call_command("mine_negatives", project="rules", anew=True)
    again = [row for row in drawn(project) if row[1] != by_hand.text]
    assert set(again) <= set(before)
    assert Job.objects.filter(kind=MINING).count() == 3


def test_hard_and_attached_negatives_become_utterances(project, capsys):
    call_command("mine_negatives", project="rules", hard=True, attach=True, questions_per_tree=3)
    assert "irrelevant questions: 18 made" in capsys.readouterr().out
    negatives = NegativeQuestion.objects.filter(tree__project=project)
    assert {bool(one.attached_scenario_id) for one in negatives} == {True, False}
    assert {bool(one.attached_place) for one in negatives} == {True, False}
    for one in negatives:
        assert one.attached_scenario_id is None or one.attached_scenario.tree_id == one.tree_id
    expand_project(project, author=None, progress=say_nothing)
    for row in Utterance.objects.filter(negative_question__tree__project=project):
        negative = row.negative_question
        assert negative is not None
        attached = negative.attached_scenario
        assert row.scenario == (attached.text if attached else "")
        assert len(row.history) == len(negative.attached_place)
        assert (row.answer, row.evidence) == ("Irrelevant", [])
    assert Utterance.objects.filter(negative_question__in=negatives).count() == 18


def test_negatives_can_stay_within_a_split(project):
    documents = Document.objects.filter(project=project).order_by("pk")
    some = documents.values_list("pk", flat=True)[:3]
    documents.filter(pk__in=list(some)).update(split="train")
    call_command("mine_negatives", project="rules", same_split=True)
    for one in NegativeQuestion.objects.filter(tree__project=project):
        mine, other = one.tree.question.snippet.document, one.source.snippet.document
        assert (mine.split, mine != other) == (other.split, True)
    assert NegativeQuestion.objects.filter(tree__project=project).count() == 12


def test_a_scenario_that_left_the_dataset_is_attached_no_more(project):
    mine_here(project, Wish(3, 0, 0.9, attach=True), author=None, progress=say_nothing)
    expand_project(project, author=None, progress=say_nothing)
    one = NegativeQuestion.objects.filter(attached_scenario__isnull=False).earliest("pk")
    Scenario.objects.filter(pk=one.attached_scenario_id).update(state="sent back")
    expand_project(project, author=None, progress=say_nothing)
    assert Utterance.objects.in_force().get(negative_question=one).scenario == ""


def test_two_that_mine_at_once_do_not_draw_twice(project):
    first, second = queue_mining(project, Wish.of(project), shards=1, author=None) + queue_mining(
        project, Wish.of(project), shards=1, author=None
    )
    for job in (first, second):
        Job.objects.filter(pk=job.pk).update(state=Job.State.RUNNING, attempt=1)
        job.refresh_from_db()
        run_mining(job)
    second.refresh_from_db()
    assert (second.report["questions_made"], second.report["questions_here"]) == (0, 12)


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
