"""The demo project: real-looking work in every stage, loaded once."""

import stat
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Count, F

from apps.accounts.models import User
from apps.desk.demo.loader import DAYS, DemoNamesTakenError, load_demo
from apps.desk.demo.logins import DemoLogin, demo_logins, draw_password
from apps.projects.models import AuditEvent, Project
from apps.scenarios.models import NegativeQuestion, NegativeScenario, Scenario, Utterance
from apps.snippets.models import Document, Snippet
from apps.trees.domain import tree as domain
from apps.trees.domain.redundancy import highest_redundant
from apps.trees.models import Node, Tree
from apps.trees.simulation.proof import faults
from apps.workers.models import Assignment, Kind
from tests.factories import make_project, make_user

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 30, 16, 0, tzinfo=UTC)
ALL_DEPTHS = {1, 2, 3, 4}


@pytest.fixture(autouse=True)
def var_dir(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    return tmp_path


@pytest.fixture
def project() -> Project:
    project = load_demo(now=NOW)
    assert project is not None
    return project


def test_it_has_rule_texts_of_four_authorities_in_three_languages(project):
    documents = Document.objects.filter(project=project)
    authorities = {document.domain.split(".", 1)[1] for document in documents}
    assert len(authorities) >= 4
    languages = set(documents.values_list("language", flat=True))
    assert languages == {"en", "ja", "ar"}
    assert Snippet.objects.filter(document__in=documents).count() >= 12
    assert set(documents.values_list("split", flat=True)) == {"train", "dev", "test", ""}


def test_every_address_of_a_source_is_an_invented_one(project):
    urls = Document.objects.filter(project=project).values_list("domain", flat=True)
    assert [url for url in urls if not url.endswith(".example")] == []


def test_it_has_work_in_every_stage(project):
    snippets = Snippet.objects.filter(document__project=project)
    assert set(snippets.values_list("state", flat=True)) == {"proposed", "accepted", "discarded"}
    assert snippets.filter(questions__isnull=False, questions__tree__isnull=True).exists()
    trees = Tree.objects.filter(project=project)
    assert set(trees.values_list("state", flat=True)) == {"growing", "finished"}
    shapes = [tree.to_domain() for tree in trees]
    assert {domain.depth(shape) for shape in shapes} >= ALL_DEPTHS
    assert sum(len(list(highest_redundant(shape))) for shape in shapes) == 2
    kinds = dict(
        Utterance.objects.filter(project=project).values_list("kind").annotate(Count("pk"))
    )
    assert set(kinds) == set(Utterance.Kind.values)


def test_a_tree_is_finished_where_every_path_ends(project):
    for tree in Tree.objects.filter(project=project):
        finished = domain.is_finished(tree.to_domain())
        assert (tree.state == Tree.State.FINISHED) == finished


def test_every_source_of_a_question_is_its_words_in_the_rule_text(project):
    nodes = Node.objects.filter(tree__project=project, kind=Node.Kind.QUESTION)
    assert nodes.filter(span_start=None).count() == 0
    for node in nodes.select_related("tree__question__snippet"):
        text = node.tree.question.snippet.text
        words = text[node.span_start : node.span_end]
        assert words == words.strip() != ""
        assert node.span_end is not None
        assert node.span_end <= len(text)


def test_its_people_worked_in_the_last_four_weeks_and_in_order(project):
    nodes = Node.objects.filter(tree__project=project)
    first, last = NOW - timedelta(days=DAYS + 1), NOW
    for rows in (nodes, Scenario.objects.filter(tree__project=project)):
        assert rows.filter(created_at__lt=first).count() == 0
        assert rows.filter(created_at__gt=last).count() == 0
        assert rows.filter(created_by=None).count() == 0
        assert rows.exclude(assignment__worker=F("created_by")).count() == 0
        assert rows.filter(created_at__gt=F("assignment__ended_at")).count() == 0
    assert nodes.filter(created_at__lte=F("parent__created_at")).count() == 0
    assert nodes.filter(created_at__lt=F("tree__created_at")).count() == 0
    assert nodes.filter(created_at__gte=NOW - timedelta(days=14)).exists()


def test_its_people_went_walks_that_the_studio_could_have_handed_out(project):
    """Else people who work on with the demo meet what must never be."""
    assert faults(project) == []
    last = Assignment.objects.filter(kind=Kind.PATH).values_list("pk", flat=True)
    ended = Node.objects.filter(kind="answer").values_list("assignment", flat=True)
    assert sorted(last) == sorted(ended)


def test_scenarios_tell_turns_of_one_path(project):
    for scenario in Scenario.objects.filter(tree__project=project):
        assert scenario.facts.exists()
        assert scenario.utterances.exists() or scenario.tree.state == Tree.State.GROWING


def test_negatives_come_from_other_documents_in_the_same_language(project):
    finished = Tree.objects.filter(project=project, state=Tree.State.FINISHED)
    english = finished.filter(question__snippet__document__language="en")
    assert english.count() > 5
    for tree in english.with_source():
        document = tree.question.snippet.document
        questions = NegativeQuestion.objects.filter(tree=tree).select_related(
            "source__snippet__document"
        )
        scenarios = NegativeScenario.objects.filter(tree=tree).select_related(
            "source__tree__question__snippet__document"
        )
        sources = [q.source.snippet.document for q in questions if q.source]
        sources += [s.source.tree.question.snippet.document for s in scenarios if s.source]
        assert (len(questions), len(scenarios)) == (2, 1)
        assert all(one.cosine is not None for one in (*questions, *scenarios))
        assert all(one.hardness is not None for one in (*questions, *scenarios))
        assert len({question.text for question in questions}) == 2
        assert [s.language for s in sources] == ["en", "en", "en"]
        assert document not in sources


def test_the_same_day_gives_the_same_utterances(project):
    assert Utterance.objects.filter(project=project).count() > 200
    irrelevant = Utterance.objects.filter(project=project, answer="Irrelevant")
    assert irrelevant.count() == NegativeQuestion.objects.filter(tree__project=project).count()


def test_loading_again_changes_nothing(project, capsys):
    before = counts()
    call_command("load_demo")
    assert capsys.readouterr().out == "The demo was loaded before; nothing changed.\n"
    assert counts() == before


def test_what_was_deleted_stays_deleted(project):
    Project.objects.filter(pk=project.pk).update(slug="put-away")
    User.objects.filter(username="idris").update(username="put-away")
    assert load_demo(now=NOW) is None
    assert not Project.objects.filter(slug="demo").exists()
    assert not User.objects.filter(username="idris").exists()


def test_the_log_says_that_it_was_loaded(project):
    event = AuditEvent.objects.get(action="load demo")
    assert (event.object_type, event.object_id, event.actor) == ("project", str(project.pk), None)


@pytest.mark.parametrize("taken", ["project", "account"])
def test_names_that_somebody_has_are_not_taken_over(taken):
    if taken == "project":
        make_project("demo")
    else:
        make_user("ada")
    before = counts()
    with pytest.raises(DemoNamesTakenError, match="demo" if taken == "project" else "ada"):
        load_demo(now=NOW)
    with pytest.raises(CommandError, match="the demo needs"):
        call_command("load_demo")
    assert counts() == before


def counts() -> dict[str, int]:
    tables = (User, Project, Document, Snippet, Tree, Node, Scenario, Utterance, AuditEvent)
    return {table.__name__: table._default_manager.count() for table in tables}


def test_its_people_log_in_with_a_password_that_was_drawn_here(project, client):
    logins = demo_logins(project.slug)
    assert [(login.username, login.role) for login in logins] == [
        ("ada", "admin"),
        ("akiko", "expert"),
        ("noor", "expert"),
        ("haruka", "worker"),
        ("paulo", "worker"),
        ("leila", "worker"),
        ("idris", "worker"),
    ]
    (password,) = {login.password for login in logins}
    assert len(password) == 14
    answer = client.post("/accounts/log-in/", {"username": "ada", "password": password})
    assert (answer.status_code, answer["Location"]) == (302, "/")


def test_no_two_passwords_are_alike():
    assert len({draw_password() for _ in range(100)}) == 100


def test_only_the_owner_reads_the_file_with_the_password(project, var_dir):
    kept = var_dir / "demo-logins.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_password_of_ones_own_is_not_shown(project):
    ada = User.objects.get(username="ada")
    ada.set_password("quite another one")
    ada.save()
    assert demo_logins(project.slug)[0] == DemoLogin("ada", "admin", "")


def test_a_renewed_hash_of_the_same_password_still_counts(project):
    password = demo_logins(project.slug)[0].password
    ada = User.objects.get(username="ada")
    ada.set_password(password)
    ada.save()
    assert demo_logins(project.slug)[0] == DemoLogin("ada", "admin", password)


def test_without_the_file_there_are_no_log_ins_to_show(project, var_dir):
    (var_dir / "demo-logins.json").unlink()
    assert demo_logins(project.slug) == []
