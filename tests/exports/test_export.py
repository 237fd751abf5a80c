"""Exports of what is in the database: every format, and where its files go."""

import json
import os
import re
import shutil
import zipfile
from collections import Counter
from io import StringIO
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.exports.errors import ExportRefusedError
from apps.exports.formats.registry import FORMATS
from apps.exports.formats.rows import Options
from apps.exports.services.evaluating import evaluate_responses
from apps.exports.services.export_jobs import run_export
from apps.exports.services.exporting import Wanted, export_here, queue_export
from apps.projects.models import Job, Project, Role, Split
from apps.projects.services.jobs import claim_job
from apps.scenarios.models import Utterance
from apps.snippets.models import Document
from apps.trees.domain.tree import Answer, FinalAnswer, Question
from tests.exports.formats.test_round_trips import CARRIED, as_carried, expected_rows
from tests.exports.frozen import frozen
from tests.exports.records import bus_pass, write
from tests.exports.sources import ListSource
from tests.factories import make_member, make_project, make_tree, make_user, make_utterance

pytestmark = pytest.mark.django_db

EVERY = list(FORMATS)
PLOTS = ("depths", "labels", "questions", "scenarios")
CARD = {"README.md", "SOURCES.csv", *(f"plots/{name}.svg" for name in PLOTS)}
CARDS = {name: {f"{name}/{path}" for path in CARD} for name in EVERY}


def quietly(step: str, done: int, total: int) -> None:
    assert 0 <= done <= max(total, done)


def command(name: str, *arguments: object) -> tuple[str, str]:
    out, notes = StringIO(), StringIO()
    call_command(name, *map(str, arguments), stdout=out, stderr=notes)
    return out.getvalue(), notes.getvalue()


@pytest.fixture
def buses(tmp_path) -> Project:
    """Nine imported utterances of one tree, in dev."""
    command("import_sharc", write(tmp_path / "sharc_dev.json", bus_pass()), "--project=buses")
    return Project.objects.get(slug="buses")


@pytest.fixture
def exported(buses, tmp_path):
    """The folder of an export of the nine in this format."""

    def export(name: str, *more: object, folder: str = ""):
        target = tmp_path / (folder or name)
        command("export", "--project=buses", f"--format={name}", f"--out={target}", *more)
        return target

    return export


def files(folder) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*")) if path.is_file()
    }  # fmt: skip


def as_list_source(project: Project) -> ListSource:
    with frozen(project, list(Split)) as source:
        splits = [split for split in source.splits if source.count(split)]
        stored = {split: list(source.trees(split)) for split in splits}
    return ListSource(stored, name=project.slug, title=project.name)


def compare_with_what_is_read(project: Project, folder) -> None:
    """Each format under `folder` against the database."""
    source = as_list_source(project)
    for name in CARRIED:
        rows: dict[str, set] = {split: set() for split in source.splits}
        for found in FORMATS[name].read(folder / name):
            rows[found.split] |= {as_carried(row, name) for row in found.utterances}
        assert rows == expected_rows(name, source), name
    for name in ("mnbvc-forum", "huggingface"):
        trees = [tree for one in FORMATS[name].read(folder / name) for tree in one.trees]
        assert len(trees) == sum(len(trees) for trees in source.stored.values())


def test_the_demo_project_comes_back_in_every_format(tmp_path):
    """Case 30: no row is lost, and none is there twice."""
    command("load_demo")
    project = Project.objects.get(slug="demo")
    export_here(
        project, formats=EVERY, splits=[], out=tmp_path / "all", progress=quietly,
        allow_unverified=True, options=Options(shards=2, seed=3),
    )  # fmt: skip
    said, _ = command("check_export", tmp_path / "all")
    assert [line for line in said.splitlines() if line.endswith(": valid")] == [
        f"{name}: valid" for name in EVERY
    ]
    compare_with_what_is_read(project, tmp_path / "all")


def compare_responses(project: Project, folder) -> None:
    """Published figures: 28.8 % (TF-IDF) and 27.4 % (BM25), in other batches of 100."""
    options = Options(only_follow_ups=True, fold_context=True)
    export_here(project, formats=["conversational-json"], splits=[], out=folder / "folded",
                progress=quietly, options=options)  # fmt: skip
    measured = evaluate_responses(folder / "folded", seed=0)["dev"]
    assert measured == {"TF-IDF": pytest.approx(0.288, abs=0.03),
                        "BM25": pytest.approx(0.274, abs=0.03)}  # fmt: skip


def test_the_sharc_dev_set_comes_back_in_every_format(sharc_dev, tmp_path):
    lists = [
        f"--negative-{kind}s={sharc_dev / f'sharc_negative_{kind}_utterance_ids.txt'}"
        for kind in ("question", "scenario")
    ]
    command("import_sharc", sharc_dev / "sharc_dev.json", "--project=dev", *lists)
    project = Project.objects.get(slug="dev")
    export_here(project, formats=EVERY, splits=[], out=tmp_path / "all", progress=quietly)
    said, _ = command("check_export", tmp_path / "all")
    everything = "2,270 utterances (138 irrelevant, 562 more, 766 no, 804 yes)"
    assert said.count(f": dev: {everything}") == 9
    assert "or-sharc: dev: 2,132 utterances (562 more, 766 no, 804 yes)" in said
    compare_with_what_is_read(project, tmp_path / "all")
    compare_responses(project, tmp_path)
    for entry in json.loads((tmp_path / "all" / "MANIFEST.json").read_text())["exports"]:
        assert sum(entry["release"]["imported_findings"].values()) == 19
    given = (tmp_path / "all" / "sharc" / "dev" / "json" / "sharc_dev.json").read_bytes()
    assert given == (sharc_dev / "sharc_dev.json").read_bytes()


@pytest.mark.parametrize("name", EVERY)
def test_an_export_is_checked_and_inspected(exported, name):
    folder = exported(name)
    assert command("check_export", folder)[0].endswith(f"{name}: valid\n")
    shown, _ = command("inspect_export", folder, "--number", 1)
    assert "example 1: " in shown
    # Of the documents' lines, MNBVC's general text has no question.
    assert "Can I get a pass?" in shown or "bees" in shown or name == "mnbvc-text"
    assert command("inspect_export", folder, "--random", 5) == command(
        "inspect_export", folder, "--random", 5
    )


def test_an_example_that_is_not_there_is_refused(exported):
    with pytest.raises(CommandError, match="--number 99: csv has 9 examples"):
        command("inspect_export", exported("csv"), "--number", 99)


@pytest.mark.parametrize("name", EVERY)
def test_the_same_state_gives_the_same_files_whenever_and_wherever(exported, name):
    assert files(exported(name, folder="one")) == files(exported(name, folder="two"))


def test_the_manifest_says_what_is_there(exported):
    manifest = json.loads((exported("csv", "--seed", 7) / "MANIFEST.json").read_text())
    (entry,) = manifest["exports"]
    *_, file = entry.pop("files")
    assert len(entry.pop("state")) == 64
    assert manifest["project"] == "buses"
    assert manifest["software"] == {"name": "sharc_studio", "version": "0.1.0"}
    assert (file["path"], len(file["sha256"])) == ("utterances_dev.csv", 64)
    assert entry == {
        "format": "csv",
        "folder": "",
        "parameters": {
            "splits": ["dev"], "seed": 7, "shards": 1, "anonymise": False,
            "byte_order_mark": False, "min_length": None, "max_length": None,
            "only_follow_ups": False, "fold_context": False, "split_by_hash": False,
            "allow_unverified": False,
        },
        "counts": {"dev": {"irrelevant": 1, "more": 3, "no": 1, "yes": 4}},
        "licences": {"": 1},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "option", "counts"),
    [
        ("conversational-json", "--only-follow-ups", {"dev": {"more": 3}}),
        ("conversational-json", "--max-length=12", None),
        ("conversational-tfrecord", "--split-by-hash", None),
        ("or-sharc", "--shards=1", {"dev": {"more": 3, "no": 1, "yes": 4}}),
    ],
)
def test_what_is_said_of_an_export_is_what_was_written(exported, tmp_path, name, option, counts):
    folder = exported(name, option)
    said, _ = command("export", "--project=buses", f"--format={name}", f"--out={folder}", option)
    (entry,) = json.loads((folder / "MANIFEST.json").read_text())["exports"]
    found: dict[str, Counter] = {}
    for one in FORMATS[name].read(folder):
        found.setdefault(one.split, Counter()).update(row.answer_class for row in one.utterances)
    assert {split: some for split, some in entry["counts"].items() if some} == found
    assert counts is None or entry["counts"] == counts
    card = (folder / "README.md").read_text()
    sources = (folder / "SOURCES.csv").read_text()
    for split, classes in found.items():
        assert re.search(rf"\| {split} \|.* {classes.total()} \|\n", card)
        assert f"{split}: {classes.total()} utterances (" in said
        assert f"\n{split}," in sources
    command("check_export", folder)


@pytest.mark.parametrize("name", EVERY)
def test_a_file_that_was_changed_or_is_missing_is_named(exported, name):
    folder = exported(name)
    paths = [path for path in files(folder) if path != "MANIFEST.json"]
    for path in paths:
        before = (folder / path).read_bytes()
        (folder / path).write_bytes(before + b"\n")
        with pytest.raises(CommandError, match=re.escape(path)):
            command("check_export", folder)
        (folder / path).unlink()
        with pytest.raises(CommandError):
            command("check_export", folder)
        (folder / path).write_bytes(before)
    command("check_export", folder)


def test_a_fault_is_named_with_file_line_and_field(exported):
    folder = exported("unitxt")
    path = folder / "dev.jsonl"
    lines = path.read_text("utf-8").splitlines()
    lines[3] = lines[3].replace('"answer_class": "', '"answer_class": "perhaps ')
    path.write_text("\n".join(lines) + "\n", "utf-8")
    with pytest.raises(CommandError) as refusal:
        command("check_export", folder)
    assert str(refusal.value).startswith("dev.jsonl: line 4: answer_class: must be “yes” or “no”")
    (folder / "MANIFEST.json").unlink()
    with pytest.raises(CommandError, match=r"dev\.jsonl: line 4: answer_class"):
        command("check_export", folder)


def manifest_of(folder) -> Any:
    return json.loads((folder / "MANIFEST.json").read_text())


def edit(folder, change) -> None:
    manifest = manifest_of(folder)
    change(manifest["exports"], manifest["exports"][0])
    (folder / "MANIFEST.json").write_text(json.dumps(manifest))


EDITS = {
    "a count": lambda _, one: one["counts"]["dev"].update(yes=1),
    "no counts": lambda _, one: one["counts"].clear(),
    "a split more": lambda _, one: one["counts"].update(train={"yes": 1}),
    "an empty split more": lambda _, one: one["counts"].update(train={}),
    "other splits": lambda _, one: one["parameters"].update(splits=["train"]),
    "no files": lambda _, one: one["files"].clear(),
    "an entry twice": lambda exports, one: exports.append(one),
    "a file twice": lambda _, one: one["files"].append(one["files"][0]),
    "another folder": lambda _, one: one.update(folder="multiqa"),
}


@pytest.mark.once
def test_files_are_held_against_what_the_manifest_says(exported):
    """In every format: whatever is changed in it, and whichever file is no longer listed."""
    for name in ("sharc", "or-sharc", "mnbvc-text", "conversational-json", "unitxt"):
        folder = exported(name, *["--fold-context"] * (name == "conversational-json"))
        command("check_export", folder)
        before = (folder / "MANIFEST.json").read_text()
        for what, change in EDITS.items():
            if (name, what) == ("mnbvc-text", "a count"):
                continue  # it has no utterances
            edit(folder, change)
            with pytest.raises(CommandError) as refusal:
                command("check_export", folder)
            assert gettempdir() not in str(refusal.value), (name, what)
            (folder / "MANIFEST.json").write_text(before)
        for number in range(len(manifest_of(folder)["exports"][0]["files"])):
            edit(folder, lambda _, one, number=number: one["files"].pop(number))
            with pytest.raises(CommandError):
                command("check_export", folder)
            (folder / "MANIFEST.json").write_text(before)


@pytest.mark.once
def test_no_tree_is_in_two_splits_and_no_file_is_there_unlisted(exported):
    folder = exported("sharc")
    (folder / "notes.txt").write_text("mine")
    command("check_export", folder)
    data = folder / "buses" / "json" / "sharc_dev.json"
    data.with_name("sharc_train.json").write_bytes(data.read_bytes())
    with pytest.raises(CommandError, match=r"sharc_train\.json: is there, and MANIFEST\.json does"):
        command("check_export", folder)
    (folder / "MANIFEST.json").unlink()
    with pytest.raises(CommandError, match=r"tree_id: .* is in train and in dev"):
        command("check_export", folder)
    shutil.copytree(folder / "buses", folder / "trams")
    with pytest.raises(CommandError, match="trams: is there beside buses"):
        command("check_export", folder)


@pytest.mark.once
@pytest.mark.parametrize("name", ["conversational-tfrecord", "mnbvc-qa", "or-sharc"])
def test_an_empty_file_is_no_export(exported, name):
    folder = exported(name)
    (folder / "MANIFEST.json").unlink()
    command("check_export", folder)
    (data,) = (path for path in folder.iterdir() if "dev" in path.name and path.suffix != ".md")
    data.with_name(data.name.replace("dev", "train")).write_text("")
    with pytest.raises(CommandError, match=r"train.*: empty, and no MANIFEST"):
        command("check_export", folder)
    data.write_text("")
    with pytest.raises(CommandError, match="holds nothing"):
        command("check_export", folder)


@pytest.mark.parametrize("text", ["{", "[]", '{"project": "x"}', '{"exports": [{"files": 3}]}'])
def test_a_manifest_that_is_none_is_refused(exported, text):
    folder = exported("csv")
    (folder / "MANIFEST.json").write_text(text)
    with pytest.raises(CommandError, match=r"MANIFEST\.json: "):
        command("check_export", folder)
    with pytest.raises(CommandError, match="choose another folder"):
        exported("csv")


def test_a_folder_without_an_export_is_refused(tmp_path):
    with pytest.raises(CommandError, match="holds no export of ours"):
        command("check_export", tmp_path)
    with pytest.raises(CommandError, match="there is no such folder"):
        command("check_export", tmp_path / "nowhere")


def test_an_export_replaces_the_one_of_the_same_format_and_nothing_else(exported, buses):
    folder = exported("conversational-json", "--shards", 3)
    (folder / "notes.txt").write_text("mine")
    exported("csv", folder="conversational-json")
    exported("conversational-json", "--shards", 1)
    assert sorted(set(files(folder)) - CARD) == [
        "MANIFEST.json", "dev-00000-of-00001.json", "notes.txt", "utterances_dev.csv",
    ]  # fmt: skip
    assert command("check_export", folder)[0].count(": valid") == 2


@pytest.mark.parametrize("order", [("csv", "huggingface"), ("huggingface", "csv")])
def test_formats_in_one_folder_share_the_card_that_readers_need(exported, order):
    for name in order:
        folder = exported(name, folder="one")
    assert set(files(folder)) >= CARD | {"croissant.json", "utterances_dev.csv"}
    assert "config_name: utterances" in (folder / "README.md").read_text()
    assert command("check_export", folder)[0].count(": valid") == 2
    exported("unitxt", folder="one")
    exported("csv", folder="one")
    assert command("check_export", folder)[0].count(": valid") == 3


def test_the_card_of_the_last_format_is_the_card_of_a_folder(exported):
    exported("csv", folder="one")
    folder = exported("unitxt", folder="one")
    assert "This folder: unitxt" in (folder / "README.md").read_text()
    assert command("check_export", folder)[0].count(": valid") == 2


def test_an_export_does_not_take_the_files_of_another_format(exported):
    folder = exported("unitxt")
    (folder / "MANIFEST.json").write_text(
        (folder / "MANIFEST.json").read_text().replace('"dev.jsonl"', '"utterances_dev.csv"')
    )
    before = files(folder)
    with pytest.raises(CommandError, match="belongs to the unitxt export there"):
        exported("csv", folder="unitxt")
    assert files(folder) == before


def test_an_export_that_fails_leaves_nothing_behind(buses, tmp_path, monkeypatch):
    def stop(step: str, done: int, total: int) -> None:
        if "multiqa" in step:
            raise ExportRefusedError("stopped")

    for out in (tmp_path / "new", tmp_path / "there"):
        (tmp_path / "there").mkdir(exist_ok=True)
        with pytest.raises(ExportRefusedError):
            export_here(buses, formats=["csv", "multiqa"], splits=[], out=out, progress=stop)
    assert not (tmp_path / "new").exists()
    assert list((tmp_path / "there").iterdir()) == []
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_what_a_killed_export_left_is_removed_by_the_next_one(exported, tmp_path):
    for name in (".partial-999999999-x", f".partial-{os.getpid()}-x", ".partial-mine"):
        (tmp_path / name / "export").mkdir(parents=True)
    exported("csv")
    left = sorted(path.name for path in tmp_path.glob(".partial-*"))
    assert left == sorted([f".partial-{os.getpid()}-x", ".partial-mine"])
    (tmp_path / ".partial-999999999-x").mkdir()  # killed as soon as the new folder was there
    exported("csv")
    assert not (tmp_path / ".partial-999999999-x").exists()


def test_a_folder_that_cannot_be_written_is_named(buses, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportRefusedError, match="/file: cannot be written"):
        export_here(buses, splits=[], out=tmp_path / "file" / "out", progress=quietly)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ExportRefusedError, match="/link: cannot be written: it is no folder"):
        export_here(buses, splits=[], out=tmp_path / "link", progress=quietly)
    with pytest.raises(ExportRefusedError, match=r"^/proc/x: cannot be written"):
        export_here(buses, splits=[], out=Path("/proc/x"), progress=quietly)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format=sharc", "--project=trams"], "--project trams: there is no such project"),
        (["--format=csv", "--splits", "test"], "buses: the split test has no utterances"),
        (["--format=csv", "--shards", "0"], "a whole number from 1 to 400"),
        (["--format=csv", "--seed", "-1"], "a whole number from 0 on"),
        (["--format=excel"], "invalid choice: 'excel'"),
        (
            ["--format=conversational-json", "--min-length=100", "--max-length=5"],
            "--min-length 100 is over --max-length 5",
        ),
        (
            ["--format=conversational-json", "--min-length=999"],
            "conversational-json would hold nothing: the format and the options leave out all 9 ",
        ),
    ],
)
def test_what_cannot_be_exported_is_refused_in_one_line(buses, tmp_path, arguments, said):
    with pytest.raises(CommandError, match=re.escape(said)):
        command("export", "--project=buses", f"--out={tmp_path / 'out'}", *arguments)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", EVERY)
def test_case_36_no_export_names_a_person(buses, exported, name):
    worker = make_user("wanda.worker", email="wanda@mail.example", first_name="Wanda",
                       last_name="Workowska")  # fmt: skip
    Utterance.objects.update(created_by=worker)
    Document.objects.update(created_by=worker)
    record = bus_pass()[0]
    Utterance.objects.filter(utterance_id=record["utterance_id"]).update(
        as_imported=json.dumps({**record, "worker": "A1WANDAXYZ", "by": worker.email})
    )
    content = b"".join(files(exported(name, "--anonymise")).values())
    for identity in ("wanda", "Workowska", "A1WANDAXYZ", "mail.example"):
        assert identity.lower().encode() not in content.lower()


def test_only_an_anonymised_export_leaves_out_what_sharc_does_not_have(exported):
    record = {**bus_pass()[0], "worker": "A1"}
    Utterance.objects.filter(utterance_id=record["utterance_id"]).update(
        as_imported=json.dumps(record)
    )
    path = "buses/json/sharc_dev.json"
    assert b'"worker": "A1"' in files(exported("sharc"))[path]
    assert b'"worker"' not in files(exported("sharc", "--anonymise", folder="two"))[path]


def test_the_rows_are_those_that_the_file_had(exported):
    written = json.loads(files(exported("sharc"))["buses/json/sharc_dev.json"])
    assert written == sorted(bus_pass(), key=lambda one: one["utterance_id"])


def grown(project: Project, number: int) -> None:
    shape = Question(f"Is it {number}?", FinalAnswer(Answer.YES), FinalAnswer(Answer.NO))
    tree = make_tree(project, shape)
    make_utterance(tree, f"Is it {number}?", job=project.jobs.get_or_create(kind="x")[0])


@pytest.mark.parametrize("name", EVERY)
def test_more_rows_need_no_more_queries(name, tmp_path):
    counts = []
    for number in (1, 3):
        project = make_project(f"buses-{number}")
        for one in range(number):
            grown(project, one)
        with CaptureQueriesContext(connection, ) as queries:  # fmt: skip
            export_here(project, formats=[name], splits=[Split.DEV], progress=quietly,
                        out=tmp_path / str(number))  # fmt: skip
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_what_no_expert_has_verified_goes_out_of_train_only(tmp_path):
    project = make_project("buses")
    for split in Split:
        tree = make_tree(project, FinalAnswer(Answer.YES))
        Document.objects.filter(snippets__questions__tree=tree).update(split=split)
        make_utterance(tree)
        make_utterance(tree, verified_at=project.created_at, verified_by=make_user(),
                       state=Utterance.State.ACCEPTED)  # fmt: skip
        make_utterance(tree, verified_at=project.created_at, verified_by=make_user(),
                       state=Utterance.State.DROPPED, dropped_reason="It is wrong.")  # fmt: skip
        make_utterance(tree, state=Utterance.State.TAKEN_OUT)
    arguments = ["--project=buses", "--format=csv"]
    said, notes = command("export", *arguments, f"--out={tmp_path / 'strict'}")
    assert said == (
        "train: 2 utterances (2 yes)\ndev: 1 utterances (1 yes)\ntest: 1 utterances (1 yes)\n"
    )
    assert (
        "note: 1 utterance of dev was left out: no expert has verified that; --allow-unverified"
        in notes
    )
    assert command("check_export", tmp_path / "strict")[0].count("1 in utterances_") == 2
    _, notes = command("export", *arguments, "--splits", "train", f"--out={tmp_path / 'train'}")
    for other in ("dev", "test"):
        assert f"note: 2 utterances of {other} were left out: the split was not asked for" in notes
    said, notes = command("export", *arguments, "--allow-unverified", f"--out={tmp_path / 'all'}")
    assert said.count("2 utterances (2 yes)") == 3
    assert "left out" not in notes
    cards = [(tmp_path / name / "README.md").read_text() for name in ("strict", "all")]
    assert "No expert has verified 2 of the 4 utterances of dev and test" in cards[1]
    assert "No expert" not in cards[0]


def test_a_split_that_is_only_unverified_is_refused_with_what_to_do(tmp_path):
    project = make_project("buses")
    make_utterance(make_tree(project, FinalAnswer(Answer.YES)))
    for splits in ([Split.DEV], []):
        with pytest.raises(ExportRefusedError, match=r"no expert has verified \(1\); verify them"):
            export_here(project, splits=splits, out=tmp_path / "out", progress=quietly)


def test_a_job_writes_a_zip_with_a_folder_for_each_format(buses, settings):
    author = make_member(buses, Role.ADMIN)
    wanted = Wanted(["csv", "unitxt"], [Split.DEV], Options(seed=4), allow_unverified=True)
    job = queue_export(buses, wanted, author=author)
    run_export(claim_job(job.pk) or job)
    job = Job.objects.get(pk=job.pk)
    assert job.state == Job.State.DONE
    with zipfile.ZipFile(settings.MEDIA_ROOT / job.result) as archive:
        assert archive.namelist() == [
            "MANIFEST.json", *sorted([*CARDS["csv"], "csv/utterances_dev.csv"]),
            *sorted([*CARDS["unitxt"], "unitxt/cards/buses.json", "unitxt/dev.jsonl",
                     "unitxt/tasks/buses.json", "unitxt/templates/buses.json"]),
        ]  # fmt: skip
        archive.extractall(settings.MEDIA_ROOT / "unpacked")
    said, _ = command("check_export", settings.MEDIA_ROOT / "unpacked")
    assert said.count(": valid\n") == 2
    assert "csv: 9 in csv/utterances_dev.csv" in said
