"""import_sharc: what comes in, what is said about it, and what is refused."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.exports.domain.sharc_findings import find_oddities
from apps.projects.models import AuditEvent, Job, Project
from apps.scenarios.models import Fact, NegativeQuestion, NegativeScenario, Scenario, Utterance
from apps.snippets.models import Document, Question, Snippet
from apps.trees.domain import tree as domain
from apps.trees.models import Node, Tree
from tests.exports.records import ASK, OVER_60, RULE, STUDENT, bus_pass, record, turn, write
from tests.factories import make_user

pytestmark = pytest.mark.django_db

TABLES: list[Any] = [
    Document, Snippet, Question, Tree, Node, Scenario, Fact, NegativeQuestion, NegativeScenario,
    Utterance,
]  # fmt: skip


def run(*files: Path, **options: str) -> str:
    out = StringIO()
    named = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    arguments = [*map(str, files), "--project=buses", *named]
    call_command("import_sharc", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def counts() -> list[int]:
    return [table.objects.count() for table in TABLES]


@pytest.fixture
def lists(tmp_path) -> dict[str, str]:
    """The lists of negatives of `bus_pass`, as the official folders have them."""
    by_question = [one for one in bus_pass() if one["answer"] == "Irrelevant"]
    by_scenario = [one for one in bus_pass() if "bees are calm" in one["scenario"]]
    elsewhere = "0" * 40  # official lists also name utterances of other files
    paths = {}
    for name, records in (("questions", by_question), ("scenarios", by_scenario)):
        path = tmp_path / f"{name}.txt"
        path.write_text("".join(f"{one['utterance_id']}\n" for one in records) + elsewhere + "\n")
        paths[f"negative_{name}"] = str(path)
    return paths


def test_utterances_become_a_tree_with_its_scenarios_and_negatives(tmp_path, lists):
    run(write(tmp_path / "sharc_dev.json", bus_pass()), **lists)
    assert counts() == [1, 1, 1, 1, 5, 1, 1, 1, 1, 9]
    tree = Tree.objects.get()
    assert tree.to_domain() == domain.Question(
        OVER_60,
        domain.FinalAnswer(domain.Answer.YES),
        domain.Question(
            STUDENT, domain.FinalAnswer(domain.Answer.YES), domain.FinalAnswer(domain.Answer.NO)
        ),
    )
    assert (tree.state, tree.question.text, tree.question.snippet.text) == ("finished", ASK, RULE)
    document = Document.objects.get()
    assert (document.domain, document.split) == ("buses.example", "dev")


def test_a_scenarios_facts_are_the_evidence_of_its_utterances(tmp_path, lists):
    run(write(tmp_path / "sharc_dev.json", bus_pass()), **lists)
    fact = Fact.objects.get()
    assert fact.scenario.text == "I turned 70 in May."
    assert fact.turn == domain.Turn(OVER_60, domain.Answer.YES)


def test_every_row_says_which_import_made_it(tmp_path, lists):
    run(write(tmp_path / "sharc_dev.json", bus_pass()), **lists)
    job = Job.objects.get()
    for table in TABLES:
        if table is not Fact:
            assert set(table.objects.values_list("job", flat=True)) == {job.pk}
    assert AuditEvent.objects.filter(action="start ShARC import").count() == 1


def test_each_utterance_knows_its_kind_its_node_and_whether_the_rule_gives_it(tmp_path, lists):
    run(write(tmp_path / "sharc_dev.json", bus_pass()), **lists)
    kinds = Utterance.objects.values_list("kind", flat=True)
    assert sorted(kinds) == sorted(
        ["plain"] * 5 + ["scenario"] * 2 + ["negative_question", "negative_scenario"]
    )
    assert set(Utterance.objects.values_list("origin", flat=True)) == {"rule"}
    told = Utterance.objects.get(kind="scenario", history=[])
    assert told.node == Node.objects.get(parent=None)
    assert told.scenario_of == Scenario.objects.get()


def test_without_lists_another_trees_scenario_is_taken_for_the_trees_own(tmp_path):
    run(write(tmp_path / "sharc_dev.json", bus_pass()))
    assert Scenario.objects.count() == 2
    assert NegativeScenario.objects.count() == 0
    assert NegativeQuestion.objects.count() == 1


def test_what_the_rule_would_not_give_is_kept_as_a_correction_by_hand(tmp_path):
    wrong = record("No", scenario="I turned 70 in May.")
    run(write(tmp_path / "dev.json", [*bus_pass(), wrong]), split="dev")
    by_hand = Utterance.objects.get(origin="hand", scenario__startswith="I turned")
    assert by_hand.utterance_id == wrong["utterance_id"]


def test_the_second_of_two_equal_utterances_is_kept_by_hand(tmp_path):
    twin = record(OVER_60, utterance_id="f" * 40)
    out = run(write(tmp_path / "dev.json", [*bus_pass(), twin]))
    assert Utterance.objects.filter(answer=OVER_60, scenario="", origin="rule").count() == 1
    assert Utterance.objects.filter(answer=OVER_60, scenario="", origin="hand").count() == 1
    assert "equal but for the id" in out


def test_evidence_without_a_scenario_is_kept_by_hand(tmp_path):
    run(write(tmp_path / "dev.json", [*bus_pass(), record("Yes", evidence=[turn(OVER_60, "Yes")])]))
    odd = Utterance.objects.get(scenario="", evidence=[turn(OVER_60, "Yes")])
    assert (odd.kind, odd.origin, odd.scenario_of) == ("scenario", "hand", None)


def test_spellings_of_one_question_are_joined_and_none_is_lost(tmp_path):
    spelt = [turn("ARE YOU OVER 60", "Yes")]
    records = bus_pass()
    records[1] = record("Yes", spelt)
    out = run(write(tmp_path / "dev.json", records))
    assert Node.objects.filter(kind="question").count() == 2
    assert Utterance.objects.filter(history=spelt).count() == 1
    assert "tree that spells one question in several ways" in out


def test_misspelt_keys_and_answers_are_repaired_and_come_back_as_they_were(tmp_path):
    records = bus_pass()
    records[5] = record(
        "Yes", scenario="I turned 70 in May.",
        evidence=[{"followup_question": OVER_60, "followup_answer": "yes"}],
    )  # fmt: skip
    source = write(tmp_path / "sharc_dev.json", records)
    out = run(source)
    repaired = Utterance.objects.exclude(as_imported="").get()
    assert repaired.evidence == [turn(OVER_60, "Yes")]
    for said in ("misspelt key “followup_question”", "misspelt answer “yes”"):
        assert said in out
    call_command("export", "--project=buses", "--format=sharc", f"--out={tmp_path / 'out'}",
                 stdout=StringIO(), stderr=StringIO())  # fmt: skip
    exported = tmp_path / "out" / "buses" / "json" / "sharc_dev.json"
    assert exported.read_bytes() == source.read_bytes()


def test_importing_twice_changes_nothing_and_says_so(tmp_path, lists):
    source = write(tmp_path / "sharc_dev.json", bus_pass())
    run(source, **lists)
    before = counts()
    out = run(source, **lists)
    assert counts() == before
    assert "created: nothing; all of it is here already" in out
    assert "skipped, is here already, the same: 9 utterances" in out


def test_importing_it_again_with_more_or_other_utterances_says_what_was_left(tmp_path, lists):
    """Case 37: what came and what was skipped."""
    run(write(tmp_path / "sharc_dev.json", bus_pass()[:6]))
    before = counts()
    changed = {**bus_pass()[5], "answer": "No"}
    out = run(write(tmp_path / "sharc_dev.json", [*bus_pass()[:5], changed, *bus_pass()[6:]]))
    assert counts() == before
    assert "created: nothing\n" in out
    assert "skipped, is here already, the same: 5 utterances" in out
    assert "skipped, is here already with other content, which stays: 1 utterances" in out
    assert "skipped, its tree is here already without it" in out


def test_a_project_of_the_command_line_is_administered_by_all_staff(tmp_path):
    staff = make_user(is_staff=True)
    make_user()
    run(write(tmp_path / "sharc_dev.json", bus_pass()))
    assert list(Project.objects.administered_by(staff)) == [Project.objects.get()]
    assert Project.objects.get().memberships.count() == 1


def test_a_second_file_adds_its_trees_to_the_same_documents(tmp_path):
    run(write(tmp_path / "sharc_dev.json", bus_pass()))
    other = [{**one, "tree_id": "a" * 40, "snippet": "# Other\n\nRule.", "utterance_id": ""}
             for one in bus_pass()]  # fmt: skip
    run(write(tmp_path / "more_dev.json", [record(**one) for one in other]))
    assert Tree.objects.count() == 2
    assert Document.objects.count() == 1
    assert list(Snippet.objects.values_list("position", flat=True)) == [0, 1000]


def test_an_unfinished_tree_is_taken_with_its_open_branch_and_named(tmp_path):
    out = run(write(tmp_path / "dev.json", bus_pass()[:3]))
    assert Tree.objects.get().state == "growing"
    assert "tree with an open branch" in out


def test_json_lines_and_a_byte_order_mark_are_read(tmp_path):
    path = tmp_path / "dev.jsonl"
    lines = "\n".join(json.dumps(one) for one in bus_pass())
    path.write_bytes(b"\xef\xbb\xbf" + lines.encode())
    run(path)
    assert Utterance.objects.count() == 9
    marked = tmp_path / "marked.json"
    marked.write_bytes(b"\xef\xbb\xbf" + json.dumps(bus_pass()).encode())
    assert "created: nothing" in run(marked)


def test_many_utterances_are_written_by_few_statements(tmp_path, django_assert_max_num_queries):
    def copy(number: int) -> list[dict[str, Any]]:
        fields = {"tree_id": f"{number:040x}", "snippet": f"Rule {number}.", "utterance_id": ""}
        return [record(**{**one, **fields}) for one in bus_pass()]

    source = write(tmp_path / "dev.json", [one for number in range(40) for one in copy(number)])
    with django_assert_max_num_queries(80):
        run(source)
    assert Utterance.objects.count() == 360


def broken(**fields: Any) -> list[dict[str, Any]]:
    return [*bus_pass()[:4], {**bus_pass()[4], **fields}]


def without(key: str) -> list[dict[str, Any]]:
    return [{name: value for name, value in one.items() if name != key} for one in bus_pass()]


BAD: dict[str, tuple[Any, str]] = {
    "not json": ("hello", "line 1: not JSON"),
    "utf-16": (json.dumps([]).encode("utf-16"), "UTF-16"),
    "utf-16 without a mark": (json.dumps([1]).encode("utf-16-le"), "UTF-16"),
    "latin-1": ('[{"utterance_id": "é"}]'.encode("latin-1"), "not UTF-8"),
    "truncated": (json.dumps(bus_pass())[:-200], "the file ends in the middle"),
    "truncated after an item": (
        json.dumps(bus_pass())[:-1],
        "item 10: the file ends in the middle",
    ),
    "empty": ("", "holds no utterances"),
    "no utterances": ("[]", "holds no utterances"),
    "more after the end": (json.dumps(bus_pass()) + "]", "more text follows"),
    "an item that is a number": ("[1]", "item 1: an utterance must be an object, not a number"),
    "a missing key": (without("history"), "item 1: history: missing"),
    "a wrong type": (broken(snippet=None), "item 5: snippet: must be a text, not null"),
    "a wrong type of turns": (broken(history={}), "item 5: history: must be a list"),
    "a wrong turn": (broken(history=["Yes"]), "item 5: history[0]: must be an object, not a text"),
    "a turn without answer": (
        broken(history=[{"follow_up_question": OVER_60}]),
        "item 5: history[0].follow_up_answer: missing",
    ),
    "an invisible question": (broken(question="\u200b\u3000"), "item 5: question: empty"),
    "a key that stands twice": ('[{"answer": "Yes", "answer": "No"}]', "a key stands twice"),
    "an empty question": (broken(question=" "), "item 5: question: empty"),
    "an id that is none": (broken(utterance_id="12"), "item 5: utterance_id: not 40 hex digits"),
    "an unknown answer of a turn": (
        broken(history=[turn(OVER_60, "Maybe")]),
        "item 5: history[0].follow_up_answer: must be Yes or No, not “Maybe”",
    ),
    "an unknown answer": (broken(answer="MORE"), "item 5: answer: must be Yes, No, Irrelevant or"),
    "a history that contradicts itself": (
        broken(history=[turn(OVER_60, "Yes"), turn("are you over 60", "No")]),
        "item 5: history: answers both Yes and No",
    ),
    "two answers at one node": (
        [*bus_pass(), record("No", [turn(OVER_60, "Yes")])],
        "same history and different answers",
    ),
    "an orphan": (
        [*bus_pass(), record("No", [turn("Is it Monday?", "Yes")])],
        "whose last question is not the one asked there",
    ),
    "a parent that is missing": (
        [*bus_pass()[:2], *bus_pass()[3:]],
        "whose last question no plain utterance asks",
    ),
    "no root": (bus_pass()[1:], "No plain utterance has an empty history"),
    "one id, two contents": (
        [*bus_pass(), {**bus_pass()[0], "answer": "Are you over 70?"}],
        "stands here twice with two contents",
    ),
    "two rule texts of one tree": (
        [*bus_pass(), record("Yes", [turn(OVER_60, "Yes")], snippet="Other.")],
        "snippet: its utterances do not agree",
    ),
    "two questions of one tree": (
        [*bus_pass(), record("Yes", [turn(OVER_60, "Yes")], question="Who pays?")],
        "question: its utterances do not agree",
    ),
    "nested 100,000 deep": ("[" * 100_000 + "]" * 100_000, "item 1: nested too deep"),
    "nested 100,000 deep in a field": (
        json.dumps(bus_pass())[:-1] + ', {"history": ' + "[" * 100_000,
        "item 10: nested too deep",
    ),
    "a NUL byte": ('[{"utterance_id": "\x00"}]', "item 1: not JSON"),
    "an escaped NUL": (broken(scenario="a\x00b"), r"item 5: scenario: has a character that no"),
    "half a surrogate pair": (broken(scenario="\ud83d"), r"item 5: scenario: has a character"),
    "an endless source": (
        broken(source_url="https://a.example/" + "a" * 2000),
        "source_url: longer",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_in_one_line_and_nothing_is_written(tmp_path, name):
    """Case 37: where it is wrong."""
    content, said = BAD[name]
    path = tmp_path / "bad.json"
    if isinstance(content, list):
        content = json.dumps(content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(CommandError) as refusal:
        run(path)
    line = str(refusal.value)
    assert line.startswith("bad.json: ")
    assert said in line
    assert len(line.splitlines()) == 1
    assert counts() == [0] * len(TABLES)
    assert not Project.objects.exists()
    assert not Job.objects.exists()


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(CommandError, match=r"nowhere\.json: cannot be read: No such file"):
        run(tmp_path / "nowhere.json")


def test_a_list_of_negatives_that_is_none_is_refused(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("not an id\n")
    with pytest.raises(CommandError, match=r"list\.txt: id 1: not an utterance id"):
        run(write(tmp_path / "dev.json", bus_pass()), negative_scenarios=str(path))


def test_a_file_over_the_limit_is_refused(tmp_path, settings):
    settings.IMPORT_MAX_BYTES = 100
    with pytest.raises(CommandError, match="more than IMPORT_MAX_MEGABYTES allows"):
        run(write(tmp_path / "dev.json", bus_pass()))


def test_a_tree_that_is_here_with_another_text_is_refused(tmp_path):
    run(write(tmp_path / "dev.json", bus_pass()))
    changed = [{**one, "source_url": "https://trams.example/"} for one in bus_pass()]
    with pytest.raises(CommandError, match="is here already with another rule text, question or"):
        run(write(tmp_path / "changed.json", changed))


def test_a_document_of_another_split_is_refused_and_one_of_none_is_placed(tmp_path):
    run(write(tmp_path / "all.json", bus_pass()))
    assert Document.objects.get().split == ""
    run(write(tmp_path / "all.json", bus_pass()), split="train")
    assert Document.objects.get().split == "train"
    with pytest.raises(CommandError, match="is here already in the split train, not test"):
        run(write(tmp_path / "all.json", bus_pass()), split="test")


def test_an_utterance_that_is_here_in_another_tree_is_refused(tmp_path):
    run(write(tmp_path / "dev.json", bus_pass()))
    moved = [{**one, "tree_id": "b" * 40} for one in bus_pass()]
    with pytest.raises(CommandError, match="is here already in another tree"):
        run(write(tmp_path / "moved.json", moved))


def test_a_killed_write_leaves_nothing(tmp_path, monkeypatch):
    def fail(*args: Any, **kwargs: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("apps.exports.services.sharc_import.finish_job", fail)
    with pytest.raises(KeyboardInterrupt):
        run(write(tmp_path / "dev.json", bus_pass()))
    assert counts() == [0] * len(TABLES)
    assert not Project.objects.exists()


def test_nothing_is_odd_about_no_trees():
    assert find_oddities([]) == []
