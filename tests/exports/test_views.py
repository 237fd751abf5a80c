"""Import, export and job pages: for admins of the project, and for nobody else."""

import io
import json
import zipfile
from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from apps.exports.tasks import export, import_sharc
from apps.projects.models import AuditEvent, Job, Role
from apps.projects.services.jobs import claim_job
from apps.scenarios.models import Utterance
from tests.exports.records import bus_pass
from tests.factories import make_member, make_project
from tests.pages import words_of_main

pytestmark = pytest.mark.django_db
PLOTS = ("depths", "labels", "questions", "scenarios")


@pytest.fixture
def project():
    return make_project("buses")


@pytest.fixture
def admin(client, project):
    user = make_member(project, Role.ADMIN)
    client.force_login(user)
    return user


def upload(name: str = "sharc_dev.json", content: object = None) -> SimpleUploadedFile:
    text = json.dumps(sorted(bus_pass(), key=lambda one: one["utterance_id"]))
    return SimpleUploadedFile(name, (text if content is None else str(content)).encode())


def start_import(client, **fields) -> Job:
    response = client.post(reverse("exports:import", args=["buses"]), fields)
    assert response.status_code == 302, response.content.decode()
    job = Job.objects.latest("pk")
    assert response.url == job.get_absolute_url()
    return job


def test_an_uploaded_file_waits_for_a_worker_then_is_imported_and_forgotten(client, admin):
    job = start_import(client, utterances=[upload()])
    page = client.get(job.get_absolute_url()).content.decode()
    assert "Waiting for a worker" in page
    assert Utterance.objects.count() == 0
    import_sharc(job.pk)
    job.refresh_from_db()
    assert (job.state, job.report["read"], job.created_by) == ("done", 9, admin)
    assert Utterance.objects.count() == 9
    page = client.get(job.get_absolute_url()).content.decode()
    assert "9 utterances were read; what they say is now in the project" in page


def test_the_uploaded_file_is_deleted_once_it_is_imported(client, admin):
    job = start_import(client, utterances=[upload()])
    kept_as = job.parameters["files"]["utterances"][0][1]
    assert default_storage.exists(kept_as)
    import_sharc(job.pk)
    assert not default_storage.exists(kept_as)


def test_the_uploaded_file_of_a_refused_import_is_deleted_too(client, admin):
    job = start_import(client, utterances=[upload(content="[1]")])
    kept_as = job.parameters["files"]["utterances"][0][1]
    import_sharc(job.pk)
    assert not default_storage.exists(kept_as)


def test_the_message_to_a_worker_is_sent_once_the_job_is_saved(
    client, admin, django_capture_on_commit_callbacks, monkeypatch
):
    sent = []
    monkeypatch.setattr(
        "apps.projects.services.jobs.current_app.send_task", lambda *message: sent.append(message)
    )
    with django_capture_on_commit_callbacks(execute=True):
        job = start_import(client, utterances=[upload()])
        assert sent == []
    assert sent == [("exports.import_sharc", [job.pk])]


def test_several_files_and_lists_and_a_split_are_taken(client, admin):
    records = bus_pass()
    listed = [one["utterance_id"] for one in records if "bees are calm" in one["scenario"]]
    job = start_import(
        client,
        utterances=[upload("a.jsonl", "\n".join(map(json.dumps, records[:5]))),
                    upload("b.json", json.dumps(records[5:]))],
        negative_scenarios=upload("list.txt", "\n".join(listed)),
        split="test",
    )  # fmt: skip
    import_sharc(job.pk)
    assert Utterance.objects.in_split("test").count() == 9
    assert Utterance.objects.filter(kind="negative_scenario").count() == 1


def test_a_bad_file_ends_the_job_with_the_reason_and_nothing_written(client, admin):
    job = start_import(client, utterances=[upload(content='[{"utterance_id": 3}]')])
    import_sharc(job.pk)
    job.refresh_from_db()
    assert job.state == "failed"
    assert job.error == "sharc_dev.json: item 1: utterance_id: must be a text, not a number"
    page = client.get(job.get_absolute_url()).content.decode()
    assert job.error in page
    assert "Nothing was written" in page


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "This field is required"),
        ({"utterances": [upload("notes.txt")]}, "File extension “txt” is not allowed"),
        ({"utterances": [upload()], "split": "holdout"}, "Select a valid choice"),
        ({"utterances": [upload(content="")]}, "The submitted file is empty"),
    ],
)
def test_a_form_that_does_not_fit_says_why(client, admin, fields, said):
    response = client.post(reverse("exports:import", args=["buses"]), fields)
    assert response.status_code == 200
    assert said in response.content.decode()
    assert not Job.objects.exists()


def test_a_file_over_the_limit_is_refused_at_the_form(client, admin, settings):
    settings.IMPORT_MAX_BYTES = 1000
    response = client.post(reverse("exports:import", args=["buses"]), {"utterances": [upload()]})
    assert "at most 1,000 are read" in response.content.decode()


def test_an_export_is_made_and_downloaded(client, admin):
    """Case 38: its name is that of a zip file."""
    import_sharc(start_import(client, utterances=[upload()]).pk)
    response = client.post(
        reverse("exports:list", args=["buses"]), {"formats": ["sharc"], "splits": ["dev"]}
    )
    job = Job.objects.latest("pk")
    assert response.url == job.get_absolute_url()
    export(job.pk)
    job.refresh_from_db()
    assert (job.state, job.report["exported"]) == (
        "done", {"dev": {"yes": 4, "no": 1, "irrelevant": 1, "more": 3}},
    )  # fmt: skip
    assert "Download the zip file" in client.get(job.get_absolute_url()).content.decode()
    page = client.get(job.get_absolute_url()).content.decode()
    assert 'value="http://testserver/exports/file/' in page
    link = client.get(reverse("exports:download", args=["buses", job.pk])).url
    client.logout()  # the link is for whoever has it
    download = client.get(link)
    assert download["Content-Disposition"] == f'attachment; filename="buses-sharc-{job.pk}.zip"'
    with zipfile.ZipFile(io.BytesIO(b"".join(download))) as archive:
        assert archive.read("sharc/buses/json/sharc_dev.json") == upload().read()
        lists = "sharc/buses/negative_sample_utterance_ids"
        assert sorted(archive.namelist()) == [
            "MANIFEST.json",
            "sharc/README.md",
            "sharc/SOURCES.csv",
            "sharc/buses/json/sharc_dev.json",
            f"{lists}/sharc_negative_question_utterance_ids.txt",
            f"{lists}/sharc_negative_scenario_utterance_ids.txt",
            *(f"sharc/plots/{name}.svg" for name in PLOTS),
        ]


def test_the_same_state_gives_the_same_zip_file(client, admin):
    import_sharc(start_import(client, utterances=[upload()]).pk)
    hashes = []
    for _ in range(2):
        client.post(reverse("exports:list", args=["buses"]), {"formats": "sharc", "splits": "dev"})
        job = Job.objects.latest("pk")
        export(job.pk)
        job.refresh_from_db()
        hashes.append(job.report["sha256"])
    assert hashes[0] == hashes[1]


def test_an_export_of_an_empty_split_is_refused_at_the_form(client, admin):
    response = client.post(
        reverse("exports:list", args=["buses"]), {"formats": ["sharc"], "splits": ["train"]}
    )
    assert "The split train has no utterances." in response.content.decode()
    assert not Job.objects.exists()


def test_an_unfinished_export_cannot_be_downloaded(client, admin, project):
    job = Job.objects.create(project=project, kind="export", created_by=admin)
    assert client.get(reverse("exports:download", args=["buses", job.pk])).status_code == 404


def test_a_job_can_be_stopped_and_its_worker_then_writes_nothing(client, admin):
    job = start_import(client, utterances=[upload()])
    response = client.post(reverse("projects:cancel_job", args=["buses", job.pk]))
    assert response.url == job.get_absolute_url()
    import_sharc(job.pk)
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert Utterance.objects.count() == 0
    assert AuditEvent.objects.filter(action="cancel ShARC import", actor=admin).count() == 1
    assert "It was stopped" in client.get(job.get_absolute_url()).content.decode()


def test_a_running_job_shows_how_far_it_is_and_asks_again(client, admin, project):
    job = Job.objects.create(project=project, kind="export", created_by=admin)
    claim_job(job.pk)
    Job.objects.filter(pk=job.pk).update(step="writing dev", done=50, total=200)
    fragment = client.get(job.get_absolute_url(), headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment
    assert "Writing dev" in fragment
    assert 'value="25"' in fragment
    assert 'hx-trigger="every 1s"' in fragment


def test_a_job_whose_worker_is_silent_says_so_and_not_how_long_it_still_takes(
    client, admin, project
):
    job = Job.objects.create(project=project, kind="export", task="exports.export")
    claim_job(job.pk)
    Job.objects.filter(pk=job.pk).update(
        step="writing csv, less than a minute left",
        heartbeat_at=timezone.now() - timedelta(seconds=130),
    )
    page = words_of_main(client.get(job.get_absolute_url()).text)
    assert "Not heard of for 2 minutes" in page
    assert "another one takes the job up soon after" in page
    assert "less than a minute left" not in page


def test_jobs_of_another_project_are_not_found(client, admin):
    other = Job.objects.create(project=make_project("trams"), kind="export")
    for name in ("projects:job", "exports:download"):
        assert client.get(reverse(name, args=["buses", other.pk])).status_code == 404
    response = client.post(reverse("projects:cancel_job", args=["buses", other.pk]))
    assert response.status_code == 404
    other.refresh_from_db()
    assert other.state == "queued"


@pytest.mark.parametrize("role", [Role.EXPERT, Role.WORKER, None])
def test_others_than_admins_find_none_of_the_pages(client, project, role):
    job = Job.objects.create(project=project, kind="export")
    client.force_login(make_member(project if role else make_project(), role or Role.ADMIN))
    for name in ("exports:list", "exports:import"):
        assert client.get(reverse(name, args=["buses"])).status_code == 404
        assert client.post(reverse(name, args=["buses"])).status_code == 404
    for name in ("projects:job", "exports:download"):
        assert client.get(reverse(name, args=["buses", job.pk])).status_code == 404
    assert client.post(reverse("projects:cancel_job", args=["buses", job.pk])).status_code == 404


@pytest.mark.parametrize("rows", [1, 3])
def test_the_list_of_jobs_needs_as_many_queries_for_one_as_for_three(
    client, admin, project, rows, django_assert_num_queries
):
    for _ in range(rows):
        Job.objects.create(project=project, kind="export", created_by=admin)
    url = reverse("exports:list", args=["buses"])
    client.get(url)
    with django_assert_num_queries(9):
        client.get(url)
