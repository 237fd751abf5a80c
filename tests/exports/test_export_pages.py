"""The pages of an export: a look before it starts, its files, links that run out, trying again."""

import time
from urllib.parse import urlsplit

import pytest
from django.core import signing
from django.urls import reverse

from apps.exports.storage import SALT
from apps.exports.tasks import export
from apps.projects.models import Job, Project, Role
from apps.projects.services.projects import delete_project
from apps.snippets.models import Document
from tests.exports.test_export import buses  # noqa: F401 - a fixture
from tests.factories import make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(buses: Project) -> Project:  # noqa: F811
    return buses


@pytest.fixture
def admin(client, project):
    user = make_member(project, Role.ADMIN)
    client.force_login(user)
    return user


CHOICES = {"formats": ["csv"], "splits": ["dev"]}


def start(client, **more) -> Job:
    client.post(reverse("exports:list", args=["buses"]), {**CHOICES, **more})
    return Job.objects.latest("pk")


@pytest.fixture
def done(client, admin) -> Job:
    job = start(client)
    export(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE
    return job


def download(client, job: Job, path: str = "") -> str:
    address = reverse("exports:download", args=["buses", job.pk])
    response = client.get(address, {"file": path} if path else {})
    assert response.status_code == 302
    return str(response.url)


def test_a_look_says_what_an_export_would_hold_and_starts_nothing(client, admin):
    Document.objects.update(split="train")
    before = Job.objects.count()
    address = reverse("exports:list", args=["buses"])
    page = client.post(address, {**CHOICES, "splits": ["train"], "look": "1"}).content.decode()
    assert "It would hold 9 utterances" in page
    assert "Every utterance goes out, each split has all kinds of answers" in page
    refused = client.post(address, {**CHOICES, "look": "1"}).content.decode()
    assert "The split dev has no utterances." in refused
    assert "It would hold" not in refused
    assert Job.objects.count() == before


def test_each_file_is_behind_a_link_of_its_own(client, done):
    link = download(client, done, "csv/utterances_dev.csv")
    client.logout()
    answer = client.get(link)
    assert answer["Content-Disposition"] == 'attachment; filename="utterances_dev.csv"'
    assert answer.getvalue().startswith(b"utterance_id,")


def test_a_link_runs_out(client, done, settings, monkeypatch):
    link = download(client, done)
    assert client.get(link).getvalue().startswith(b"PK")
    now = time.time()
    monkeypatch.setattr(
        "django.core.signing.time.time", lambda: now + settings.EXPORT_LINK_SECONDS + 2
    )
    gone = client.get(link)
    assert gone.status_code == 404
    assert "This link has run out" in gone.content.decode()


def test_a_link_that_somebody_made_up_or_changed_leads_nowhere(client, done):
    link = urlsplit(download(client, done)).path.rstrip("/")
    forged = signing.dumps(["../studio.sqlite3", "x"], key="another", salt=SALT)
    for token in ("made-up", forged, link.rpartition("/")[2] + "x"):
        assert client.get(reverse("exports:file", args=[token])).status_code == 404


@pytest.mark.parametrize("path", ["csv/nowhere.csv", "../../../studio.sqlite3", "/etc/passwd"])
def test_a_file_that_the_export_does_not_have_is_not_found(client, done, path):
    address = reverse("exports:download", args=["buses", done.pk])
    assert client.get(address, {"file": path}).status_code == 404


def test_links_to_a_deleted_project_lead_nowhere(client, done, admin, project):
    link = download(client, done)
    delete_project(project, actor=admin, now=done.created_at)
    assert client.get(link).status_code == 404


def test_exports_of_earlier_versions_can_still_be_downloaded(client, done):
    Job.objects.filter(pk=done.pk).update(report={}, parameters={"format": "csv"})
    answer = client.get(download(client, done))
    assert answer.getvalue().startswith(b"PK")
    assert answer["Content-Disposition"] == f'attachment; filename="buses-csv-{done.pk}.zip"'


def test_what_is_in_a_bucket_that_is_no_longer_named_is_said(client, done):
    Job.objects.filter(pk=done.pk).update(report={**done.report, "kept_in": "s3"})
    page = client.get(download(client, done)).content.decode()
    assert "EXPORT_BUCKET no longer says in which" in page


def test_a_failed_export_is_tried_again_from_its_page(client, admin):
    job = start(client)
    Job.objects.filter(pk=job.pk).update(
        state="failed", error="The bucket is full.", finished_at=job.created_at
    )
    again = reverse("exports:retry", args=["buses", job.pk])
    assert f'action="{again}"' in client.get(job.get_absolute_url()).content.decode()
    assert client.post(again).url == job.get_absolute_url()
    export(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == ("done", "")
    said = client.post(again, follow=True).content.decode()
    assert "It waits, runs, or is done already." in said
