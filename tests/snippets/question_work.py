"""An expert's steps on first questions, at one fixed moment. For several test files."""

from datetime import UTC, datetime, timedelta

from apps.accounts.models import User
from apps.projects.models import Project
from apps.snippets.models import Snippet
from apps.snippets.services.question_checks import take_check
from apps.snippets.services.questions import submit_question, take_question
from apps.workers.models import Assignment
from apps.workers.services.submits import NotTaken, Submitted

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=61)


def take(project: Project, expert: User, now: datetime = NOW) -> Assignment:
    work = take_question(project, expert=expert, now=now)
    assert work is not None
    return work


def check(project: Project, expert: User, now: datetime = NOW) -> Assignment:
    work = take_check(project, expert=expert, now=now)
    assert work is not None
    return work


def write(
    work: Assignment, text: str = "Can I?", *, key: str = "k", now: datetime = NOW
) -> Submitted | NotTaken:
    return submit_question(work, text=text, key=key, now=now)


def texts_by_state(snippet: Snippet) -> list[tuple[str, str]]:
    return list(snippet.questions.order_by("pk").values_list("text", "state"))
