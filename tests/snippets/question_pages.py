"""An expert's way through the pages of first questions. For several test files."""

from datetime import timedelta
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.workers.models import Assignment
from tests.pages import words_of_main

LIST = reverse("snippets:questions", args=["bikes"])
NEXT = reverse("snippets:question_next", args=["bikes"])
NEXT_CHECK = reverse("snippets:check_next", args=["bikes"])


def work_page(name: str, work: Assignment) -> str:
    return reverse(f"snippets:{name}", args=[work.project.slug, work.pk])


def take(client: Client, expert: User) -> Assignment:
    response = client.post(NEXT)
    work = Assignment.objects.of(expert).leased().latest("pk")
    assert response.headers["Location"] == work_page("question_work", work)
    return work


def take_check(client: Client, expert: User) -> Assignment:
    response = client.post(NEXT_CHECK)
    work = Assignment.objects.of(expert).leased().latest("pk")
    assert response.headers["Location"] == work_page("question_check", work)
    return work


def page(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return words_of_main(response.content.decode())


def submit(client: Client, work: Assignment, text: str = "Can I?", key: str = "k") -> Any:
    return client.post(work_page("question_work", work), {"text": text, "key": key}, follow=True)


def expire(work: Assignment) -> None:
    past = timezone.now() - timedelta(minutes=1)
    Assignment.objects.filter(pk=work.pk).update(
        leased_at=past - timedelta(hours=1), expires_at=past
    )


def queries_of(client: Client, address: str, data: dict[str, str] | None = None) -> int:
    with CaptureQueriesContext(connection) as caught:
        response = client.get(address) if data is None else client.post(address, data)
        assert response.status_code == 200
    return len(caught)
