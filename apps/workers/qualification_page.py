"""What experts, admins and workers see of a qualification test."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.accounts.models import User
from apps.projects.models import Membership, Project
from apps.workers.domain.qualification import Code, Standing
from apps.workers.models import AnswerClass, Kind, QualificationAttempt, QualificationQuestion
from apps.workers.qualification_forms import ANSWER, QUESTION, AttemptForm
from apps.workers.services.attempts import SENTENCES
from apps.workers.services.qualification import (
    barred_kinds,
    published_test,
    settings_of,
    standing,
    standings,
)
from apps.workers.services.qualification_tests import draft_of

NO_TRY_HELPS = frozenset({Code.REVOKED, Code.NO_TRIES_LEFT})
PASSED = "You have passed the test."
ENDS_THE_TRIES = frozenset({Code.QUALIFIED, Code.NO_TRIES_LEFT})
LABELS = {
    Code.QUALIFIED: "Has it",
    Code.NOT_TAKEN: "Has not taken the test",
    Code.BEGUN: "Has begun the test",
    Code.FAILED: "Did not pass, may try again",
    Code.WAITING: "Did not pass, waits",
    Code.NO_TRIES_LEFT: "Did not pass, no tries left",
    Code.EXPIRED: "Expired",
    Code.REVOKED: "Revoked",
    Code.NO_TEST: "There is no test",
}


@dataclass(frozen=True)
class Turn:
    """As templates of conversations want it."""

    question: str
    answer: str


@dataclass(frozen=True)
class ShownQuestion:
    """A question of a test; `given` is what somebody answered, where it is known."""

    row: QualificationQuestion
    given: AnswerClass | None = None

    @property
    def text(self) -> str:
        return self.row.question

    @property
    def turns(self) -> list[Turn]:
        return [Turn(turn[QUESTION], turn[ANSWER]) for turn in self.row.history]

    @property
    def is_right(self) -> bool:
        return self.given == self.row.answer_class


def page_of_test(project: Project) -> dict[str, Any]:
    """The test as experts write it: the draft if there is one, else what people take."""
    published, draft = published_test(project), draft_of(project)
    shown = draft or published
    settings = settings_of(project)
    return {
        "project": project,
        "settings": settings,
        "needed_for": labels_of(settings.kinds),
        "published": published,
        "draft": draft,
        "questions": [ShownQuestion(one) for one in shown.questions.all()] if shown else [],
        "begun": _begun(project),
    }


def labels_of(kinds: frozenset[Kind]) -> list[str]:
    """In the order in which kinds of work are listed."""
    return [kind.label for kind in Kind if kind in kinds]


def _begun(project: Project) -> int:
    attempts = QualificationAttempt.objects.filter(project=project)
    return attempts.filter(submitted_at__isnull=True).count()


# The worker -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Needed:
    """What stands between a worker and their work."""

    kinds: frozenset[Kind]
    standing: Standing
    tries: int

    @property
    def sentence(self) -> str:
        return SENTENCES[self.standing.code]

    @property
    def labels(self) -> list[str]:
        return labels_of(self.kinds)

    @property
    def has_begun(self) -> bool:
        return self.standing.code == Code.BEGUN

    @property
    def is_out_of_reach(self) -> bool:
        """No test helps: an admin has to."""
        return self.standing.code in NO_TRY_HELPS


def needed_by(project: Project, worker: User, *, now: datetime) -> Needed | None:
    """None where no work is kept from them."""
    kinds = barred_kinds(project, worker=worker, now=now)
    if not kinds:
        return None
    here = standing(project, worker=worker, now=now)
    return Needed(kinds, here, settings_of(project).most_tries)


def attempt_form(attempt: QualificationAttempt, data: Any = None) -> AttemptForm:
    return AttemptForm(data, attempt=attempt, questions=list(attempt.test.questions.all()))


def attempt_page(attempt: QualificationAttempt, form: AttemptForm) -> dict[str, Any]:
    return {
        "project": attempt.project,
        "attempt": attempt,
        "form": form,
        "rows": [(ShownQuestion(question), field) for question, field in form.rows()],
    }


def result_page(attempt: QualificationAttempt, *, now: datetime) -> dict[str, Any]:
    """What became of a try; with the right answers, and why, when they help in no other try."""
    given = dict(attempt.answers.values_list("question", "answer_class"))
    here = standing(attempt.project, worker=attempt.worker, now=now)
    has_passed = attempt.passed and here.code == Code.QUALIFIED
    return {
        "project": attempt.project,
        "attempt": attempt,
        "questions": [
            ShownQuestion(one, AnswerClass(given[one.pk])) for one in attempt.test.questions.all()
        ],
        "standing": here,
        "sentence": PASSED if has_passed else SENTENCES[here.code],
        "shows_answers": attempt.passed or here.code in ENDS_THE_TRIES,
    }


# The admin --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PersonRow:
    member: Membership
    standing: Standing

    @property
    def label(self) -> str:
        return LABELS[self.standing.code]

    @property
    def has_it(self) -> bool:
        return self.standing.code == Code.QUALIFIED


def person_rows(project: Project, members: list[Membership], *, now: datetime) -> list[PersonRow]:
    here = standings(project, [member.user_id for member in members], now=now)
    return [PersonRow(member, here[member.user_id]) for member in members]
