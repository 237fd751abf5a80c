"""What a project's card is made of, and the page where an admin says the rest."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.exports.models import DatasetCard
from apps.exports.services.about import about
from apps.projects.models import AuditEvent, Role, Split
from apps.scenarios.services.audit import Scope, audit_here
from apps.scenarios.services.proof import prove
from apps.snippets.models import Document
from apps.trees.domain.tree import Answer, FinalAnswer, Question
from apps.trees.models import Node, NodeCheck
from apps.workers.models import Assignment, Kind
from tests.factories import (
    make_member,
    make_project,
    make_tree,
    make_user,
    make_utterance,
)
from tests.pages import words_of_main

pytestmark = pytest.mark.django_db

PAGE = reverse("exports:card", args=["rules"])
ASK = Question("Is it?", FinalAnswer(Answer.YES), FinalAnswer(Answer.NO))


@pytest.fixture
def project():
    return make_project("rules")


@pytest.fixture
def admin(client, project):
    client.force_login(admin := make_member(project, Role.ADMIN))
    return admin


def test_documents_trees_and_people_are_counted(project):
    worker, expert = make_user(), make_user()
    for licence in ("OGL", "OGL", ""):
        tree = make_tree(project, ASK)
        Document.objects.filter(snippets__questions__tree=tree).update(licence=licence)
        Node.objects.filter(tree=tree).update(created_by=worker)
        for _ in range(2):
            make_utterance(tree, "Is it?", state="accepted", verified_by=expert,
                           verified_at=timezone.now())  # fmt: skip
    make_tree(project, ASK)  # of which nothing is exported
    said = about(project, [Split.DEV])
    assert (said.trees, said.imported_trees, said.documents, said.hosts) == (3, 0, 3, 1)
    assert said.licences == {"": 1, "OGL": 2}
    assert said.languages == ("en",)
    assert said.people == {
        "wrote first questions": 0, "grew trees": 1, "wrote scenarios": 0,
        "checked turns of others": 0, "checked scenarios of others": 0, "verified utterances": 1,
    }  # fmt: skip
    assert said.verified == {"accepted as they were": 6, "corrected": 0, "dropped": 0}
    assert about(project, [Split.TRAIN]).documents == 0


def test_agreement_is_what_others_said_of_turns(project):
    tree = make_tree(project, ASK)
    root = tree.nodes.get(place="")
    now = timezone.now()
    for verdict, reason in (("agrees", ""), ("agrees", ""), ("rejects", "other")):
        worker = make_user()
        work = Assignment.objects.create(
            project=project, worker=worker, kind=Kind.NODE_CHECK, work_id=root.pk,
            part=worker.username, leased_at=now, expires_at=now + timedelta(hours=1),
        )  # fmt: skip
        NodeCheck.objects.create(node=root, checker=worker, assignment=work, verdict=verdict,
                                 reason=reason, at=now)  # fmt: skip
    assert about(project, [Split.DEV]).agreement == (
        "Judgements of other workers that a turn is right: 2 of 3 (66.7 %).",
    )


def test_audit_and_proof_are_in_it(project):
    tree = make_tree(project, ASK)
    make_utterance(tree, "Yes")  # the tree says to ask
    assert about(project, [Split.DEV]).audit == ()
    audit_here(project, Scope(), author=None, progress=lambda *_: None)
    prove(project)
    said = about(project, [Split.DEV])
    assert said.audited == 1
    assert {one.label for one in said.audit} >= {"Final answer that equals the last answer of the "
                                                "history"}  # fmt: skip
    assert (said.inconsistent, said.waived) == (1, 0)


def test_the_day_of_publication_needs_no_clock(project):
    assert about(project, []).published_on == "1970-01-01"
    at = datetime(2024, 3, 5, tzinfo=UTC)
    make_utterance(make_tree(project, ASK), "Is it?", created_at=at)
    assert about(project, []).published_on == "2024-03-05"
    DatasetCard.objects.create(project=project, published_on=date(2025, 1, 2))
    assert about(project, []).published_on == "2025-01-02"


def test_what_an_admin_says_is_kept_and_in_the_log(client, project, admin):
    sent = {"creators": " Ada \n\n Bob Institute ", "url": "data.example/rules", "version": "1.2.0",
            "published_on": "2025-01-02", "licence": "CC BY 4.0"}  # fmt: skip
    answer = client.post(PAGE, sent, follow=True)
    assert "Saved: the next export says it." in words_of_main(answer.text)
    said = about(project, [])
    assert said.creators == ("Ada", "Bob Institute")
    assert (said.url, said.version) == ("https://data.example/rules", "1.2.0")
    event = AuditEvent.objects.get(action="change dataset card")
    assert sorted(event.details["fields"]) == [
        "creators", "licence", "published_on", "url", "version",
    ]  # fmt: skip
    client.post(PAGE, sent | {"creators": "Ada\nBob Institute", "url": said.url})
    assert AuditEvent.objects.filter(action="change dataset card").count() == 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [({"version": "one"}, "Three numbers, such as 1.0.0."), ({"url": "x y"}, "Enter a valid URL"),
     ({"published_on": "soon"}, "Enter a valid date")],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(client, project, admin, fields, said):
    answer = client.post(PAGE, {"version": "1.0.0", **fields})
    assert said in words_of_main(answer.text)
    assert not DatasetCard.objects.exists()


def test_the_database_refuses_a_version_that_is_none_and_a_second_card(project):
    DatasetCard.objects.create(project=project)
    for version, name in (("1.0", "dataset_card_version"), ("1.0.0", "project_id")):
        with pytest.raises(IntegrityError, match=name), transaction.atomic():
            DatasetCard.objects.create(project=project, version=version)


def test_more_trees_need_no_more_queries(client, project, admin):
    counts = set()
    for _ in range(3):
        make_utterance(make_tree(project, ASK), "Is it?")
        with CaptureQueriesContext(connection) as queries:
            client.get(PAGE)
        counts.add(len(queries))
    assert len(counts) == 1
