"""The official ShARC dev set, in and out again. Its counts and faults: see the issue's figures."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.db.models import Count

from apps.projects.models import Job
from apps.scenarios.models import NegativeQuestion, NegativeScenario, Scenario, Utterance
from apps.snippets.models import Document, Snippet
from apps.trees.models import Node, Tree

pytestmark = pytest.mark.django_db


@pytest.fixture
def imported(sharc_dev):
    call_command(
        "import_sharc",
        str(sharc_dev / "sharc_dev.json"),
        "--project=dev",
        f"--negative-questions={sharc_dev / 'sharc_negative_question_utterance_ids.txt'}",
        f"--negative-scenarios={sharc_dev / 'sharc_negative_scenario_utterance_ids.txt'}",
        stdout=StringIO(),
        stderr=StringIO(),
    )
    return Job.objects.get()


def export(folder, *more: str) -> None:
    arguments = ["--project=dev", "--format=sharc", "--splits", "dev", f"--out={folder}"]
    call_command("export", *arguments, *more, stdout=StringIO(), stderr=StringIO())


def test_it_becomes_trees_scenarios_negatives_and_utterances(imported):
    assert Document.objects.count() == 24
    assert Snippet.objects.values("text").distinct().count() == 68
    assert (Tree.objects.count(), Node.objects.count()) == (69, 293)
    assert Scenario.objects.count() == 620
    assert (NegativeQuestion.objects.count(), NegativeScenario.objects.count()) == (138, 68)
    kinds = Utterance.objects.values_list("kind").annotate(Count("pk")).order_by("kind")
    assert dict(kinds) == {
        "plain": 293,
        "scenario": 696 + 853,
        "negative_question": 138,
        "negative_scenario": 290,
    }
    classes = Utterance.objects.values_list("answer_class").annotate(Count("pk")).order_by()
    assert dict(classes) == {"yes": 804, "no": 766, "irrelevant": 138, "more": 562}
    assert not Tree.objects.exclude(state="finished").exists()


def test_it_comes_back_byte_for_byte(imported, sharc_dev, tmp_path):
    export(tmp_path)
    exported = tmp_path / "dev" / "json" / "sharc_dev.json"
    assert exported.read_bytes() == (sharc_dev / "sharc_dev.json").read_bytes()


def test_the_lists_of_negatives_come_back_as_far_as_they_speak_of_it(imported, sharc_dev, tmp_path):
    export(tmp_path)
    ids = {one["utterance_id"] for one in json.loads((sharc_dev / "sharc_dev.json").read_text())}
    for name in ("question", "scenario"):
        name = f"sharc_negative_{name}_utterance_ids.txt"
        official = set((sharc_dev / name).read_text().split())
        exported = (tmp_path / "dev" / "negative_sample_utterance_ids" / name).read_text()
        assert exported == "".join(f"{one}\n" for one in sorted(official & ids))


def test_the_report_names_each_kind_of_oddity_with_its_ids(imported):
    found = {
        finding["what"]: [" ".join(id[:8] for id in ids) for ids in finding["groups"]]
        for finding in imported.report["findings"]
    }
    exactly = {
        "misspelt answer “Noe”": ["1d4f7cf0"],
        "misspelt answer “yes”": ["3333e1da", "5255f356"],
        "misspelt key “followup_answer”": ["1d4f7cf0"],
        "misspelt key “followup_question”": ["1d4f7cf0"],
        "follow-up question “Yes?”": ["c8b8e8b5"],
        "same input, other answer": ["70d6a5db ec8edf4d"],
        "same input and answer, other evidence": ["8f1c6a51 e7d4e089"],
        "answer does not follow from the tree: contradicts": [
            "0417df75", "0e6c22fa", "16ee3771", "81f78bf6", "e49d5737", "f2ee6927",
        ],
        "answer does not follow from the tree: decides early": [
            "1d4f7cf0", "cfbfb1c8", "e18d354c", "e7d4e089",
        ],
        "answer does not follow from the tree: asks known fact": ["5ec10aee", "bdafe4ed"],
        "answer does not follow from the tree: unknown question": [
            "4f6af729", "5b8cca40", "689f45ff", "c8b8e8b5", "de38c1b9", "e255919d", "fadcd402",
        ],
        "several trees on one rule text": ["84ec855d a91d169b"],
        "tree with a redundant question": [
            "12c6078e", "2161030a", "566837f8", "88556f63", "b7f3ad3a", "e9282acc", "f4a2ed22",
        ],
    }  # fmt: skip
    assert {what: found[what] for what in exactly} == exactly
    counted = {
        "equal but for the id": 12,
        "scenario with facts that answer both Yes and No to one question": 4,
        "scenario with facts that are not on one path of its tree": 7,
        "scenario with no facts": 110,
        "tree that spells one question in several ways": 2,
        "follow-up question without a question mark": 3,
    }
    assert {what: len(found[what]) for what in counted} == counted
    assert [len(pair.split()) for pair in found["equal but for the id"]] == [2] * 12


def test_what_the_rule_would_not_give_is_kept_by_hand(imported):
    by_hand = Utterance.objects.filter(origin="hand")
    # 1,549 utterances with a scenario of their tree, 1,328 of which the rule gives.
    assert by_hand.count() == 221
    assert set(by_hand.values_list("kind", flat=True)) == {"scenario"}


def test_expanding_adds_what_is_missing_and_says_so(imported, sharc_dev, tmp_path):
    out = StringIO()
    call_command("expand_utterances", "--project=dev", stdout=out, stderr=StringIO())
    report = Job.objects.get(kind="expansion").report
    given = report["here"] + sum(report["added"].values()) + len(report["same_id"])
    print(f"\n{out.getvalue()}")
    # 293 plain, 290 with a negative scenario, 138 Irrelevant, 1,582 with a scenario of the tree.
    assert given == 293 + 290 + 138 + 1582
    assert report["here"] == 293 + 290 + 138 + 1328
    assert report["added"] == {"scenario": 189}
    # Evidence is no part of the id, so these are one utterance with an official one.
    assert len(report["same_id"]) == 65
    refused = {reason: len(ids) for reason, ids in report["refused_scenarios"].items()}
    assert refused == {
        "no facts": 110,
        "facts that answer both Yes and No to one question": 4,
        "facts that are not on one path of its tree": 7,
    }
    official = json.loads((sharc_dev / "sharc_dev.json").read_text())
    export(tmp_path)
    assert json.loads((tmp_path / "dev" / "json" / "sharc_dev.json").read_text()) == official
    export(tmp_path, "--allow-unverified")
    after = json.loads((tmp_path / "dev" / "json" / "sharc_dev.json").read_text())
    ids = {one["utterance_id"] for one in official}
    assert [one for one in after if one["utterance_id"] in ids] == official
    assert len(after) == 2270 + 189


def test_importing_it_again_changes_nothing(imported, sharc_dev):
    out = StringIO()
    lists = [
        f"--negative-{kind}={sharc_dev / f'sharc_negative_{kind[:-1]}_utterance_ids.txt'}"
        for kind in ("questions", "scenarios")
    ]
    arguments = [str(sharc_dev / "sharc_dev.json"), "--project=dev", *lists]
    call_command("import_sharc", *arguments, stdout=out, stderr=StringIO())
    assert "created: nothing; all of it is here already" in out.getvalue()
    assert "skipped, is here already, the same: 2,270 utterances" in out.getvalue()
    assert Utterance.objects.count() == 2270
