"""Splits of a project's documents: drawn, pinned, frozen."""

from collections import Counter

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from apps.exports.errors import SplitsRefusedError
from apps.exports.services.leaks import near_leaks
from apps.exports.services.splits import (
    freeze_splits,
    pin_document,
    plan_splits,
    plan_splits_anew,
    thaw_splits,
    unpin_document,
    write_splits,
)
from apps.projects.models import AuditEvent, Split
from apps.snippets.models import Document
from apps.trees.domain.tree import Answer, FinalAnswer
from tests.factories import (
    make_document,
    make_project,
    make_question,
    make_snippet,
    make_tree,
    make_user,
)

pytestmark = pytest.mark.django_db
LEAF = FinalAnswer(Answer.YES)


def add_tree(project, text="", **fields):
    fields = {"split": "", **fields}
    snippet = make_snippet(make_document(project, **fields), **({"text": text} if text else {}))
    return make_tree(project, LEAF, question=make_question(snippet))


def splits_of(project) -> Counter[str]:
    return Counter(Document.objects.filter(project=project).values_list("split", flat=True))


@pytest.fixture
def project():
    project = make_project("rules")
    for _ in range(10):
        add_tree(project)
    return project


def test_documents_are_shared_out_once(project):
    assert write_splits(project, plan_splits(project), actor=None) == 10
    assert splits_of(project) == {"train": 7, "dev": 1, "test": 2}
    assert write_splits(project, plan_splits(project), actor=None) == 0
    event = AuditEvent.objects.get(action="make splits")
    assert event.details == {"documents": 10, "trees": {"train": 7, "dev": 1, "test": 2}}


def test_another_project_is_left_alone(project):
    other = add_tree(make_project())
    write_splits(project, plan_splits(project), actor=None)
    assert splits_of(other.project) == {"": 1}


def test_all_versions_of_a_page_go_together(project):
    url = "https://office.example/changed"
    first = add_tree(project, source_url=url, split="test")
    add_tree(project, source_url=url, version=2)
    write_splits(project, plan_splits(project), actor=None)
    same = Document.objects.filter(project=first.project, source_url=url)
    assert set(same.values_list("split", flat=True)) == {"test"}


def test_a_pinned_document_stays_when_splits_are_drawn_anew(project):
    write_splits(project, plan_splits(project), actor=None)
    document = Document.objects.filter(project=project, split="train")[0]
    actor = make_user()
    pin_document(document, split=Split.TEST, actor=actor)
    for seed in range(5):
        write_splits(project, plan_splits_anew(project, seed=seed), actor=None)
        document.refresh_from_db()
        assert (document.split, document.is_split_pinned) == ("test", True)
        assert splits_of(project) == {"train": 7, "dev": 1, "test": 2}
    unpin_document(document, actor=actor)
    document.refresh_from_db()
    assert not document.is_split_pinned


def test_frozen_splits_do_not_move(project):
    actor = make_user()
    assert freeze_splits(project, actor=actor, now=timezone.now())
    assert not freeze_splits(project, actor=actor, now=timezone.now())
    document = Document.objects.filter(project=project)[0]
    with pytest.raises(SplitsRefusedError, match="frozen for a release"):
        write_splits(project, plan_splits(project), actor=None)
    with pytest.raises(SplitsRefusedError, match="frozen for a release"):
        pin_document(document, split=Split.DEV, actor=actor)
    assert splits_of(project) == {"": 10}
    assert thaw_splits(project, actor=actor)
    assert not thaw_splits(project, actor=actor)
    assert write_splits(project, plan_splits(project), actor=None) == 10


def test_rule_texts_that_are_nearly_the_same_in_two_splits_are_named():
    project = make_project(near_duplicate_threshold=0.6)
    text = "You can claim the grant if you live in the borough and pay rent"
    one = add_tree(project, f"{text}.", split="train")
    other = add_tree(project, f"{text} each month.", split="test")
    add_tree(project, f"{text} or keep a dog.", split="train")
    add_tree(project, "Nothing of the sort.", split="dev")
    found = near_leaks(project)
    assert found[0].tree_ids == (one.tree_id, other.tree_id)
    assert {leak.splits for leak in found} == {("train", "test"), ("test", "train")}


def test_the_command_prints_sizes_and_leaks(project, capsys):
    text = "# Grant\n\nOne and the same rule."
    add_tree(project, text, split="dev", source_url="https://a.example/1")
    add_tree(project, text.upper(), split="test", source_url="https://a.example/2")
    call_command("make_splits", project="rules")
    printed = capsys.readouterr().out
    assert "office.example: train 8, dev 1, test 3 trees" in printed
    assert (
        "leak: one rule text in dev and test: https://a.example/1, https://a.example/2" in printed
    )


def test_the_command_names_a_split_that_is_left_empty(project, capsys):
    call_command("make_splits", project="rules", ratios=[0.99, 0.01, 0])
    assert [line[:18] for line in capsys.readouterr().err.splitlines()] == ["note: dev is empty"]


def test_the_command_refuses_in_one_line(project):
    with pytest.raises(CommandError, match="there is no such project"):
        call_command("make_splits", project="nowhere")
    with pytest.raises(CommandError, match=r"make 1\.5, not 1"):
        call_command("make_splits", project="rules", ratios=[0.5, 0.5, 0.5])
    freeze_splits(project, actor=make_user(), now=timezone.now())
    with pytest.raises(CommandError, match="frozen"):
        call_command("make_splits", project="rules")
