"""The audit log is append-only: the database says so."""

import pytest
from django.db import IntegrityError, transaction

from apps.projects.models import AuditEvent
from apps.projects.services import audit
from tests.factories import make_project, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def event() -> AuditEvent:
    project = make_project()
    return audit.record(make_user(), "rename", project, project=project, old="A", new="B")


def test_an_event_says_who_did_what_to_which_object(event):
    project = event.project
    assert (event.action, event.object_type, event.object_id) == (
        "rename", "project", str(project.pk),
    )  # fmt: skip
    assert event.details == {"old": "A", "new": "B"}


def test_an_event_cannot_be_changed(event):
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        AuditEvent.objects.filter(pk=event.pk).update(action="nothing")
    event.refresh_from_db()
    assert event.action == "rename"


def test_an_event_cannot_be_deleted(event):
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        event.delete()
    assert AuditEvent.objects.filter(pk=event.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_tables_are_emptied_after_a_test_with_real_transactions():
    project = make_project()
    audit.record(None, "create", project, project=project)
    assert AuditEvent.objects.count() == 1
