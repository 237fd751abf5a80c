"""Where finished exports are kept: in parts, over a real connection, and after a worker's death."""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest

from apps.exports.errors import ExportStorageError
from apps.exports.storage import S3Storage, storage_of
from tests.exports.s3_server import Bucket, running_s3

pytestmark = pytest.mark.once

PART = 1000
NAME = "exports/7/buses.zip"


@pytest.fixture
def bucket(monkeypatch) -> Iterator[Bucket]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "made-up")
    with running_s3() as bucket:
        yield bucket


@pytest.fixture
def export(tmp_path) -> tuple[Path, Path]:
    """A folder with two files, and a zip file of five parts."""
    folder, archive = tmp_path / "ready", tmp_path / "ready.zip"
    (folder / "csv").mkdir(parents=True)
    (folder / "csv" / "utterances_dev.csv").write_text("id")
    (folder / "MANIFEST.json").write_text("{}")
    archive.write_bytes(b"".join(bytes([number]) * PART for number in range(4)) + b"end")
    return folder, archive


def keep(address: str, export: tuple[Path, Path]) -> int:
    """Returns how many bytes it said that it kept."""
    told: list[int] = []
    S3Storage("studio", address, PART).keep_export(*export, NAME, told.append)
    return sum(told)


def test_all_files_are_in_the_bucket_large_ones_in_parts(bucket, export):
    assert keep(bucket.address, export) == 2 + 2 + 4003
    assert bucket.objects == {
        "exports/7/files/MANIFEST.json": b"{}",
        "exports/7/files/csv/utterances_dev.csv": b"id",
        NAME: export[1].read_bytes(),
    }
    assert [number for _, key, number in bucket.sent if key == NAME] == [1, 2, 3, 4, 5]


def test_what_is_there_already_is_not_sent_again(bucket, export):
    keep(bucket.address, export)
    bucket.sent.clear()
    assert keep(bucket.address, export) == 2 + 2 + 4003
    assert bucket.sent == []
    export[1].write_bytes(b"another")
    keep(bucket.address, export)
    assert bucket.sent == [("PUT", NAME, 0)]


def test_an_upload_goes_on_from_the_parts_that_are_there_after_a_kill(bucket, export):
    context = multiprocessing.get_context("spawn")
    sender = context.Process(target=keep, args=(bucket.address, export))

    def kill_at_the_third(number: int) -> None:
        if number == 3:
            os.kill(sender.pid or 0, signal.SIGKILL)

    bucket.before_part = kill_at_the_third
    sender.start()
    sender.join(60)
    assert sender.exitcode == -signal.SIGKILL
    assert NAME not in bucket.objects  # never half a file
    bucket.before_part = lambda number: None
    bucket.sent.clear()
    keep(bucket.address, export)
    assert bucket.objects[NAME] == export[1].read_bytes()
    again = [number for _, key, number in bucket.sent if key == NAME]
    assert again in ([3, 4, 5], [4, 5])  # the third had come when its sender died
    assert bucket.uploads == {}


def test_a_link_is_signed_and_runs_out(bucket, export, settings):
    settings.EXPORT_LINK_SECONDS = 600
    keep(bucket.address, export)
    link = S3Storage("studio", bucket.address).link(NAME, called="buses-csv-7.zip")
    asked = parse_qs(urlsplit(link).query)
    assert asked["X-Amz-Expires"] == ["600"]
    assert len(asked["X-Amz-Signature"][0]) == 64
    with urlopen(link) as answer:  # noqa: S310 - our own server
        assert answer.read() == export[1].read_bytes()
        assert answer.headers["Content-Disposition"] == 'attachment; filename="buses-csv-7.zip"'


def test_nothing_is_left_of_what_is_forgotten(bucket, export):
    keep(bucket.address, export)
    bucket.uploads["half"] = (NAME, {1: b"x"})
    bucket.objects["exports/70/other.zip"] = b"x"
    S3Storage("studio", bucket.address).forget("exports/7/")
    assert (bucket.objects, bucket.uploads) == ({"exports/70/other.zip": b"x"}, {})


def test_a_bucket_that_refuses_is_named(bucket, export):
    bucket.is_full = True
    with pytest.raises(ExportStorageError, match="The bucket studio did not take the export: "):
        keep(bucket.address, export)


def test_an_export_in_a_bucket_that_is_no_longer_named_cannot_be_had(settings):
    settings.EXPORT_BUCKET = ""
    with pytest.raises(ExportStorageError, match="EXPORT_BUCKET no longer says in which"):
        storage_of("s3")
