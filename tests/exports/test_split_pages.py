"""The pages of splits: a preview, making them, leaks, pins, and freezing."""

import re
from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.exports import split_views
from apps.exports.services.leaks import last_leak_report
from apps.exports.tasks import find_leaks, make_splits
from apps.projects.models import AuditEvent, Job, Role
from apps.snippets.models import Document
from tests.exports.test_splits import add_tree, splits_of
from tests.factories import make_member, make_project
from tests.pages import words_of_main

pytestmark = pytest.mark.django_db

PAGE = reverse("exports:splits", args=["rules"])
MAKE = reverse("exports:make_splits", args=["rules"])
DOCUMENTS = reverse("exports:split_documents", args=["rules"])
ASKED = {"train": "70", "dev": "10", "test": "20", "seed": "0"}


@pytest.fixture
def project():
    project = make_project("rules")
    for _ in range(10):
        add_tree(project)
    return project


@pytest.fixture
def admin(client, project):
    client.force_login(admin := make_member(project, Role.ADMIN))
    return admin


def preview(client, **fields) -> dict[str, str]:
    """What the button under a preview sends."""
    page = client.get(PAGE, {**ASKED, **fields}).text
    form = page.partition(f'action="{MAKE}"')[2].partition("</form>")[0]
    return dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))


def test_a_preview_shows_what_would_be_and_writes_nothing(client, project, admin):
    page = words_of_main(client.get(PAGE, ASKED).text)
    assert "10 documents would change their split." in page
    assert "Train 0 0 0.0 % 7 7 70.0 % of 70 % wanted" in page
    assert "In no split 10 10 100.0 % 0 0 0.0 %" in page
    assert "office.example from 0 to 7 from 0 to 1 from 0 to 2 from 10 to 0" in page
    assert splits_of(project) == {"": 10}


def test_a_split_that_would_be_empty_is_named_before_and_after(client, project, admin, monkeypatch):
    asked = {"train": "98", "dev": "1", "test": "1"}
    assert "Dev and Test would be empty." in words_of_main(
        client.get(PAGE, {**ASKED, **asked}).text
    )
    assert "empty." not in words_of_main(client.get(PAGE, ASKED).text)
    monkeypatch.setattr(split_views, "QUEUED_FROM", 10)
    client.post(MAKE, preview(client, **asked))
    job = Job.objects.get(kind="splits")
    make_splits(job.pk)
    assert "Empty: dev, test." in words_of_main(client.get(job.get_absolute_url()).text)
    assert "Dev and Test are empty." in words_of_main(client.get(PAGE).text)


def test_what_was_seen_is_made(client, project, admin):
    answer = client.post(MAKE, preview(client), follow=True)
    assert "Documents that are in another split now: 10." in words_of_main(answer.text)
    assert splits_of(project) == {"train": 7, "dev": 1, "test": 2}
    page = words_of_main(client.get(PAGE, ASKED).text)
    assert "No document would change its split. What is placed stays" in page
    # Near-duplicates across the new splits are looked for in the background.
    assert Job.objects.get(kind="leak report").created_by == admin


def test_everything_is_drawn_anew_only_when_that_is_asked_for(client, project, admin):
    Document.objects.update(split="test")
    assert preview(client) == {}
    sent = preview(client, anew="on", seed="3")
    assert sent["anew"] == "True"
    client.post(MAKE, sent)
    assert splits_of(project) == {"train": 7, "dev": 1, "test": 2}


def test_what_has_changed_since_the_preview_is_not_made(client, project, admin):
    sent = preview(client)
    add_tree(project)
    answer = client.post(MAKE, sent, follow=True)
    assert "have changed since this preview" in words_of_main(answer.text)
    assert splits_of(project) == {"": 11}


@pytest.mark.parametrize("fields", [{}, {"train": "x"}, {"dev": "50"}, {"seen": ""}])
def test_nothing_is_made_without_a_preview(client, project, admin, fields):
    answer = client.post(MAKE, {**ASKED, "seen": "0" * 40, **fields} if fields else {}, follow=True)
    assert "Nothing was changed" in words_of_main(answer.text)
    assert splits_of(project) == {"": 10}


def test_shares_that_do_not_make_a_whole_are_refused(client, project, admin):
    page = words_of_main(client.get(PAGE, {**ASKED, "dev": "50"}).text)
    assert "The shares of train, dev and test must make 100 %." in page
    assert "would change" not in page


def test_a_large_project_is_drawn_by_a_job(client, project, admin, monkeypatch):
    monkeypatch.setattr(split_views, "QUEUED_FROM", 10)
    answer = client.post(MAKE, preview(client, seed="1"))
    job = Job.objects.get(kind="splits")
    assert answer.url == job.get_absolute_url()
    assert splits_of(project) == {"": 10}
    make_splits(job.pk)
    assert splits_of(project) == {"train": 7, "dev": 1, "test": 2}
    said = words_of_main(client.get(job.get_absolute_url()).text)
    assert "10 documents changed their split. Trees now: train 7, dev 1, test 2." in said
    event = AuditEvent.objects.get(action="make splits")
    assert event.actor == admin


def test_frozen_splits_do_not_move_until_they_are_thawed(client, project, admin):
    sent = preview(client)
    client.post(reverse("exports:freeze_splits", args=["rules"]))
    page = words_of_main(client.get(PAGE, ASKED).text)
    assert "Frozen for a release since" in page
    assert "thaw them before documents can move" in page
    answer = client.post(MAKE, sent, follow=True)
    assert "frozen for a release" in words_of_main(answer.text)
    document = Document.objects.order_by("pk")[0]
    pinned = client.post(pin_address(document), {"split": "dev"}, follow=True)
    assert "frozen for a release" in words_of_main(pinned.text)
    assert splits_of(project) == {"": 10}
    client.post(reverse("exports:thaw_splits", args=["rules"]))
    client.post(MAKE, sent)
    assert splits_of(project) == {"train": 7, "dev": 1, "test": 2}
    actions = list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))
    assert actions[:3] == ["freeze splits", "thaw splits", "make splits"]


def test_frozen_pins_offer_only_what_may_be_done(client, project, admin):
    document = Document.objects.order_by("source_url")[0]
    client.post(pin_address(document), {"split": "dev"})
    client.post(reverse("exports:freeze_splits", args=["rules"]))
    forms = client.get(DOCUMENTS).text.split('class="pin"')[1:]
    assert [form.count("<select") for form in forms] == [0]
    assert f"Unpin {document}" in words_of_main(client.get(DOCUMENTS).text)
    client.post(pin_address(document), {"split": ""})
    assert not Document.objects.filter(is_split_pinned=True).exists()


def test_splits_are_below_exports(client, project, admin):
    address = reverse("exports:list", args=["rules"])
    assert f'href="{address}" aria-current="true"' in client.get(PAGE).text


def pin_address(document: Document) -> str:
    return reverse("exports:pin", args=["rules", document.pk])


def test_a_document_is_pinned_and_freed(client, project, admin):
    document = Document.objects.filter(project=project).order_by("source_url")[0]
    answer = client.post(pin_address(document), {"split": "test", "back": "split=none"})
    assert answer.url == f"{DOCUMENTS}?split=none"
    assert f"“{document}” stays in test." in words_of_main(client.get(DOCUMENTS).text)
    listed = client.get(DOCUMENTS, {"pinned": "yes"}).context["page"].object_list
    assert listed == [document]
    client.post(MAKE, preview(client, anew="on"))
    document.refresh_from_db()
    assert (document.split, document.is_split_pinned) == ("test", True)
    client.post(pin_address(document), {"split": ""})
    document.refresh_from_db()
    assert (document.split, document.is_split_pinned) == ("test", False)
    answer = client.post(pin_address(document), {"split": "everything"}, follow=True)
    assert "There is no such split." in words_of_main(answer.text)


def test_documents_are_found_by_words_split_and_pin(client, project, admin):
    found = add_tree(project, source_url="https://a.example/needle", split="dev")
    document = found.question.snippet.document
    for query in ({"q": "needle"}, {"split": "dev"}, {"split": "dev", "pinned": "no"}):
        assert client.get(DOCUMENTS, query).context["page"].object_list == [document]
    part = client.get(
        DOCUMENTS, {"q": "zzz"}, headers={"HX-Request": "true", "HX-Target": "results"}
    )
    assert "No document fits" in part.text
    assert "<html" not in part.text


def test_a_rule_text_in_two_splits_is_shown_with_both_documents(client, project, admin):
    text = "# Grant\n\nOne and the same rule."
    one = add_tree(project, text, split="dev", title="Leaflet")
    other = add_tree(project, text.upper(), split="test", title="Notice")
    page = client.get(PAGE).text
    assert "1 rule text stands in documents of different splits." in words_of_main(page)
    for tree in (one, other):
        assert f'href="{tree.question.snippet.document.get_absolute_url()}"' in page


def test_nearly_the_same_rule_texts_are_found_by_a_job_and_shown_with_both_trees(client, admin):
    project = admin.memberships.get().project
    text = "You can claim the grant if you live in the borough and pay rent"
    trees = [add_tree(project, f"{text}.", split="train"),
             add_tree(project, f"{text} monthly.", split="test")]  # fmt: skip
    assert "have not been compared yet" in words_of_main(client.get(PAGE).text)
    address = reverse("exports:look_for_leaks", args=["rules"])
    job = Job.objects.get(pk=int(client.post(address).url.rstrip("/").rpartition("/")[2]))
    assert client.post(address).url == job.get_absolute_url()  # one at a time
    find_leaks(job.pk)
    assert "1 pair in different splits is nearly the same" in words_of_main(
        client.get(job.get_absolute_url()).text
    )
    page = client.get(PAGE).text
    assert "1 pair in different splits." in words_of_main(page)
    assert "have changed since" not in page
    for tree in trees:
        assert f'href="{tree.get_absolute_url()}"' in page
    Document.objects.filter(split="test").update(split="train")
    assert "Texts, splits or the setting have changed since." in client.get(PAGE).text
    assert last_leak_report(project) == Job.objects.get(pk=job.pk)


@pytest.mark.parametrize("address", [PAGE, f"{PAGE}?train=70&dev=10&test=20", DOCUMENTS])
def test_more_documents_need_no_more_queries(client, admin, address):
    project = admin.memberships.get().project
    counts: Counter[int] = Counter()
    for number in range(3):
        for split in ("dev", "test"):
            add_tree(project, f"# One rule\n\nNumber {number}{'.' * len(split)}", split=split,
                     domain=f"{number}.example")  # fmt: skip
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        counts[len(queries)] += 1
    assert list(counts.values()) == [3]
