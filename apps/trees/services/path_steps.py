"""A worker's steps on their path, together with what stands in the field for the next question.

Each returns the lease that the walk goes on in: another one when the first had run out. They raise
what `walks` raises; then nothing has changed but for what was kept.
"""

from datetime import datetime

from django.db import transaction

from apps.snippets.domain.folding import fold
from apps.trees.domain.tree import Answer
from apps.trees.models import PathStep
from apps.trees.services.walks import agree, ask, give_final_answer, hold, undo
from apps.workers.models import Assignment, KeptText
from apps.workers.services.drafts import replace_draft
from apps.workers.services.submits import keep_text


def agree_with_all(assignment: Assignment, *, now: datetime) -> Assignment:
    """All turns so far are right."""
    return agree(assignment, now=now)


def ask_question(
    assignment: Assignment, *, position: int, text: str, span: tuple[int, int] | None,
    now: datetime,
) -> Assignment:  # fmt: skip
    """Asks; the field is empty for the next question."""
    step = ask(assignment, position=position, text=text, span=span, now=now)
    replace_draft(step.assignment, {}, now=now)
    return step.assignment


def answer_path(
    assignment: Assignment, *, position: int, answer: Answer, text: str, now: datetime
) -> Assignment:
    """Gives the final answer. What stood in the field is there again when it is taken back."""
    step = give_final_answer(assignment, position=position, answer=answer, now=now)
    if fold(text):
        replace_draft(step.assignment, {"text": text}, now=now)
    return step.assignment


def undo_turn(assignment: Assignment, *, position: int, text: str, now: datetime) -> Assignment:
    """Takes the last turn back. A question stands in the field again; what stood there is kept."""
    step = undo(assignment, position=position, now=now)
    if not step.is_final:
        if fold(text) and fold(text) != fold(step.text):
            keep_text(step.assignment, KeptText.Reason.STALE_DRAFT, {"text": text}, now)
        replace_draft(step.assignment, _draft_of(step), now=now)
    return step.assignment


def _draft_of(step: PathStep) -> dict[str, str]:
    span = "" if step.span_start is None else f"{step.span_start}-{step.span_end}"
    return {"text": step.text, "span": span}


@transaction.atomic
def go_on_again(assignment: Assignment, *, now: datetime) -> Assignment:
    """Takes the work of a lease that ran out again, with its turns. Raises LeaseEndedError."""
    return hold(assignment, now=now)
