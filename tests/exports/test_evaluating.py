"""The two commands that measure."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.exports.formats.test_round_trips import write as write_format
from tests.exports.records import bus_pass, write
from tests.exports.sources import bus_source


def command(name: str, *arguments: object) -> str:
    out = StringIO()
    call_command(name, *map(str, arguments), stdout=out)
    return out.getvalue()


@pytest.fixture
def gold(tmp_path):
    return write(tmp_path / "sharc_dev.json", bus_pass())


def predictions(path, **answers) -> None:
    said = {one["utterance_id"]: answers.get(one["answer"], one["answer"]) for one in bus_pass()}
    rows = [{"utterance_id": key, "answer": answer} for key, answer in said.items()]
    path.write_text("\n".join(map(json.dumps, rows)))


def test_a_model_that_never_says_no(gold, tmp_path):
    predictions(tmp_path / "said.jsonl", No="Yes")
    said = command("evaluate_predictions", gold, tmp_path / "said.jsonl").splitlines()
    assert said == [
        "9 utterances", "micro accuracy  0.8889", "macro accuracy  0.7500",
        "  yes           1.0000", "  no            0.0000", "  more          1.0000",
        "  irrelevant    1.0000", "BLEU-1          1.0000", "BLEU-2          1.0000",
        "BLEU-3          1.0000", "BLEU-4          1.0000",
        "BLEU is over 3 follow-up questions",
    ]  # fmt: skip
    value = json.loads(command("evaluate_predictions", gold, tmp_path / "said.jsonl", "--json"))
    assert (value["macro_accuracy"], value["class_accuracy"]["no"]) == (0.75, 0.0)


def test_a_gold_file_that_lacks_a_class_has_no_macro_accuracy(tmp_path):
    records = [one for one in bus_pass() if one["answer"] != "Irrelevant"]
    gold = write(tmp_path / "gold.json", records)
    said = command("evaluate_predictions", gold, gold)
    assert "macro accuracy  undefined: no gold answer is irrelevant" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", r"said\.json: has no answer for "),
        ("[3]", r"said\.json: item 1: must be an object"),
        ('[{"utterance_id": "a"}]', r"item 1: answer: must be a text, not null"),
        ('[{"utterance_id": "a", "answer": ""}, {"utterance_id": "a", "answer": ""}]',
         "item 2: utterance_id: has an answer before"),
        ("[{", r"said\.json: item 1: the file ends in the middle"),
    ],
)  # fmt: skip
def test_predictions_that_do_not_fit_are_refused(gold, tmp_path, text, said):
    (tmp_path / "said.json").write_text(text)
    with pytest.raises(CommandError, match=said):
        command("evaluate_predictions", gold, tmp_path / "said.json")


def test_files_that_are_not_there_or_empty_are_refused(gold, tmp_path):
    with pytest.raises(CommandError, match="No such file"):
        command("evaluate_predictions", gold, tmp_path / "none.json")
    (tmp_path / "empty.json").write_text("[]")
    with pytest.raises(CommandError, match="holds no utterances"):
        command("evaluate_predictions", tmp_path / "empty.json", gold)


@pytest.mark.parametrize("name", ["conversational-json", "conversational-tfrecord"])
def test_an_export_with_few_examples_says_so(name, tmp_path):
    said = command("evaluate_responses", write_format(name, bus_source(), tmp_path))
    assert said == (
        "dev TF-IDF undefined: fewer than 100 examples\n"
        "dev BM25 undefined: fewer than 100 examples\n"
    )


def test_a_folder_without_examples_is_refused(tmp_path):
    with pytest.raises(CommandError, match="holds no conversational examples"):
        command("evaluate_responses", tmp_path)
    folder = write_format("conversational-json", bus_source(), tmp_path)
    next(folder.iterdir()).write_text("{}\n")
    with pytest.raises(CommandError, match="line 1: utterance_id: missing"):
        command("evaluate_responses", folder)


def test_the_dev_set_as_predictions_of_itself_is_all_right(sharc_dev):
    gold = sharc_dev / "sharc_dev.json"
    said = command("evaluate_predictions", gold, gold)
    assert "micro accuracy  1.0000\nmacro accuracy  1.0000" in said
    assert said.endswith("BLEU is over 562 follow-up questions\n")
