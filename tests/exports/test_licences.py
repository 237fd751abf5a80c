"""No text leaves the house without a licence."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from apps.projects.models import Job, Role, Split
from apps.snippets.models import Document
from apps.trees.domain.tree import Answer, FinalAnswer
from tests.factories import make_member, make_project, make_tree, make_utterance

pytestmark = pytest.mark.django_db


@pytest.fixture
def collected():
    """A page that was loaded here, in train, with an utterance."""
    project = make_project("rules")
    make_utterance(make_tree(project, FinalAnswer(Answer.YES)))
    Document.objects.update(media="html", split=Split.TRAIN, source_url="https://a.example/x")
    return project


def export(tmp_path) -> None:
    call_command("export", project="rules", format="csv", out=tmp_path / "out", stdout=StringIO(),
                 stderr=StringIO())  # fmt: skip


def test_a_collected_document_without_a_licence_keeps_the_export_back(collected, tmp_path):
    with pytest.raises(CommandError) as refusal:
        export(tmp_path)
    assert str(refusal.value) == (
        "rules: one document has no licence, such as https://a.example/x; state it under "
        "Documents, Licences, for all documents of a host at once, or in the list that they are "
        "loaded with"
    )
    assert not (tmp_path / "out").exists()
    Document.objects.update(licence="OGL")
    export(tmp_path)
    assert "OGL" in (tmp_path / "out" / "SOURCES.csv").read_text()


def test_a_document_of_which_nothing_is_exported_keeps_nothing_back(collected, tmp_path):
    make_utterance(make_tree(collected, FinalAnswer(Answer.NO)), "No")
    Document.objects.filter(split="dev").update(media="html")
    Document.objects.filter(split="train").update(licence="OGL")
    export(tmp_path)


def test_what_came_in_a_file_is_exported_and_said_to_be_without(collected, tmp_path):
    Document.objects.update(media="")
    export(tmp_path)
    assert "| not stated | 1 |" in (tmp_path / "out" / "README.md").read_text()
    assert '"licences": {\n        "": 1\n      }' in (tmp_path / "out/MANIFEST.json").read_text()


def test_the_page_says_it_too(client, collected):
    client.force_login(make_member(collected, Role.ADMIN))
    page = client.post(
        reverse("exports:list", args=["rules"]), {"formats": "csv", "splits": "train"}
    )
    assert "One document has no licence, such as https://a.example/x" in page.text
    assert not Job.objects.filter(kind="export").exists()
