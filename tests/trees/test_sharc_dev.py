"""The official ShARC dev set: what comes with the import of its trees."""

from collections import Counter
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from apps.trees.models import Flag, Tree
from apps.trees.services.near_questions import look_for_near_questions
from apps.trees.services.repair import differences

pytestmark = pytest.mark.django_db

REDUNDANT = [
    "12c6078e", "2161030a", "566837f8", "88556f63", "b7f3ad3a", "e9282acc", "f4a2ed22",
]  # fmt: skip


@pytest.fixture
def project(sharc_dev):
    names = {"stdout": StringIO(), "stderr": StringIO()}
    lists = {
        f"negative_{kind}s": sharc_dev / f"sharc_negative_{kind}_utterance_ids.txt"
        for kind in ("question", "scenario")
    }
    call_command("import_sharc", sharc_dev / "sharc_dev.json", project="dev", **lists, **names)
    return Tree.objects.all()[0].project


def test_each_tree_has_the_class_of_logic_that_was_counted(project):
    assert Counter(Tree.objects.values_list("logic_class", flat=True)) == {
        "one_question": 32,
        "or": 10,
        "and": 8,
        "negated_question": 6,
        "with_not": 5,
        "not_read_once": 2,
        "constant": 6,
    }


def test_exactly_the_seven_are_found(project):
    flags = Flag.objects.open().order_by("tree__tree_id")
    assert [tree_id[:8] for tree_id in flags.values_list("tree__tree_id", flat=True)] == REDUNDANT
    out = StringIO()
    call_command("find_redundant", project="dev", stdout=out)
    lines = out.getvalue().splitlines()
    assert [line[:8] for line in lines[:7]] == REDUNDANT
    assert lines[7:] == [
        "redundant: 7 questions of 7 trees",
        "asked before on its path: 0 questions",
        "nearly the same as a question before it: 0 questions",
    ]


def test_the_import_leaves_nothing_to_repair(project):
    assert list(differences(project)) == []
    look_for_near_questions(Tree.objects.all(), now=timezone.now())
    assert list(differences(project)) == []
