"""manage.py ingest_documents: what is read, what is said, and how it ends."""

import json
import os
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.projects.models import AuditEvent, Job, Project
from apps.snippets.models import Document, Snippet
from tests.factories import make_project
from tests.snippets.archives import write_zip

pytestmark = pytest.mark.django_db

TEXT = b"You can apply if you live here.\n"


def run(*paths: Path, index: Path | None = None) -> list[str]:
    out = StringIO()
    named = [f"--index={index}"] if index else []
    call_command("ingest_documents", *map(str, paths), "--project=bikes", *named, stdout=out,
                 stderr=StringIO())  # fmt: skip
    return out.getvalue().splitlines()


def refusal(*paths: Path, index: Path | None = None) -> str:
    with pytest.raises(CommandError) as caught:
        run(*paths, index=index)
    return str(caught.value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    (folder / "more").mkdir(parents=True)
    (folder / "a.txt").write_bytes(TEXT)
    (folder / "more" / "b.md").write_bytes(b"# Costs\n\nIt is free.\n")
    (folder / "c.html").write_bytes(b"<html><body></body></html>")
    (folder / "notes.json").write_bytes(b"[]")
    (folder / ".hidden.txt").write_bytes(TEXT)
    return folder


def write_index(path: Path, *entries: Any) -> Path:
    path.write_text(json.dumps(entries))
    return path


def test_a_folder_is_read_and_each_file_is_said(folder):
    assert run(folder) == [
        "failed (There is no text in its body.): c.html",
        "created, 1 snippets: a.txt",
        "created, 1 snippets: more/b.md",
        "2 created, 1 failed; 2 new snippets",
    ]
    project = Project.objects.get(slug="bikes")
    assert list(project.documents.order_by("pk").values_list("source_url", "domain", "title")) == [
        ("file:///a.txt", "", "a.txt"),
        ("file:///more/b.md", "", "Costs"),
    ]
    job = Job.objects.get()
    assert (job.kind, job.state, job.task) == ("document ingest", "done", "")
    assert {document.job for document in Document.objects.all()} == {job}


def test_again_it_skips_what_is_the_same_and_makes_a_version_of_what_is_not(folder):
    run(folder)
    (folder / "a.txt").write_bytes(b"You can not apply.\n")
    assert run(folder) == [
        "failed (There is no text in its body.): c.html",
        "new version 2, 1 snippets: a.txt",
        "skipped, the same is here: more/b.md",
        "1 new version, 1 same, 1 failed; 1 new snippets",
    ]
    assert Snippet.objects.count() == 3


def test_an_index_says_where_files_come_from(folder):
    index = write_index(
        folder / "index.json",
        {"file": "a.txt", "source_url": "https://office.example/a", "title": "A", "language": "cy",
         "licence": "OGL", "retrieved_on": "2024-05-31"},
        {"file": "more/b.md", "source_url": "https://office.example/b", "title": None},
        {"file": "gone.html", "source_url": "https://office.example/gone"},
    )  # fmt: skip
    lines = run(folder / "a.txt", folder / "more", index=index)
    assert lines == [
        "created, 1 snippets: a.txt",
        "created, 1 snippets: b.md",
        "in the index, but not there: gone.html",
        "2 created; 2 new snippets",
    ]
    first = Document.objects.get(source_url="https://office.example/a")
    assert (first.title, first.language, first.licence, str(first.retrieved_on)) == (
        "A", "cy", "OGL", "2024-05-31",
    )  # fmt: skip
    assert Document.objects.get(source_url="https://office.example/b").title == "Costs"


def test_an_index_elsewhere_names_files_as_they_stand_in_their_folder(folder, tmp_path):
    elsewhere = tmp_path / "lists"
    elsewhere.mkdir()
    index = write_index(
        elsewhere / "index.json", {"file": "a.txt", "source_url": "https://office.example/a"}
    )
    run(folder, index=index)
    assert Document.objects.filter(source_url="https://office.example/a").exists()


def test_two_files_of_one_source_are_not_two_versions(folder):
    url = "https://office.example/a"
    index = write_index(
        folder / "index.json",
        {"file": "a.txt", "source_url": url},
        {"file": "more/b.md", "source_url": url},
    )
    assert f"failed (It has the same source URL as a.txt: {url}): more/b.md" in run(
        folder, index=index
    )
    assert Document.objects.count() == 1


def test_archives_are_read_like_folders(tmp_path):
    path = write_zip(tmp_path / "all.zip", {"a.txt": TEXT, "inner.zip": b"PK"})
    assert run(path) == [
        "failed (Archives inside archives are not opened.): all.zip/inner.zip",
        "created, 1 snippets: all.zip/a.txt",
        "1 created, 1 failed; 1 new snippets",
    ]


def test_files_that_cannot_be_read_do_not_stop_the_others(folder, settings):
    settings.DOCUMENT_MAX_BYTES = 100
    (folder / "long.txt").write_bytes(b"x" * 101)
    (folder / "gone.txt").symlink_to(folder / "nowhere")
    (folder / "a.pdf").write_bytes(b"%PDF-1.7")
    (folder / "lied.txt").write_bytes(b"%PDF-1.7")
    lines = run(folder, folder / "a.pdf")
    assert [line for line in lines if line.startswith("failed")] == [
        "failed (There is no text in its body.): c.html",
        "failed (This is a PDF file: save it as HTML, Markdown or plain text first.): lied.txt",
        "failed (It has 101 bytes; at most 100 are read. Split it, or ask who runs the studio to "
        "raise DOCUMENT_MAX_MEGABYTES.): long.txt",
        "failed (Its name does not end in .html, .htm, .xhtml, .md, .markdown, .txt or .text.): "
        "a.pdf",
    ]


def test_a_name_that_is_no_text_is_shown_as_well_as_it_goes(tmp_path):
    name = os.fsdecode(b"caf\xe9.txt")
    (tmp_path / name).write_bytes(TEXT)
    assert run(tmp_path)[0] == "created, 1 snippets: caf?.txt"


def nothing_is_written() -> bool:
    return not any(kind.objects.exists() for kind in (Project, Job, AuditEvent, Document))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "There is no text in its body."),
        (b"%PDF-1.7", "This is a PDF file: save it as HTML, Markdown or plain text first."),
    ],
)
def test_when_nothing_could_be_read_it_says_why_and_writes_nothing(tmp_path, capsys, data, why):
    (tmp_path / "a.txt").write_bytes(data)
    with pytest.raises(CommandError, match=r"^None of the files could be read;"):
        call_command("ingest_documents", str(tmp_path), "--project=bikes")
    assert capsys.readouterr().out == f"failed ({why}): a.txt\n1 failed; 0 new snippets\n"
    assert nothing_is_written()


def test_an_archive_without_a_document_makes_no_project(tmp_path):
    path = write_zip(tmp_path / "all.zip", {"index.json": b"[]"})
    assert refusal(path) == "There is no document in these files."
    assert nothing_is_written()


def test_when_nothing_could_be_read_a_project_that_is_here_stays_as_it_is(tmp_path):
    project = make_project("bikes")
    (tmp_path / "a.txt").write_bytes(b"")
    assert refusal(tmp_path).startswith("None of the files could be read")
    assert [*Project.objects.all()] == [project]
    assert not project.jobs.exists()


def test_a_path_that_is_not_there_is_refused_before_anything_is_written(folder, tmp_path):
    gone = tmp_path / "gone"
    assert refusal(folder, gone) == f"{gone} is not there."
    assert refusal(folder, index=gone) == f"{gone} cannot be read: No such file or directory."
    empty = tmp_path / "empty"
    empty.mkdir()
    assert refusal(empty) == "There are no HTML, Markdown or text files in it."
    assert nothing_is_written()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[\n{", "line 2 is not JSON: Expecting property name enclosed in double quotes."),
        (b"\xff", "it is not in UTF-8."),
        (b"[" * 100_000, "it is nested too deeply."),
        (b"{}", "it must be an array of objects, one for each file."),
        (b'["a.txt"]', "entry 1 is no object."),
        (b'[{"source_url": "https://a.example/"}]', "entry 1: the name of the file is missing."),
        (b'[{"file": null}]', "entry 1: 'file' is no text."),
        (b'[{"file": "a", "title": 3}]', "entry 1: 'title' is no text."),
        (b'[{"file": "a"}, {"file": "./a"}]', "entry 2: 'a' is in it twice."),
        (b'[{"file": "a", "retrieved_on": "31/5/24"}]',
         "entry 1: '31/5/24' is no date, such as 2024-05-31."),
        (b'[{"file": "a", "url": "x"}]', "entry 1: 'url' is not known; use file, source_url, "
         "title, language, licence, attribution, retrieved_on."),
    ],
)  # fmt: skip
def test_an_index_that_is_wrong_is_refused_with_the_place(folder, content, said):
    index = folder / "index.json"
    index.write_bytes(content)
    assert refusal(folder, index=index) == f"{index}: {said}"
    assert Project.objects.count() == 0


def test_details_in_an_index_that_cannot_be_so_are_said_at_their_file(folder):
    index = write_index(folder / "index.json", {"file": "a.txt", "source_url": "office.example"})
    assert run(folder, index=index)[0] == (
        "failed ('office.example' is no source URL: it begins with http:// or https:// and names a "
        "host.): a.txt"
    )


def test_a_slug_that_is_none_is_refused():
    with pytest.raises(CommandError, match="letters, digits, - and _ only"):
        call_command("ingest_documents", ".", "--project=a b")


def test_the_documents_of_this_machine_are_read_whole(sharc_dev):
    folder = sharc_dev.parent / "documents"
    lines = run(folder, index=folder / "index.json")
    assert lines[-1].startswith("10 created; ")
    assert set(Document.objects.values_list("domain", flat=True)) == {"www.gov.uk"}
