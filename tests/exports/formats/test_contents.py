"""What exactly stands in each format's files, for one tree (docs/formats.md)."""

import gzip
import json
import re
import struct
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from apps.exports.formats.checks import FormatError
from apps.exports.formats.conversational import examples, split_by_hash
from apps.exports.formats.csv_table import COLUMNS
from apps.exports.formats.example_proto import from_example, read_records, to_example
from apps.exports.formats.mnbvc import lines
from apps.exports.formats.mnbvc.general_text import simhash
from apps.exports.formats.mnbvc.sessions import sessions
from apps.exports.formats.multiqa import dataset_name
from apps.exports.formats.plots import bars
from apps.exports.formats.registry import FORMATS
from apps.exports.formats.rows import Options, UtteranceRow
from apps.exports.formats.tokens import token_range, tokenize
from apps.trees.domain.tree import Answer, Turn
from tests.exports.formats.test_round_trips import contents, read, write
from tests.exports.sources import (
    OVER_60,
    RULE,
    STUDENT,
    ListSource,
    bus_source,
    hex_id,
    tree_row,
)
from tests.strategies import full_tree

SOURCE = bus_source()
(TREE,) = SOURCE.trees("dev")
YES, NO = Turn(OVER_60, Answer.YES), Turn(OVER_60, Answer.NO)


def row_of(answer: str, *history: Turn, scenario: str = "") -> UtteranceRow:
    (found,) = [
        row for row in TREE.utterances
        if (row.answer, row.history, row.scenario) == (answer, history, scenario)
    ]  # fmt: skip
    return found


def json_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]


def values(name: str, tmp_path: Path, **options) -> dict[str, dict]:
    """What stands in the files for each utterance."""
    found = read(name, write(name, SOURCE, tmp_path, **options))
    return {row.utterance_id: dict(one.value) for one in found for row in one.utterances}


def test_or_sharc_has_the_rule_texts_apart(tmp_path):
    train = tree_row(full_tree(1), snippet=RULE, question="Which?", url="https://a.example/b")
    other = tree_row(full_tree(1), snippet="Ünseen.", question="Which?", url="https://a.example/c")
    source = ListSource({"train": [train], "dev": [TREE, other]})
    files = contents(write("or-sharc", source, tmp_path))
    assert json.loads(files["id2snippet.json"]) == {"0": RULE, "1": "Ünseen."}
    assert b"\\u00dcnseen" in files["id2snippet.json"]
    rows = {
        name: [json.loads(line) for line in files[f"open_retrieval_sharc_{name}.json"].splitlines()]
        for name in ("train", "dev")
    }
    assert list(rows["train"][0]) == [
        "utterance_id", "tree_id", "source_url", "question", "scenario", "answer", "history",
        "evidence", "gold_snippet_id",
    ]  # fmt: skip
    assert {row["snippet_seen"] for row in rows["dev"] if row["gold_snippet_id"] == "0"} == {True}
    assert {row["snippet_seen"] for row in rows["dev"] if row["gold_snippet_id"] == "1"} == {False}
    assert "Irrelevant" not in {row["answer"] for row in rows["dev"]}


def multiqa(tmp_path: Path) -> tuple[dict, dict, dict[str, dict]]:
    folder = write("multiqa", SOURCE, tmp_path)
    header, context = gzip.decompress((folder / "buses_dev.jsonl.gz").read_bytes()).splitlines()
    parsed = json.loads(context)
    return json.loads(header)["header"], parsed, {qa["qid"]: qa for qa in parsed["qas"]}


def test_multiqa_has_a_header_and_a_context_for_each_tree(tmp_path):
    header, context, qas = multiqa(tmp_path)
    assert (header["dataset_name"], header["split"]) == ("buses", "dev")
    assert (header["number_of_contexts"], header["number_of_qas"]) == (1, len(TREE.utterances))
    assert json.loads((tmp_path / "multiqa/headers/buses_dev.json").read_text()) == header
    assert context["id"] == f"buses_{TREE.tree_id}"
    (document,) = context["context"]["documents"]
    assert document["tokens"]["title"] == [["Bus", 0], ["passes", 4]]
    assert document["url"] == "https://buses.example/pass"
    assert (document["title"], document["text"]) == ("Bus passes", RULE)
    assert list(qas) == [f"buses_q_{row.utterance_id}" for row in TREE.utterances]


def test_multiqa_says_each_kind_of_answer_in_its_way(tmp_path):
    _, _, qas = multiqa(tmp_path)

    def answers(row: UtteranceRow) -> dict:
        found: dict = qas[f"buses_q_{row.utterance_id}"]["answers"]["open-ended"]
        return found

    assert answers(row_of("Yes", YES)) == {
        "annotators_answer_candidates": [{"single_answer": {"yesno": "yes"}}]
    }
    assert answers(row_of("Irrelevant")) == {"cannot_answer": "yes"}
    start = RULE.index("over 60")
    first = [token for token, _ in tokenize(RULE)].index("over")
    span = {"doc_id": 0, "part": "text", "start_byte": start, "text": "over 60",
            "token_inds": [first, first + 1]}  # fmt: skip
    assert answers(row_of(OVER_60)) == {
        "annotators_answer_candidates": [
            {"single_answer": {
                "generated_text": OVER_60,
                "extractive": {"answer": "over 60", "instances": [span]},
            }}
        ]
    }  # fmt: skip


def test_multiqa_folds_what_the_user_tells_into_the_question(tmp_path):
    _, _, qas = multiqa(tmp_path)
    row = row_of(STUDENT, NO, scenario="My bees are calm.")
    qa = qas[f"buses_q_{row.utterance_id}"]
    assert qa["question"] == (
        "Can I get a pass? Scenario: My bees are calm. Follow-up question: Are you over 60? "
        "Answer: No"
    )
    start = RULE.index("over 60")
    assert qa["supporting_context"] == [
        {"doc_id": 0, "part": "text", "start_byte": start, "text": "over 60"}
    ]
    assert qa["metadata"]["scenario"] == "My bees are calm."


def test_multiqa_follows_the_schema_of_the_project(tmp_path):
    assert dataset_name("a_q_b_q_q_c") == "a-q_b-q-q_c"
    assert "_q_" not in dataset_name("_q_q_q_")


def test_a_follow_up_without_a_span_is_generated_text_alone(tmp_path):
    bare = replace(TREE, nodes=tuple(
        replace(node, span_start=None, span_end=None) for node in TREE.nodes
    ))  # fmt: skip
    folder = write("multiqa", replace(SOURCE, stored={"dev": [bare]}), tmp_path)
    lines_ = gzip.decompress((folder / "buses_dev.jsonl.gz").read_bytes())
    assert b'extractive": {' not in lines_
    assert f'"generated_text": "{OVER_60}"}}'.encode() in lines_


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Dogs, aged 60+.", ["Dogs", ",", "aged", "60", "+", "."]),
        ("don't  stop\n", ["don", "'", "t", "stop"]),
        ("日本語のルール。", [*"日本語のルール。"]),
        ("नियम है", ["नियम", "है"]),
        ("👩‍👧 é", ["👩", "\u200d", "👧", "é"]),
        (" \n\u3000", []),
    ],
)
def test_tokens_have_no_white_space_and_stand_where_they_say(text, tokens):
    found = tokenize(text)
    assert [token for token, _ in found] == tokens
    assert all(text.startswith(str(token), int(start)) for token, start in found)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [(0, 4, [0, 0]), (4, 5, []), (0, 9, [0, 1]), (2, 3, [0, 0]), (5, 6, [1, 1]), (9, 11, [2, 2])],
)
def test_a_span_has_the_tokens_that_it_touches(start, end, expected):
    assert token_range(tokenize("Dogs bark no"), start, end) == expected


def test_a_conversational_example_has_its_turns_newest_first(tmp_path):
    row = row_of(STUDENT, NO, scenario="My bees are calm.")
    assert list(examples(row, Options())) == [
        {
            "context/2": "My bees are calm.",
            "context/1": "Can I get a pass?",
            "context/0": OVER_60,
            "context": "No",
            "response": STUDENT,
            "utterance_id": row.utterance_id,
            "tree_id": TREE.tree_id,
            "source_url": "https://buses.example/pass",
            "snippet": RULE,
            "scenario": "My bees are calm.",
        }
    ]


def test_conversational_examples_can_be_folded_and_left_out():
    row = row_of(STUDENT, NO)
    (folded,) = examples(row, Options(fold_context=True, only_follow_ups=True))
    assert folded["context"] == f"{RULE}\nCan I get a pass?\n{OVER_60}\nNo"
    assert "context/0" not in folded
    final = row_of("Yes", YES)
    assert list(examples(final, Options(only_follow_ups=True))) == []
    assert list(examples(row, Options(min_length=3))) == []  # the context is "No"
    assert len(list(examples(row, Options(min_length=2, max_length=len(STUDENT))))) == 1
    assert list(examples(row, Options(max_length=len(STUDENT) - 1))) == []


def test_folded_examples_are_read_as_they_are(tmp_path):
    found = read("conversational-json", write("conversational-json", SOURCE, tmp_path,
                                              fold_context=True))  # fmt: skip
    assert len(found) == len(TREE.utterances)
    assert sorted((row.utterance_id, row.answer) for one in found for row in one.utterances) == [
        (row.utterance_id, row.answer) for row in TREE.utterances
    ]


def test_shards_share_the_examples_and_another_seed_another_order(tmp_path):
    name = "conversational-json"
    one = write(name, SOURCE, tmp_path / "1", shards=3, seed=1)
    assert sorted(contents(one)) == [f"dev-0000{shard}-of-00003.json" for shard in range(3)]
    two = write(name, SOURCE, tmp_path / "2", shards=3, seed=2)
    ids = [[row["utterance_id"] for path in sorted(folder.iterdir()) for row in json_lines(path)]
           for folder in (one, two)]  # fmt: skip
    assert ids[0] != ids[1]
    assert sorted(ids[0]) == sorted(ids[1]) == [row.utterance_id for row in TREE.utterances]


def test_a_missing_shard_is_named(tmp_path):
    folder = write("conversational-json", SOURCE, tmp_path, shards=3)
    (folder / "dev-00001-of-00003.json").unlink()
    with pytest.raises(FormatError, match=r"dev-00001-of-00003\.json: missing"):
        read("conversational-json", folder)


def test_the_formats_own_split_goes_by_a_hash_of_the_source(tmp_path):
    splits = {split_by_hash(f"https://a.example/{number}") for number in range(50)}
    assert splits == {"train", "dev", "test"}
    folder = write("conversational-json", SOURCE, tmp_path, split_by_hash=True)
    sizes = {path.name[:-20]: len(json_lines(path)) for path in folder.iterdir()}
    expected = dict.fromkeys(("train", "dev", "test"), 0)
    expected[split_by_hash("https://buses.example/pass")] = len(TREE.utterances)
    assert sizes == expected


def test_a_tfrecord_has_the_bytes_that_tensorflow_writes():
    # {"a": "é"}: written once by TensorFlow 2.21, length and checksums included.
    data = to_example({"a": "é"})
    assert data == b"\n\x0d\n\x0b\n\x01a\x12\x06\n\x04\n\x02\xc3\xa9"
    assert from_example(data) == {"a": "é"}
    assert from_example(to_example({})) == {}


def test_a_tfrecord_with_a_wrong_checksum_is_refused(tmp_path):
    folder = write("conversational-tfrecord", SOURCE, tmp_path)
    (path,) = folder.iterdir()
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    path.write_bytes(data[: 12 + length] + b"\0\0\0\0" + data[16 + length :])
    with pytest.raises(FormatError, match="record 1: data: cut off, or not what its checksum"):
        read("conversational-tfrecord", folder)


def test_tfrecords_are_the_json_examples(tmp_path):
    (json_path,) = write("conversational-json", SOURCE, tmp_path, seed=5).iterdir()
    (path,) = write("conversational-tfrecord", SOURCE, tmp_path, seed=5).iterdir()
    with path.open("rb") as stream:
        assert [from_example(data) for data in read_records(stream)] == json_lines(json_path)


def test_a_session_goes_on_until_no_utterance_does():
    found = sessions(TREE.utterances)
    told = {(one.last.scenario, tuple(one.user_turns), tuple(one.system_turns)) for one in found}
    asked = "Can I get a pass?"
    plain = {
        ("", (asked, "Yes"), (OVER_60, "Yes")),
        ("", (asked, "No", "Yes"), (OVER_60, STUDENT, "Yes")),
        ("", (asked, "No", "No"), (OVER_60, STUDENT, "No")),
    }
    assert {one for one in told if not one[0]} == {*plain, ("", ("Can I keep bees?",),
                                                            ("Irrelevant",))}  # fmt: skip
    assert all(all(one.steps) for one in found)


def test_a_dialogue_line_has_all_keys_and_an_id_of_its_content(tmp_path):
    (path,) = write("mnbvc-dialogue", SOURCE, tmp_path).iterdir()
    assert path.name == "buses_dialogue_dev_0.jsonl"
    rows = json_lines(path)
    last = row_of("No", NO, Turn(STUDENT, Answer.NO))
    number = int(hex_id(f"session:{last.utterance_id}")[:12], 16)
    session = [row for row in rows if json.loads(row["元数据"]["扩展字段"])["会话"] == number]
    assert [(row["问"], row["答"]) for row in session] == [
        ("Can I get a pass?", OVER_60), ("No", STUDENT), ("No", "No"),
    ]  # fmt: skip
    extra = json.loads(session[2]["元数据"]["扩展字段"])
    assert (extra["多轮序号"], extra["utterance_id"]) == (3, last.utterance_id)
    assert session[2]["时间"] == "20240305"
    assert session[2]["元数据"]["create_time"] == "20240305 14:06:07"
    assert len({row["id"] for row in rows}) == len(rows)


def test_twins_of_an_utterance_are_kept(tmp_path):
    twin = replace(row_of("Yes", YES), utterance_id="f" * 40)
    source = replace(SOURCE, stored={"dev": [replace(TREE, utterances=(*TREE.utterances, twin))]})
    found = read("mnbvc-dialogue", write("mnbvc-dialogue", source, tmp_path))
    assert "f" * 40 in {row.utterance_id for one in found for row in one.utterances}


def test_a_gap_in_a_session_is_kept_as_a_gap(tmp_path):
    rows = [row_of(OVER_60), row_of("No", NO, Turn(STUDENT, Answer.NO))]
    source = replace(SOURCE, stored={"dev": [replace(TREE, utterances=tuple(rows))]})
    found = read("mnbvc-dialogue", write("mnbvc-dialogue", source, tmp_path))
    assert [len(one.utterances) for one in found] == [1, 0, 1]


@pytest.mark.parametrize(
    ("date", "stamp"),
    [((738,), "07380101"), ((2024, 3), "20240301"), ((2024, 3, 5), "20240305"),
     ((-43, 12, 31), "-00431231")],
)  # fmt: skip
def test_days_have_eight_digits(date, stamp):
    assert lines.day_stamp(*date) == stamp


def test_a_file_that_grows_too_large_is_followed_by_the_next(tmp_path):
    rows = [{"n": number} for number in range(3)]
    lines.write_lines(SOURCE, tmp_path, "qa", "dev", rows, most=9)
    assert contents(tmp_path) == {
        "buses_qa_dev_0.jsonl": b'{"n": 0}\n',
        "buses_qa_dev_1.jsonl": b'{"n": 1}\n',
        "buses_qa_dev_2.jsonl": b'{"n": 2}\n',
    }


def test_a_forum_thread_is_the_tree(tmp_path):
    (path,) = write("mnbvc-forum", SOURCE, tmp_path).iterdir()
    (thread,) = json_lines(path)
    replies = [(reply["楼ID"], reply["回复"], *json.loads(reply["扩展字段"]).values())
               for reply in thread["回复"]]  # fmt: skip
    assert (thread["主题"], thread["元数据"]["回复数"]) == ("Can I get a pass?", 9)
    assert replies == [
        ("1", OVER_60, "系统", ""),
        ("2", "Yes", "用户", "1"), ("3", "Yes", "系统", "2"),
        ("4", "No", "用户", "1"), ("5", STUDENT, "系统", "4"),
        ("6", "Yes", "用户", "5"), ("7", "Yes", "系统", "6"),
        ("8", "No", "用户", "5"), ("9", "No", "系统", "8"),
    ]  # fmt: skip


def test_a_question_and_its_answer_stand_in_lines(tmp_path):
    row = row_of(STUDENT, NO, scenario="My bees are calm.")
    line = values("mnbvc-qa", tmp_path)[row.utterance_id]
    assert line["问"] == f"Can I get a pass?\nMy bees are calm.\n{OVER_60} No"
    assert line["答"] == STUDENT


def test_general_text_has_a_line_for_each_line_of_the_rule_texts(tmp_path):
    again = tree_row(full_tree(1), snippet="* a student\n\nMore.", question="Which?",
                     url=TREE.source_url)  # fmt: skip
    (path,) = write("mnbvc-text", ListSource({"dev": [TREE, again]}), tmp_path).iterdir()
    (document,) = json_lines(path)
    texts = [(one["行号"], one["内容"], one["是否重复"]) for one in document["段落"]]
    first = [line for line in RULE.split("\n") if line]
    second = ["* a student", "More."]
    order = first + second if TREE.tree_id < again.tree_id else second + first
    assert [text for _, text, _ in texts] == order
    assert sum(repeated for *_, repeated in texts) == 1
    assert (document["段落数"], document["去重段落数"]) == (6, 5)
    assert document["文件大小"] == len("\n".join(order).encode())
    assert 0 < document["simhash"] < 2**63


def test_near_texts_have_near_simhashes():
    one, two = simhash(RULE * 3), simhash(RULE * 3 + " Or so.")
    assert (one ^ two).bit_count() < (one ^ simhash("Bees must not fly at night.")).bit_count()


def test_a_unitxt_row_has_one_assistant_turn_fewer(tmp_path):
    row = row_of(STUDENT, NO, scenario="My bees are calm.")
    value = values("unitxt", tmp_path)[row.utterance_id]
    assert value == {
        "utterance_id": row.utterance_id,
        "tree_id": TREE.tree_id,
        "source_url": "https://buses.example/pass",
        "snippet": RULE,
        "question": "Can I get a pass?",
        "scenario": "My bees are calm.",
        "answer": STUDENT,
        "answer_class": "more",
        "num_turns": 1,
        "user_turns": ["My bees are calm.\n\nCan I get a pass?", "No"],
        "assistant_turns": [OVER_60],
        "user_turns_literal": "['My bees are calm.\\n\\nCan I get a pass?', 'No']",
        "assistant_turns_literal": "['Are you over 60?']",
    }


def test_the_card_of_a_hugging_face_folder_says_how_many_rows_there_are(tmp_path):
    card = (write("huggingface", SOURCE, tmp_path) / "README.md").read_text("utf-8")
    assert f'"num_examples": {len(TREE.utterances)}}}' in card
    assert '- {"split": "validation", "path": "utterances/validation.parquet"}' in card
    assert 'size_categories: ["n<1K"]' in card
    assert 'language: ["en"]' in card
    assert 'pretty_name: "Rules of \\u201cbuses\\u201d: 1"' in card


def test_the_card_shows_sizes_and_plots(tmp_path):
    folder = write("huggingface", SOURCE, tmp_path)
    card = (folder / "README.md").read_text("utf-8")
    assert "| dev | 6 | 3 | 1 | 6 | 16 |" in card or f"| {len(TREE.utterances)} |" in card
    assert "| CC BY-SA 3.0 | 1 |" in card
    linked = re.findall(r"\(plots/(\w+\.svg)\)", card)
    assert sorted(linked) == sorted(path.name for path in (folder / "plots").iterdir())
    for name in linked:
        ElementTree.fromstring((folder / "plots" / name).read_text("utf-8"))  # noqa: S314
    depths = (folder / "plots" / "depths.svg").read_text("utf-8")
    assert re.findall(r">([\d,]+)</text>", depths) == ["0", "0", "1", "0", "2", "1"]


def test_bars_are_as_long_as_their_numbers():
    drawn = bars("A & B", {"<one>": 10, "two": 5, "none": 0})
    assert "<title>A &amp; B</title>" in drawn
    assert re.findall(r'width="(\d+)" height="20"', drawn) == ["400", "200", "0"]
    assert bars("Nothing", {}).count("<rect") == 1


def test_a_card_with_another_count_is_refused(tmp_path):
    folder = write("huggingface", SOURCE, tmp_path)
    card = (folder / "README.md").read_text("utf-8")
    (folder / "README.md").write_text(card.replace('"num_examples": 1}', '"num_examples": 2}'))
    with pytest.raises(FormatError, match=r"README\.md: line \d+: config_name: trees"):
        read("huggingface", folder)


def test_case_32_a_csv_cell_is_never_a_formula(tmp_path):
    dangerous = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "'=1", "''=1"]
    tree = tree_row(full_tree(1), snippet="=SUM(A1)", question="=x?", url="https://a.example/b",
                    scenarios=[("scenario", text, ()) for text in dangerous])  # fmt: skip
    source = ListSource({"dev": [tree]})
    folder = write("csv", source, tmp_path, byte_order_mark=True)
    data = (folder / "utterances_dev.csv").read_bytes()
    assert data.startswith("\ufeff".encode() + ",".join(COLUMNS).encode() + b"\r\n")
    assert b",'=SUM(A1),'=x?,'=1+1," in data
    found = read("csv", folder)
    assert {row.scenario for one in found for row in one.utterances} == {"", *dangerous}
    assert {row.snippet for one in found for row in one.utterances} == {"=SUM(A1)"}


def test_turns_in_csv_are_lines_that_people_read(tmp_path):
    row = row_of("No", NO, Turn(STUDENT, Answer.NO))
    assert values("csv", tmp_path)[row.utterance_id]["history"] == f"{OVER_60} No\n{STUDENT} No"


def test_case_33_characters_are_characters_but_in_sharc(tmp_path):
    tree = tree_row(full_tree(1), snippet="Zürich 東京", question="Où?", url="https://a.example/b")
    for name in FORMATS:
        text = b"".join(contents(write(name, ListSource({"dev": [tree]}), tmp_path)).values())
        escaped = b"\\u00fc" in text
        assert escaped == (name in ("sharc", "or-sharc")), name
