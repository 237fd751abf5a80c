"""What an export leaves out, and what it is refused for: all of it, and at once."""

import re

import pytest
from django.urls import reverse

from apps.exports.errors import ExportRefusedError
from apps.exports.services.exporting import export_here
from apps.projects.models import Role, Split
from apps.scenarios.models import AuditLimit
from apps.snippets.models import Document
from apps.trees.domain.tree import Answer, FinalAnswer
from tests.exports.test_export import command, quietly
from tests.factories import make_member, make_project, make_tree, make_utterance
from tests.pages import words_of_main

pytestmark = pytest.mark.django_db


def test_what_a_split_lacks_that_was_not_asked_for_by_name_is_said(tmp_path):
    project = make_project("buses")
    for split in (*Split, ""):
        tree = make_tree(project, FinalAnswer(Answer.YES))
        Document.objects.filter(snippets__questions__tree=tree).update(split=split)
        make_utterance(tree)
    said, notes = command("export", "--project=buses", "--format=csv", f"--out={tmp_path / 'out'}")
    assert said == "train: 1 utterances (1 yes)\n"
    assert re.findall("note: (.*left out[^;\n]*)", notes) == [
        "1 utterance of dev was left out: no expert has verified that",
        "1 utterance of test was left out: no expert has verified that",
        "1 utterance was left out: their documents are in no split",
    ]


def test_all_that_stands_in_the_way_is_said_at_once(client, tmp_path):
    project = make_project("buses")
    for split, licence in (("train", "OGL"), ("dev", ""), ("test", "OGL")):
        tree = make_tree(project, FinalAnswer(Answer.YES))
        Document.objects.filter(snippets__questions__tree=tree).update(
            split=split, licence=licence, media="html", source_url=f"https://a.example/{split}"
        )
        make_utterance(tree)
    AuditLimit.objects.create(project=project, figure="same_question", most=1)
    with pytest.raises(ExportRefusedError) as refused:
        export_here(project, splits=list(Split), out=tmp_path / "out", progress=quietly)
    assert [reason[:60] for reason in refused.value.reasons] == [
        "dev and test have only utterances that no expert has verifie",
        "one document has no licence, such as https://a.example/dev; ",
        "a release waits for an audit, which the project has limits f",
    ]
    assert "buses: dev and test have only utterances that no expert has verified (1 and 1)" in str(
        refused.value
    )
    client.force_login(make_member(project, Role.ADMIN))
    page = client.get(reverse("exports:list", args=["buses"]))
    assert page.context["form"].initial == {"splits": ["train"]}
    said = words_of_main(page.text)
    assert "Dev and Test have only utterances that no expert has verified" in said
    assert "1 document has no licence" in said
