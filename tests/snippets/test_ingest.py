"""One document on its way into a project: versions, languages, limits, two at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Any

import pytest
from django.db import connection

from apps.projects.models import AuditEvent, Project
from apps.projects.services.jobs import start_job_here
from apps.snippets.domain.extraction import Format
from apps.snippets.errors import DocumentRefusedError
from apps.snippets.models import Document, Snippet
from apps.snippets.services import ingest
from apps.snippets.services.ingest import Details, Ingested, Outcome, ingest_document
from tests.factories import make_document, make_project, make_user

pytestmark = pytest.mark.django_db

URL = "https://Office.example/bikes?page=1"
PAGE = b"""<html lang="en-GB"><head><title>Bikes</title></head><body><main>
<h1>Who can apply</h1><p>You can apply if:</p>
<ul><li>you are over 18</li><li>you live here</li></ul>
<p>It is free.</p></main></body></html>"""


@pytest.fixture
def project():
    return make_project("bikes")


def load(
    project: Project, data: bytes = PAGE, text_format: Format = Format.HTML, *,
    job=None, author=None, **details: Any,
) -> Ingested:  # fmt: skip
    known = Details(**{"source_url": URL, **details})
    return ingest_document(
        project, data=data, text_format=text_format, details=known, job=job, author=author
    )


def refusal(*arguments: Any, **details: Any) -> str:
    with pytest.raises(DocumentRefusedError) as caught:
        load(*arguments, **details)
    return str(caught.value)


def test_a_page_becomes_a_document_and_its_snippets(project):
    person = make_user()
    job = start_job_here(project, kind="document ingest", parameters={}, created_by=person)
    loaded = load(project, job=job, author=person, licence="OGL", retrieved_on=date(2024, 5, 31))

    document = Document.objects.get()
    assert (loaded.document, loaded.outcome, loaded.snippets) == (document, Outcome.CREATED, 2)
    assert {
        name: getattr(document, name)
        for name in ("source_url", "domain", "version", "title", "language", "licence", "media",
                     "encoding", "split", "retrieved_on", "job", "created_by")
    } == {
        "source_url": URL, "domain": "office.example", "version": 1, "title": "Bikes",
        "language": "en-GB", "licence": "OGL", "media": "html", "encoding": "utf-8", "split": "",
        "retrieved_on": date(2024, 5, 31), "job": job, "created_by": person,
    }  # fmt: skip
    assert document.source == PAGE.decode()
    assert len(document.content_sha1) == 40

    first, second = document.snippets.all()
    assert first.text == (
        "# Who can apply\n\nYou can apply if:\n\n* you are over 18\n* you live here"
    )
    assert second.text == "# Who can apply\n\nIt is free."
    assert [(one.position, one.words, one.items) for one in (first, second)] == [
        (1000, 14, 2),
        (2000, 6, 0),
    ]
    assert [first.cut_text, first.state, first.job, first.created_by] == [
        first.text, "proposed", job, person,
    ]  # fmt: skip
    assert [document.body[start:end] for start, end in first.pieces] == [
        "Who can apply", "You can apply if:", "you are over 18", "you live here",
    ]  # fmt: skip
    assert [document.body[start:end] for start, end in second.pieces] == [
        "Who can apply",
        "It is free.",
    ]
    event = AuditEvent.objects.get(action="load")
    assert (event.actor, event.details) == (person, {"version": 1, "snippets": 2})


def test_the_same_again_is_skipped_and_said(project):
    first = load(project).document
    again = load(project)
    assert (again.document, again.outcome, again.snippets) == (first, Outcome.SAME, 2)
    assert (Document.objects.count(), Snippet.objects.count()) == (1, 2)


def test_other_content_is_a_new_version_in_the_same_split_and_the_old_one_stays(project):
    old = load(project, licence="OGL").document
    Document.objects.update(split="dev")
    loaded = load(project, PAGE.replace(b"free", b"ten pounds"))
    assert (loaded.outcome, loaded.document.version) == (Outcome.NEW_VERSION, 2)
    assert (loaded.document.split, loaded.document.licence) == ("dev", "OGL")
    assert [one.text for one in old.snippets.all()][1].endswith("It is free.")
    # What comes back is another change, not something that is here.
    assert load(project).document.version == 3


def test_an_imported_document_has_no_content_and_gets_its_next_version(project):
    make_document(project, source_url=URL, split="train")
    loaded = load(project)
    assert (loaded.document.version, loaded.document.split) == (2, "train")


def test_the_same_page_in_another_project_is_another_document(project):
    load(project)
    assert load(make_project()).outcome == Outcome.CREATED


def test_what_an_attempt_of_this_job_has_loaded_counts_as_loaded_by_it(project):
    job = start_job_here(project, kind="document ingest", parameters={}, created_by=None)
    other = start_job_here(project, kind="document ingest", parameters={}, created_by=None)
    load(project, job=job)
    assert load(project, job=job).outcome == Outcome.CREATED
    assert load(project, job=other).outcome == Outcome.SAME
    load(project, b"# New\n\nText.", Format.MARKDOWN, job=job)
    assert load(project, b"# New\n\nText.", Format.MARKDOWN, job=job).outcome == Outcome.NEW_VERSION


def test_details_that_are_given_come_before_what_the_page_says(project):
    document = load(project, title="Cycles", language="en").document
    assert (document.title, document.language) == ("Cycles", "en")


@pytest.mark.parametrize(
    ("data", "text_format", "title"),
    [
        (b"# Rules\n\nText here.", Format.MARKDOWN, "Rules"),
        (b"Text here.\n", Format.TEXT, "bikes"),
        (b"<p>Text</p><h2>Late</h2><p>More</p>", Format.HTML, "Late"),
        (b"<title>" + b"x" * 600 + b"</title><p>Text</p>", Format.HTML, "x" * 500),
    ],
)
def test_a_document_without_a_title_is_called_by_what_it_has(project, data, text_format, title):
    assert load(project, data, text_format).document.title == title


def test_a_language_that_the_page_spells_wrong_is_the_projects(project):
    data = PAGE.replace(b"en-GB", b"english (uk)")
    assert load(project, data).document.language == "en"


def test_encodings_are_kept_with_the_text(project):
    data = "<meta charset=shift_jis><p>18歳以上の人。</p>".encode("shift_jis")
    document = load(project, data).document
    assert (document.encoding, document.body) == ("cp932", "18歳以上の人。")


@pytest.mark.parametrize(
    "text",
    ["<p>a&#0;b&#xD800;c&#xFFFF;d</p>", "<p>😀 \x7f\x85 e\u0301</p>", "<p>\ufeff\u200bword</p>"],
)
def test_any_character_that_a_page_may_hold_fits_the_database(project, text):
    loaded = load(project, text.encode())
    loaded.document.refresh_from_db()
    assert loaded.snippets == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"%PDF-1.7", "This is a PDF file: save it as HTML, Markdown or plain text first."),
        (b"", "There is no text in its body."),
        (b"<html><body><nav>Home</nav></body></html>", "There is no text in its body."),
    ],
)
def test_a_file_without_a_text_is_refused(project, data, said):
    assert refusal(project, data) == said
    assert Document.objects.count() == 0


def test_a_large_file_is_refused_and_one_at_the_limit_is_not(project, settings):
    settings.DOCUMENT_MAX_BYTES = len(PAGE)
    load(project)
    assert refusal(project, PAGE + b"\n") == (
        f"It has {len(PAGE) + 1:,} bytes; at most {len(PAGE):,} are read. Split it, or ask who "
        "runs the studio to raise DOCUMENT_MAX_MEGABYTES."
    )


@pytest.mark.parametrize(
    "url",
    ["", "bikes.html", "ftp://office.example/a", "javascript:alert(1)", "http://", "https:///x",
     "https://a.example/a b", "https://a.example/\n", "https://[::1", "https://a.example/\ud800",
     "https://a\\b.example/"],
)  # fmt: skip
def test_a_source_url_names_a_page_on_a_host_or_a_file(project, url):
    said = refusal(project, source_url=url)
    assert said == f"{url!r} is no source URL: it begins with http:// or https:// and names a host."


@pytest.mark.parametrize("url", ["https://a.example/" + "x" * 2000, f"https://{'a' * 256}/"])
def test_a_source_url_that_is_too_long_is_refused(project, url):
    assert refusal(project, source_url=url) == "Its source URL is longer than 2,000 characters."


@pytest.mark.parametrize(
    ("details", "said"),
    [
        ({"title": "x" * 501}, "Its title is longer than 500 characters."),
        ({"licence": "x" * 201}, "Its licence is longer than 200 characters."),
        ({"language": "English!"}, "'English!' is no language tag, such as en, ja or pt-BR."),
        ({"title": "a\0b"}, "Its title or licence has characters that are no text."),
        ({"licence": "\udfff"}, "Its title or licence has characters that are no text."),
    ],
)
def test_details_that_cannot_be_so_are_refused(project, details, said):
    assert refusal(project, **details) == said


def test_a_page_that_breaks_a_reader_is_refused_and_does_not_stop_the_others(project, monkeypatch):
    def explode(text: str, text_format: Format) -> None:
        raise RecursionError

    monkeypatch.setattr(ingest, "extract", explode)
    assert refusal(project) == (
        "Reading it failed inside the studio. The log of the server says more."
    )


def test_limits_that_change_while_a_file_is_read_count(project):
    stale = Project.objects.get(pk=project.pk)
    Project.objects.update(max_list_items=1)
    assert load(stale).snippets == 3


@pytest.mark.django_db(transaction=True)
def test_one_page_loaded_by_eight_at_once_is_here_once():
    project = make_project()
    with ThreadPoolExecutor(8) as pool:
        loaded = list(pool.map(lambda _: load_in_thread(project, PAGE), range(8)))
    outcomes = sorted(str(one.outcome) for one in loaded)
    assert outcomes == ["created"] + ["same"] * 7
    assert (Document.objects.count(), Snippet.objects.count()) == (1, 2)


@pytest.mark.django_db(transaction=True)
def test_six_contents_of_one_page_at_once_are_six_versions():
    project = make_project()
    pages = [PAGE.replace(b"free", f"{number} pounds".encode()) for number in range(6)]
    with ThreadPoolExecutor(6) as pool:
        loaded = list(pool.map(lambda data: load_in_thread(project, data), pages))
    assert sorted(one.document.version for one in loaded) == [1, 2, 3, 4, 5, 6]


def load_in_thread(project: Project, data: bytes) -> Ingested:
    try:
        return load(project, data)
    finally:
        connection.close()
