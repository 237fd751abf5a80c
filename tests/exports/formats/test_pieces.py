"""An export in pieces is the same export."""

from pathlib import Path

import pytest

from apps.exports.formats.pieces import MOST_PIECES, Piece, pieces
from apps.exports.formats.registry import FORMATS, IN_FILES
from apps.exports.formats.rows import Cut, Options
from tests.exports.sources import bus_source


def written(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("options", [Options(shards=3), Options(shards=2, split_by_hash=True)])
@pytest.mark.parametrize("name", FORMATS)
def test_all_pieces_of_a_format_are_what_it_writes_at_once(name, options, tmp_path):
    (tree,) = bus_source().stored["dev"]
    source = bus_source(stored={"train": [tree], "dev": [tree]})
    (tmp_path / "whole").mkdir()
    (tmp_path / "pieces").mkdir()
    FORMATS[name].write(source, tmp_path / "whole", options)
    for piece in pieces([name], source, options):
        before = written(tmp_path / "pieces")
        piece.write(source, tmp_path / "pieces", options)
        after = written(tmp_path / "pieces")
        assert before.items() <= after.items()  # nobody writes over another's files
        assert len(after) > len(before)
    assert written(tmp_path / "pieces") == written(tmp_path / "whole")


def test_what_is_cut_by_file_can_be_written_so():
    assert {name for name, one in FORMATS.items() if one.CUT is Cut.BY_FILE} == set(IN_FILES)


def test_the_longest_pieces_come_first():
    source = bus_source()
    found = pieces(["csv", "conversational-json"], source, Options(shards=2))
    assert found == [
        Piece("csv", "dev"),
        Piece("conversational-json", "dev", 0, 1),
        Piece("conversational-json", "dev", 1, 2),
    ]
    assert [piece.size(source, Options(shards=2)) for piece in found] == [16, 8, 8]
    assert [piece.name for piece in [*found[:1], Piece("sharc")]] == ["csv, dev", "sharc"]


def test_hundreds_of_files_are_written_some_at_a_time():
    found = pieces(["conversational-json"], bus_source(), Options(shards=100))
    assert len(found) <= MOST_PIECES
    assert [number for piece in found for number in range(piece.first, piece.end)] == [*range(100)]
