"""Every format: what is written is read back, twice the same bytes, and faults are named."""

import tempfile
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.exports.formats.checks import FormatError
from apps.exports.formats.manifest import exports_by_files
from apps.exports.formats.registry import FORMATS
from apps.exports.formats.rows import Found, Options, UtteranceRow
from tests.exports.sources import ListSource, bus_source, sources, tree_row
from tests.strategies import full_tree

# What of an utterance a format carries; the others carry none of their own.
ALL = {field.name for field in fields(UtteranceRow)} - {"created_at", "as_imported"}
CARRIED = {
    "sharc": ALL,
    "or-sharc": ALL - {"kind"},
    "multiqa": ALL - {"kind"},
    "conversational-json": ALL - {"kind", "evidence"},
    "conversational-tfrecord": ALL - {"kind", "evidence"},
    "mnbvc-dialogue": ALL - {"kind"},
    "mnbvc-qa": ALL - {"kind"},
    "unitxt": ALL - {"kind", "evidence"},
    "huggingface": ALL,
    "csv": ALL,
}


def write(name: str, source: ListSource, folder: Path, **options) -> Path:
    target = folder / name
    target.mkdir(parents=True)
    FORMATS[name].write(source, target, Options(**options))
    return target


def read(name: str, folder: Path) -> list[Found]:
    return list(FORMATS[name].read(folder))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*")) if path.is_file()
    }  # fmt: skip


def as_carried(row: UtteranceRow, name: str) -> UtteranceRow:
    kept = {field: getattr(row, field) for field in CARRIED[name]}
    return UtteranceRow(**kept)


def expected_rows(name: str, source: ListSource) -> dict[str, set[UtteranceRow]]:
    return {
        split: {
            as_carried(row, name) for row in source.utterances(split)
            if name != "or-sharc" or row.answer != "Irrelevant"
        }
        for split in source.splits
    }  # fmt: skip


def rows_found(name: str, found: list[Found], source: ListSource) -> dict[str, set[UtteranceRow]]:
    rows: dict[str, set[UtteranceRow]] = {split: set() for split in source.splits}
    for one in found:
        rows[one.split] |= {as_carried(row, name) for row in one.utterances}
    return rows


@pytest.mark.parametrize("name", CARRIED)
@given(source=sources(), shards=st.integers(1, 3))
@settings(max_examples=20)
def test_utterances_come_back(name, source, shards):
    with tempfile.TemporaryDirectory() as folder:
        found = read(name, write(name, source, Path(folder), shards=shards))
    assert rows_found(name, found, source) == expected_rows(name, source)


@given(source=sources())
@settings(max_examples=20)
def test_trees_come_back(source):
    expected = {
        tree.tree_id: (tree.source_url, tree.snippet, tree.question, tree.nodes)
        for split in source.splits for tree in source.trees(split)
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        forum = trees_found("mnbvc-forum", source, Path(folder))
        parquet = trees_found("huggingface", source, Path(folder))
    assert parquet == expected
    assert forum == {
        tree_id: (*parts, tuple(replace(node, span_start=None, span_end=None) for node in nodes))
        for tree_id, (*parts, nodes) in expected.items()
    }


def trees_found(name: str, source: ListSource, folder: Path) -> dict[str, tuple]:
    found = [tree for one in read(name, write(name, source, folder)) for tree in one.trees]
    return {
        tree.tree_id: (tree.source_url, tree.snippet, tree.question, tree.nodes) for tree in found
    }


@given(source=sources())
@settings(max_examples=20)
def test_the_lines_of_rule_texts_come_back(source):
    with tempfile.TemporaryDirectory() as folder:
        found = read("mnbvc-text", write("mnbvc-text", source, Path(folder)))
    lines = [
        [line for text in document.snippets for line in text.split("\n") if line.strip()]
        for split in source.splits for document in source.documents(split)
    ]  # fmt: skip
    assert [[part["内容"] for part in one.value["段落"]] for one in found] == lines


@pytest.mark.parametrize("name", FORMATS)
@given(source=sources(), seed=st.integers(0, 3))
@settings(max_examples=5)
def test_the_same_source_gives_the_same_bytes(name, source, seed):
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        first = contents(write(name, source, Path(one), seed=seed, shards=2))
        assert first == contents(write(name, source, Path(two), seed=seed, shards=2))


@pytest.mark.parametrize("name", FORMATS)
def test_a_rule_text_of_100_kilobytes_comes_back(name, tmp_path):
    long = "# Rule\n\n" + "It is not allowed, “unless” it is. 🚌\n" * 2500
    assert len(long.encode()) > 100_000
    tree = tree_row(full_tree(3), snippet=long, question="May I?", url="https://a.example/x")
    source = ListSource({"train": [tree]})
    found = read(name, write(name, source, tmp_path))
    if name in CARRIED:
        assert rows_found(name, found, source) == expected_rows(name, source)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_known_by_its_files(name, tmp_path):
    folder = write(name, bus_source(), tmp_path)
    assert [one.format for one in exports_by_files(folder)] == [name]
    assert [one.folder for one in exports_by_files(tmp_path)] == [name]


@pytest.mark.parametrize("name", FORMATS)
def test_a_split_without_utterances_is_written_and_read(name, tmp_path):
    source = replace(bus_source(), splits=("dev", "test"))
    if name == "sharc":  # an empty array is no file of utterances: its import says so, too
        with pytest.raises(FormatError, match=r"sharc_test\.json: the file holds no utterances"):
            read(name, write(name, source, tmp_path))
    else:
        assert {one.split for one in read(name, write(name, source, tmp_path))} == {"dev"}


@pytest.mark.parametrize("name", FORMATS)
def test_an_empty_folder_is_refused(name, tmp_path):
    with pytest.raises(FormatError):
        read(name, tmp_path)


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_that_is_cut_off_anywhere_is_refused(name, tmp_path):
    """At a line's end, a JSON Lines file is whole again: its manifest tells that."""
    folder = write(name, bus_source(), tmp_path)
    whole = read(name, folder)
    for path in [path for path in folder.rglob("*") if path.is_file() and not is_of_the_card(path)]:
        data = path.read_bytes()
        for cut in {1, len(data) // 3, len(data) // 2, len(data) - 2}:
            if cut < len(data):
                path.write_bytes(data[:cut])
                assert is_refused(name, folder) or len(read(name, folder)) < len(whole), (path, cut)
        path.write_bytes(data)
    assert read(name, folder) == whole


def is_of_the_card(path: Path) -> bool:
    """For people: what stands there, no reader needs, and the manifest guards."""
    return path.suffix in (".md", ".svg") or path.name == "SOURCES.csv"


def is_refused(name: str, folder: Path) -> bool:
    try:
        read(name, folder)
    except FormatError as error:
        return "\n" not in str(error)
    return False


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
@settings(max_examples=20)
def test_no_damage_breaks_a_reader_in_any_other_way(name, data):
    with tempfile.TemporaryDirectory() as folder:
        target = write(name, bus_source(), Path(folder))
        paths = sorted(path for path in target.rglob("*") if path.is_file())
        path = data.draw(st.sampled_from(paths))
        content = bytearray(path.read_bytes())
        at = data.draw(st.integers(0, max(0, len(content) - 1)))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
        path.write_bytes(content)
        is_refused(name, target)
