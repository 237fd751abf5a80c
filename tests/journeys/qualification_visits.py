"""The pages of the qualification in each state that looks different, for tests of all pages."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Membership, Project, Role
from apps.workers.services.attempts import begin_attempt
from apps.workers.services.qualification import give_by_hand
from apps.workers.services.qualification_tests import begin_draft
from tests.workers.qualifying import DAY, NO, make_test, try_it


def qualification_visits(project: Project, reader: User) -> Iterator[tuple[str, str]]:
    """Names of URLs, with the state, and addresses."""

    def visit(name: str, *arguments: int, state: str = "") -> tuple[str, str]:
        address = reverse(f"workers:{name}", args=[project.slug, *arguments])
        return f"workers:{name} {state}".strip(), address

    now = timezone.now()
    make_test(project, now=now)
    yield visit("attempt", try_it(project, reader, NO, NO, now=now).pk, state="failed")
    project.qualification_attempts.update(submitted_at=now - 2 * DAY)
    yield visit("attempt", begin_attempt(project, worker=reader, now=now).pk)
    draft = begin_draft(project, actor=reader, now=now)
    question = draft.questions.get(position=1)
    for member in Membership.objects.filter(project=project, role=Role.WORKER)[:1]:
        give_by_hand(member, actor=reader, now=now)
    yield visit("qualification")
    yield visit("test_question", question.pk)
    yield visit("test_question_new")
    yield visit("qualification_settings")
    yield visit("qualified")
