"""Adding documents and trying limits: what starts, what is said, what comes back."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from apps.projects.models import AuditEvent, Job, Role
from apps.projects.services import jobs
from apps.snippets import forms
from apps.snippets.models import Document
from apps.snippets.services import ingest_jobs, segmenting_jobs
from sharc_studio.celery import app
from tests.factories import make_member, make_project
from tests.pages import words_of_main

pytestmark = pytest.mark.django_db

UPLOAD, PASTE, FETCH, LIMITS = (
    reverse(f"snippets:{name}", args=["bikes"])
    for name in ("upload", "paste", "fetch", "segmentation")
)
URL = "https://office.example/bikes"
TEXT = "You can apply if:\n\n- you are over 18\n- you live here\n"


@pytest.fixture
def project():
    return make_project("bikes", name="Bikes")


@pytest.fixture
def admin(client, project):
    user = make_member(project, Role.ADMIN)
    client.force_login(user)
    return user


def page_of(document: Document) -> str:
    return reverse("snippets:document", args=["bikes", document.pk])


def read(client, address: str, **query: str) -> str:
    response = client.get(address, query)
    assert response.status_code == 200
    return words_of_main(response.content.decode())


# Adding -------------------------------------------------------------------------------------


@pytest.fixture
def sent(monkeypatch) -> list[str]:
    messages: list[str] = []
    monkeypatch.setattr(app, "send_task", lambda name, args: messages.append(name))
    return messages


def upload(name: str = "a.txt", data: bytes = b"You can.") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def test_an_upload_starts_a_job_and_its_page_shows_each_file(
    client, admin, project, sent, django_capture_on_commit_callbacks
):
    files = [upload(), upload("b.html", b"<nav>Home</nav>"), upload("c.md", b"# C\n\nRule.")]
    with django_capture_on_commit_callbacks(execute=True):
        response = client.post(UPLOAD, {"documents": files, "licence": "OGL"})
    job = Job.objects.get()
    assert (response.headers["Location"], sent) == (job.get_absolute_url(), [ingest_jobs.TASK])
    jobs.run_job(job.pk, ingest_jobs.run_ingest)
    said = read(client, job.get_absolute_url())
    for part in (
        "3 files looked at; 2 new snippets. 1 could not be loaded: the reasons stand below.",
        "New documents 2 New versions 0 Here already 0 Failed 1",
        "b.html Failed There is no text in its body.",
        "c.md New 1",
    ):
        assert part in said
    assert set(Document.objects.values_list("licence", flat=True)) == {"OGL"}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "Files: This field is required."),
        ({"documents": [upload("a.pdf")]}, "“a.pdf” is neither HTML"),
        ({"documents": [upload(), upload("b.txt")], "source_url": URL},
         "Only a single file has this one. Use the list of sources."),
        ({"documents": [upload("a.zip")], "title": "One"},
         "Only a single file has this one. Use the list of sources."),
        ({"documents": [upload()], "source_url": "x"}, "is no source URL"),
        ({"documents": [upload()], "language": "english!"}, "Enter a language tag"),
        ({"documents": [upload()], "index": upload("list.json", b"{")},
         "list.json: line 1 is not JSON"),
    ],
)  # fmt: skip
def test_an_upload_that_does_not_fit_starts_nothing(client, admin, data, said):
    response = client.post(UPLOAD, data)
    assert response.status_code == 200
    assert said in words_of_main(response.content.decode())
    assert Job.objects.count() == 0


def test_an_upload_that_is_too_large_starts_nothing(client, admin, settings):
    settings.IMPORT_MAX_BYTES = 5
    said = words_of_main(client.post(UPLOAD, {"documents": [upload()]}).content.decode())
    assert "“a.txt” has 8 bytes; at most 5 are read." in said


def test_a_pasted_text_is_a_document_at_once(client, admin, project):
    sent = {"text": TEXT.replace("\n", "\r\n"), "text_format": "text", "source_url": URL,
            "title": "Bikes", "language": "en", "licence": "OGL",
            "retrieved_on": "2024-05-31"}  # fmt: skip
    response = client.post(PASTE, sent, follow=True)
    document = Document.objects.get()
    assert response.redirect_chain == [(page_of(document), 302)]
    assert "The document was cut into 1 snippets." in words_of_main(response.content.decode())
    assert (document.source, document.created_by, str(document.retrieved_on), document.job) == (
        TEXT, admin, "2024-05-31", None,
    )  # fmt: skip
    again = client.post(PASTE, sent, follow=True).content.decode()
    assert "This text is here already with this source URL." in words_of_main(again)
    other = client.post(PASTE, {**sent, "text": "It is free."}, follow=True).content.decode()
    assert "The new version was cut into 1 snippets." in words_of_main(other)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"text": " \n\t", "source_url": URL}, "There are only blanks in it."),
        ({"text": "", "source_url": URL}, "Text: This field is required."),
        ({"text": "<nav>Home</nav>", "source_url": URL, "text_format": "html"},
         "There is no text in its body."),
        ({"text": "Mine", "source_url": "mine"}, "is no source URL"),
        ({"text": "Mine", "source_url": ""}, "Source URL: This field is required."),
    ],
)  # fmt: skip
def test_a_text_that_does_not_fit_comes_back(client, admin, data, said):
    response = client.post(PASTE, {"text_format": "text", **data})
    assert response.status_code == 200
    assert said in words_of_main(response.content.decode())
    assert response.context["form"]["text"].value() == data["text"]
    assert Document.objects.count() == 0


def test_a_text_that_is_too_long_comes_back(client, admin, monkeypatch):
    text = "x" * (forms.MAX_PASTED + 1)
    response = client.post(PASTE, {"text": text, "text_format": "text", "source_url": URL})
    assert "at most 300000 characters" in words_of_main(response.content.decode())
    assert response.context["form"]["text"].value() == text


def test_addresses_are_fetched_only_where_hosts_are_named(client, admin, project, sent, settings):
    assert client.get(FETCH).status_code == 404
    assert "Addresses" not in read(client, UPLOAD)
    settings.FETCH_ALLOWED_HOSTS = ["office.example"]
    assert "Files Pasted text Addresses" in read(client, UPLOAD)
    assert "The server fetches these pages from office.example." in read(client, FETCH)
    response = client.post(FETCH, {"urls": f"{URL}\r\n{URL}\r\n {URL}/2", "licence": "OGL"})
    job = Job.objects.get()
    assert response.headers["Location"] == job.get_absolute_url()
    assert job.parameters == {"urls": [URL, f"{URL}/2"], "details": {"licence": "OGL"}}


@pytest.mark.parametrize(
    ("urls", "said"),
    [("", "This field is required."), ("office.example", "is no source URL"),
     ("https://a.example/ " + " ".join(f"https://a.example/{n}" for n in range(500)),
      "At most 500 at once; these are 501.")],
)  # fmt: skip
def test_addresses_that_do_not_fit_are_not_fetched(client, admin, settings, urls, said):
    settings.FETCH_ALLOWED_HOSTS = ["office.example"]
    assert said in words_of_main(client.post(FETCH, {"urls": urls}).content.decode())
    assert Job.objects.count() == 0


# Limits -------------------------------------------------------------------------------------


def paste_rules(client) -> Document:
    client.post(PASTE, {"text": TEXT, "text_format": "text", "source_url": URL, "title": "Bikes"})
    return Document.objects.get()


def test_limits_are_tried_first_and_saved_then(client, admin, project):
    document = paste_rules(client)
    limits = {"max_list_items": "1", "max_words": "100", "long_lists": "split"}
    tried = words_of_main(client.post(LIMITS, {**limits, "action": "try"}).content.decode())
    for part in (
        "1 document of 1 would be cut anew. Nothing has changed yet.",
        "At most 1 list item and 100 words; longer lists are split.",
        "Snippets 1 2 Longer than these limits 1 0",
        "Bikes 1 2 1 2",
        "Save these limits and cut anew",
    ):
        assert part in tried
    assert document.snippets.count() == 1

    done = words_of_main(client.post(LIMITS, {**limits, "action": "apply"}).content.decode())
    assert "Saved. 1 document of 1 was cut anew." in done
    project.refresh_from_db()
    assert (project.max_list_items, project.max_words, document.snippets.count()) == (1, 100, 2)
    assert AuditEvent.objects.get(action="change settings").actor == admin


def test_limits_that_change_nothing_can_be_saved(client, admin, project):
    paste_rules(client)
    limits = {"max_list_items": "9", "max_words": "100", "long_lists": "split"}
    tried = words_of_main(client.post(LIMITS, {**limits, "action": "try"}).content.decode())
    assert "No snippet of the 1 document would change" in tried
    assert "Save these limits" in tried


def test_limits_out_of_range_are_not_tried(client, admin, project):
    response = client.post(LIMITS, {"max_list_items": "0", "max_words": "1", "action": "apply"})
    said = words_of_main(response.content.decode())
    assert "Not tried:" in said
    project.refresh_from_db()
    assert project.max_list_items == 4


def test_with_many_documents_a_job_tries_and_its_page_offers_to_save(
    client, admin, project, sent, monkeypatch
):
    monkeypatch.setattr(segmenting_jobs, "FEW", 0)
    paste_rules(client)
    limits = {"max_list_items": "1", "max_words": "100", "long_lists": "split"}
    response = client.post(LIMITS, {**limits, "action": "try"})
    job = Job.objects.get()
    assert response.headers["Location"] == job.get_absolute_url()
    jobs.run_job(job.pk, segmenting_jobs.run_preview)
    assert "Save these limits and cut anew" in read(client, job.get_absolute_url())
    client.post(LIMITS, {**limits, "action": "apply"})
    jobs.run_job(Job.objects.latest("pk").pk, segmenting_jobs.run_segmentation)
    assert "was cut anew" in read(client, Job.objects.latest("pk").get_absolute_url())


def test_jobs_that_end_early_say_what_is_left(client, admin, project):
    ended = {"finished_at": timezone.now(), "project": project}
    said = []
    for kind, state in (("document ingest", "cancelled"), ("segmentation", "failed"),
                        ("segmentation preview", "cancelled")):  # fmt: skip
        job = Job.objects.create(kind=kind, state=state, error="It broke.", **ended)
        said.append(read(client, job.get_absolute_url()))
    assert "What was loaded before it ended is in the project" in said[0]
    assert "Documents that were cut anew before it ended stay so" in said[1]
    assert "Nothing was changed." in said[2]
