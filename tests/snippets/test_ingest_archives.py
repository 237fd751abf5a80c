"""Zip archives: what is read of them, and what attacks come to."""

import json
import struct
import zipfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from apps.snippets.errors import DocumentRefusedError, IndexRefusedError
from apps.snippets.services.ingest import Details
from apps.snippets.services.ingest_files import Upload, incoming
from tests.snippets.archives import write_zip, zip_bytes

TEXT = b"You can apply."
OUT = "Its name leads out of the archive."


def read(path: Path, defaults: Details | None = None) -> dict[str, bytes | str]:
    """What is in the archive by name: the bytes, or why they are not read."""
    found: dict[str, bytes | str] = {}
    with ExitStack() as stack:
        for file in incoming([Upload("a.zip", path)], defaults or Details(), stack):
            try:
                found[file.name] = file.read()[0]
            except DocumentRefusedError as error:
                found[file.name] = str(error)
    return found


def details_in(path: Path, defaults: Details | None = None) -> list[Details]:
    with ExitStack() as stack:
        files = incoming([Upload("a.zip", path)], defaults or Details(), stack)
        return [file.details for file in files]


def test_each_file_is_read_and_what_systems_leave_behind_is_not(tmp_path):
    path = write_zip(
        tmp_path / "a.zip",
        {"rules/a.txt": TEXT, "b.md": TEXT, "empty/": b"", "__MACOSX/rules/._a.txt": b"x",
         ".DS_Store": b"x", "Thumbs.db": b"x"},
    )  # fmt: skip
    assert read(path) == {"a.zip/rules/a.txt": TEXT, "a.zip/b.md": TEXT}


def test_a_list_in_the_archive_says_where_its_files_come_from(tmp_path):
    index = [{"file": "a.txt", "source_url": "https://office.example/a"}, {"file": "gone.txt"}]
    path = write_zip(
        tmp_path / "a.zip",
        {"pages/a.txt": TEXT, "pages/b.txt": TEXT, "pages/index.json": json.dumps(index).encode()},
    )
    defaults = Details(source_url="https://office.example/of-one-file", licence="OGL")
    first, second, _ = details_in(path, defaults)
    assert first == Details(source_url="https://office.example/a", licence="OGL")
    assert second == Details(source_url="file:///b.txt", licence="OGL")
    assert read(path)["a.zip/pages/gone.txt"] == "It is in the list, but not there."


def test_a_broken_list_is_said_before_anything_is_loaded(tmp_path):
    path = write_zip(tmp_path / "a.zip", {"a.txt": TEXT, "index.json": b"[\n{]"})
    with pytest.raises(IndexRefusedError, match=r"^index.json: line 2 is not JSON: "):
        read(path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../../etc/passwd.txt", OUT),
        ("a/../../b.txt", OUT),
        ("/etc/passwd.txt", OUT),
        ("C:\\windows\\a.txt", OUT),
        ("..\\a.txt", OUT),
        ("inner.zip", "Archives inside archives are not opened."),
        ("inner.tar.gz", "Archives inside archives are not opened."),
        ("a.pdf", "Its name does not end in .html, .htm, .xhtml, .md, .markdown, .txt or .text."),
    ],
)
def test_a_file_that_must_not_be_read_is_listed_and_the_others_are_read(tmp_path, name, said):
    path = write_zip(tmp_path / "a.zip", {name: TEXT, "good.txt": TEXT})
    assert read(path) == {f"a.zip/{name}": said, "a.zip/good.txt": TEXT}


def test_an_encrypted_file_is_listed(tmp_path):
    data = bytearray(zip_bytes({"a.txt": TEXT}))
    central = data.rindex(b"PK\x01\x02")
    data[central + 8] |= 1
    (tmp_path / "a.zip").write_bytes(data)
    assert read(tmp_path / "a.zip") == {"a.zip/a.txt": "It is encrypted."}


def test_a_bomb_is_not_unpacked(tmp_path, settings):
    settings.DOCUMENT_MAX_BYTES = 1000
    path = write_zip(tmp_path / "a.zip", {"bomb.txt": b"\n" * 5_000_000, "good.txt": TEXT})
    found = read(path)
    assert str(found["a.zip/bomb.txt"]).startswith("It has 5,000,000 bytes; at most 1,000 are")
    assert found["a.zip/good.txt"] == TEXT


def test_a_bomb_that_lies_about_its_size_is_read_no_further_than_it_says(tmp_path, settings):
    settings.DOCUMENT_MAX_BYTES = 1000
    data = bytearray(zip_bytes({"bomb.txt": b"\n" * 5_000_000}))
    for begin, offset in ((data.index(b"PK\x03\x04"), 22), (data.rindex(b"PK\x01\x02"), 24)):
        data[begin + offset : begin + offset + 4] = struct.pack("<L", 900)
    (tmp_path / "a.zip").write_bytes(data)
    assert read(tmp_path / "a.zip") == {"a.zip/bomb.txt": "This part of the archive is broken."}


def test_all_files_together_have_a_limit(tmp_path, settings):
    settings.ARCHIVE_MAX_BYTES = 25
    path = write_zip(
        tmp_path / "a.zip", {"a.txt": b"x" * 10, "b.txt": b"x" * 16, "c.txt": b"x" * 15}
    )
    found = read(path)
    assert str(found["a.zip/b.txt"]).startswith("All files together have more than 25 bytes.")
    assert (found["a.zip/a.txt"], found["a.zip/c.txt"]) == (b"x" * 10, b"x" * 15)


def test_more_files_than_are_allowed_are_not_looked_at(tmp_path, settings):
    settings.ARCHIVE_MAX_FILES = 2
    path = write_zip(tmp_path / "a.zip", {f"{n}.txt": TEXT for n in range(3)})
    said = (
        "There are more than 2 files in it. Split it, or ask who runs the studio to raise "
        "ARCHIVE_MAX_FILES."
    )
    assert read(path) == {"a.zip": said}
    long_names = write_zip(tmp_path / "long.zip", {"x" * 3000 + ".txt": TEXT})
    assert read(long_names) == {"a.zip": said}


@pytest.mark.parametrize(
    "data",
    [b"", b"PK", b"no archive", b"PK\x05\x06", zip_bytes({"a.txt": TEXT})[:-30]],
    ids=["empty", "two letters", "text", "an end alone", "cut off"],
)
def test_what_is_no_archive_is_listed(tmp_path, data):
    (tmp_path / "a.zip").write_bytes(data)
    assert read(tmp_path / "a.zip") == {"a.zip": "It is no zip archive, or it is broken."}


def test_a_broken_part_does_not_stop_the_others(tmp_path):
    data = bytearray(zip_bytes({"a.txt": TEXT * 50, "b.txt": TEXT}, zipfile.ZIP_STORED))
    place = data.index(TEXT)
    data[place : place + 5] = b"XXXXX"
    (tmp_path / "a.zip").write_bytes(data)
    assert read(tmp_path / "a.zip") == {
        "a.zip/a.txt": "This part of the archive is broken.",
        "a.zip/b.txt": TEXT,
    }


def test_an_archive_that_is_gone_is_listed(tmp_path):
    assert read(tmp_path / "gone.zip") == {"a.zip": "It cannot be read: No such file or directory."}


def test_the_large_form_of_archives_is_not_read(tmp_path, settings):
    data = zip_bytes({"a.txt": TEXT})
    end = data.rindex(b"PK\x05\x06")
    (tmp_path / "a.zip").write_bytes(data[:end] + b"PK\x06\x07" + bytes(16) + data[end:])
    (said,) = read(tmp_path / "a.zip").values()
    assert str(said).startswith("There are more than 5,000 files in it.")
