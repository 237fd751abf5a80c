"""Other limits: what they would do, and that they touch nothing that somebody has touched."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from apps.projects.models import AuditEvent, Job, Project
from apps.projects.services import jobs
from apps.snippets.domain.extraction import Format
from apps.snippets.domain.segmentation import Limits, LongLists
from apps.snippets.models import Document, Snippet
from apps.snippets.services import segmenting_jobs
from apps.snippets.services.ingest import Details, ingest_document
from apps.snippets.services.segmenting_jobs import (
    apply_limits,
    run_preview,
    run_segmentation,
    try_limits,
)
from apps.workers.models import Assignment, Kind
from sharc_studio.celery import app
from tests.factories import make_document, make_project, make_question, make_snippet, make_user

pytestmark = pytest.mark.django_db

RULES = """# Who can apply

You can apply if:

* you are over 18
* you live here
* you own a bike
* you pay tax

It is free.
"""
TWO = Limits(max_list_items=2)


@pytest.fixture
def project():
    return make_project("bikes")


@pytest.fixture
def document(project):
    return load(project)


def load(project: Project, number: int = 1, text: str = RULES) -> Document:
    details = Details(source_url=f"https://office.example/{number}", title=f"Page {number}")
    loaded = ingest_document(
        project, data=text.encode(), text_format=Format.MARKDOWN, details=details, author=None
    )
    return loaded.document


def cuts(document: Document) -> list[tuple[str, str]]:
    """State and last line of each snippet, in order."""
    rows = document.snippets.order_by("position")
    return [(str(one.state), one.text.splitlines()[-1]) for one in rows]


def apply(project: Project, **limits: Any) -> dict[str, Any]:
    changed = Project.objects.get(pk=project.pk)
    for name, value in limits.items():
        setattr(changed, name, value)
    report = apply_limits(changed, actor=make_user())
    assert isinstance(report, dict)
    return report


def change(document: Document, **numbers: int) -> dict[str, Any]:
    return {
        "document": document.pk, "title": str(document), "over": 0, "over_then": 0,
        "left_alone": "", **numbers,
    }  # fmt: skip


def test_trying_says_what_would_come_of_it_and_changes_nothing(project, document):
    make_document(project)  # an imported one, without a text
    before = list(Snippet.objects.values())
    report = try_limits(project, limits=TWO, author=make_user())
    assert report == {
        "limits": {"max_list_items": 2, "max_words": 150, "long_lists": "split"},
        "documents": 1,
        "snippets": 2,
        "snippets_then": 3,
        "over": 1,
        "over_then": 0,
        "changed": [
            change(document, snippets=2, snippets_then=3, removed=1, added=2, over=1)
        ],
        "left_alone": [],
    }  # fmt: skip
    assert list(Snippet.objects.values()) == before
    project.refresh_from_db()
    assert project.max_list_items == 4


def test_applying_does_what_trying_said_and_records_it(project, document):
    tried = try_limits(project, limits=TWO, author=make_user())
    free = document.snippets.get(text__endswith="free.")
    assert apply(project, max_list_items=2) == tried
    assert cuts(document) == [
        ("proposed", "* you live here"),
        ("proposed", "* you pay tax"),
        ("proposed", "It is free."),
    ]
    project.refresh_from_db()
    assert project.max_list_items == 2
    # What comes out the same is still the same row.
    assert document.snippets.get(pk=free.pk).text == free.text
    assert list(AuditEvent.objects.order_by("pk").values_list("action", "details"))[1:] == [
        ("change settings", {"changes": {"max_list_items": [4, 2]}}),
        ("cut anew", {"removed": 1, "proposed": 2}),
    ]


def test_going_back_gives_the_first_snippets_again(project, document):
    def texts() -> list[tuple[str, str, list[Any]]]:
        return list(document.snippets.order_by("position").values_list("text", "state", "pieces"))

    before = texts()
    apply(project, max_list_items=1)
    assert document.snippets.count() == 5
    apply(project, max_list_items=4)
    assert texts() == before


def test_the_same_limits_change_nothing(project, document):
    before = list(Snippet.objects.values())
    assert apply(project)["changed"] == []
    assert list(Snippet.objects.values()) == before
    assert AuditEvent.objects.filter(action__in=["cut anew", "change settings"]).count() == 0


TOUCHED: dict[str, dict[str, Any]] = {
    "accepted": {"state": "accepted"},
    "discarded": {"state": "discarded", "discard_reason": "no rule"},
    "merged": {"state": "merged"},
    "edited": {"text": "You can apply if you are over 18."},
    "sent back": {"sent_back_note": "There is no rule in it."},
}


@pytest.mark.parametrize("touch", TOUCHED)
def test_what_somebody_has_touched_stays_and_is_not_proposed_again(project, document, touch):
    first, second = document.snippets.order_by("position")
    Snippet.objects.filter(pk=first.pk).update(**TOUCHED[touch])
    kept = Snippet.objects.filter(pk=first.pk).values().get()
    report = apply(project, max_list_items=1, max_words=10)
    assert Snippet.objects.filter(pk=first.pk).values().get() == kept
    assert list(document.snippets.order_by("position")) == [first, second]
    assert (report["over"], report["over_then"], report["changed"]) == (1, 1, [])


def test_a_snippet_with_a_question_stays(project, document):
    first = document.snippets.order_by("position")[0]
    make_question(first, state="sent back", check_note="No.")
    assert apply(project, max_list_items=1)["changed"] == []


def test_the_rest_of_a_list_is_proposed_between_what_stays(project, document):
    apply(project, max_list_items=2)
    middle = document.snippets.get(text__endswith="tax")
    Snippet.objects.filter(pk=middle.pk).update(state="accepted")
    apply(project, max_list_items=1)
    assert cuts(document) == [
        ("proposed", "* you are over 18"),
        ("proposed", "* you live here"),
        ("accepted", "* you pay tax"),
        ("proposed", "It is free."),
    ]


def test_documents_that_an_expert_works_on_are_left_alone_and_said(project, document):
    other, now = load(project, 2), timezone.now()
    lease = Assignment.objects.create(
        project=project, worker=make_user(), kind=Kind.SNIPPETS, work_id=document.pk,
        leased_at=now, expires_at=now + timedelta(minutes=5),
    )  # fmt: skip
    report = apply(project, max_list_items=2)
    assert report["left_alone"] == [
        change(document, snippets=2, removed=0, added=0, over=1, over_then=1)
        | {"left_alone": "An expert is working on it."}
    ]
    assert [row["document"] for row in report["changed"]] == [other.pk]
    Assignment.objects.filter(pk=lease.pk).update(
        leased_at=now - timedelta(minutes=5), expires_at=now - timedelta(seconds=1)
    )
    assert apply(project)["left_alone"] == []


@pytest.mark.parametrize(
    ("body", "position", "said"),
    [
        ("Text  of another\nkind.", 1000, "Its text is not as the segmentation writes it."),
        ("You can apply.\n\nIt is free.", 1, "There is no room between its snippets."),
    ],
)
def test_documents_that_cannot_be_cut_are_left_alone_and_said(project, body, position, said):
    document = make_document(project, body=body)
    start = len(body) - 3
    make_snippet(document, position=position, pieces=[[start, len(body)]])
    report = apply(project, max_list_items=2)
    assert [row["left_alone"] for row in report["left_alone"]] == [said]
    assert document.snippets.count() == 1


def test_a_snippet_without_a_place_in_the_document_stays_first(project):
    document = make_document(project, body="You can apply.")
    made = make_snippet(document, position=5)
    apply(project, max_list_items=2)
    new = document.snippets.order_by("position")[1]
    assert (new.position, new.text, document.snippets.first()) == (1005, "You can apply.", made)


def test_longer_lists_may_stay_or_go(project, document):
    keep = Limits(max_list_items=2, long_lists=LongLists.KEEP)
    skip = Limits(max_list_items=2, long_lists=LongLists.SKIP)
    kept, skipped = (try_limits(project, limits=one, author=make_user()) for one in (keep, skip))
    assert isinstance(kept, dict)
    assert isinstance(skipped, dict)
    assert (kept["over"], kept["snippets_then"]) == (0, 2)
    assert (skipped["over"], skipped["snippets_then"]) == (1, 1)


@pytest.fixture
def many(project, monkeypatch):
    monkeypatch.setattr(app, "send_task", lambda name, args: None)
    monkeypatch.setattr(segmenting_jobs, "FEW", 2)
    return [load(project, number) for number in range(3)]


def run(job: Any, work: Any) -> Job:
    assert isinstance(job, Job)
    jobs.run_job(job.pk, work)
    job.refresh_from_db()
    return job


def test_many_documents_are_tried_and_cut_by_jobs(project, many):
    person = make_user()
    tried = run(try_limits(project, limits=TWO, author=person), run_preview)
    assert (tried.kind, tried.state, tried.created_by) == ("segmentation preview", "done", person)
    assert (tried.report["snippets"], tried.report["snippets_then"]) == (6, 9)
    assert Snippet.objects.count() == 6

    project.max_list_items = 2
    done = run(apply_limits(project, actor=person), run_segmentation)
    assert (done.kind, done.state, done.report) == ("segmentation", "done", tried.report)
    assert Snippet.objects.count() == 9
    assert set(Snippet.objects.filter(items=2).values_list("job", "created_by")) == {
        (done.pk, person.pk)
    }


def test_a_job_that_is_run_twice_changes_nothing_the_second_time(project, many):
    project.max_list_items = 2
    job = apply_limits(project, actor=make_user())
    run(job, run_segmentation)
    before = list(Snippet.objects.values())
    assert isinstance(job, Job)
    Job.objects.filter(pk=job.pk).update(state="queued", finished_at=None)
    assert run(job, run_segmentation).report["changed"] == []
    assert list(Snippet.objects.values()) == before


@pytest.mark.django_db(transaction=True)
def test_a_document_cut_anew_by_four_at_once_has_each_snippet_once():
    project = make_project()
    document = load(project)
    Project.objects.update(max_list_items=1)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: recut_in_thread(project), range(4)))
    texts = [text for _, text in cuts(document)]
    assert texts == [
        "* you are over 18", "* you live here", "* you own a bike", "* you pay tax", "It is free.",
    ]  # fmt: skip


def recut_in_thread(project: Project) -> None:
    try:
        apply(project)
    finally:
        connection.close()
