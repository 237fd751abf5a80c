"""Where an export's files go, when something else is there already."""

import os

import pytest

from apps.exports.errors import ExportRefusedError
from apps.exports.formats.manifest import as_text, describe, list_files
from apps.exports.services.exporting import Wanted
from apps.exports.services.placing import place
from apps.projects.models import Split

pytestmark = pytest.mark.once


@pytest.fixture
def source(tmp_path):
    """A small export of one format, finished."""
    folder = tmp_path / "aside"
    for name in ("README.md", "plots/labels.svg", "utterances_dev.csv"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{name}, exported")
    parameters = Wanted(["csv"], [Split.DEV]).parameters
    entry = describe(
        "csv", "", parameters=parameters, state="0" * 64, counts={}, files=list_files(folder)
    )
    (folder / "MANIFEST.json").write_text(as_text("buses", "1.0.0", [entry]))
    return folder


def state(folder) -> dict[str, str | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_text() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("name", ["README.md", "utterances_dev.csv", "plots", "plots/labels.svg"])
def test_what_is_nobodys_export_stays_and_nothing_is_half_written(source, tmp_path, name):
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    (out / name).write_text("mine")
    before = state(out)
    with pytest.raises(ExportRefusedError, match=f"/out/{name}: is .*; choose another folder"):
        place(source, out)
    assert state(out) == before


def test_a_folder_in_place_of_a_file_or_one_that_leads_away_is_refused(source, tmp_path):
    (tmp_path / "out" / "README.md").mkdir(parents=True)
    with pytest.raises(ExportRefusedError, match=r"README\.md: is there already"):
        place(source, tmp_path / "out")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "plots").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ExportRefusedError, match="plots: is no folder in"):
        place(source, tmp_path / "second")
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("closed", ["", "plots"])
def test_a_folder_that_lets_nothing_in_is_named_before_a_file_moves(
    source, tmp_path, closed, monkeypatch
):
    (tmp_path / "out" / "plots").mkdir(parents=True)
    shut = tmp_path / "out" / closed
    monkeypatch.setattr(os, "access", lambda path, mode: path != shut)  # root may write anywhere
    with pytest.raises(ExportRefusedError, match=f"{shut}: cannot be written"):
        place(source, tmp_path / "out")
    assert state(tmp_path / "out") == {"plots": None}


def test_what_a_killed_export_has_moved_is_no_hindrance(source, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "README.md").write_text("README.md, exported")
    expected = state(source)
    place(source, tmp_path / "out")
    assert state(tmp_path / "out") == expected


def test_a_link_to_nothing_is_no_place(source, tmp_path):
    (tmp_path / "out").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ExportRefusedError, match="/out: is no folder"):
        place(source, tmp_path / "out")
