"""First questions: hands out snippets that wait for one, takes questions, replaces them.

Rounds count the submits on a snippet: once a question was sent back by its check, or the snippet
itself was sent back and accepted again, it is new work. A slot that was submitted is held for
ever, so two people who count different rounds cannot get one snippet at once.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from itertools import count
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet

from apps.accounts.models import User
from apps.projects.models import Project
from apps.projects.services import audit
from apps.snippets.errors import (
    QuestionNotAcceptedError,
    SnippetNotWaitingError,
    TreeHasBegunError,
)
from apps.snippets.models import Question, Snippet, SnippetQuerySet
from apps.workers.models import Assignment, KeptText, Kind
from apps.workers.services.leases import Work, lease_first, release_all, return_work
from apps.workers.services.submits import NotTaken, Submitted, submit

State = Question.State
RETURNED = Assignment.State.RETURNED
CHUNK = 50
"""Rows looked at in one go for a free slot: more than people who ask at the same moment."""


def waiting_snippets(project: Project, *, expert: User) -> SnippetQuerySet:
    """Those that wait for a first question, in document order."""
    snippets = Snippet.objects.visible_to(expert).filter(document__project=project)
    return snippets.waiting_for_question().order_by("document", "position")


@transaction.atomic
def take_question(project: Project, *, expert: User, now: datetime) -> Assignment | None:
    """The expert's own open work first, else the next free snippet; None when none is free."""
    lock_expert(expert)
    waiting = waiting_snippets(project, expert=expert)
    return _in_hand(waiting, project, expert, now) or lease_first(
        _works(waiting.free_for(expert)), project=project, worker=expert, now=now
    )


@transaction.atomic
def take_question_on(snippet: Snippet, *, expert: User, now: datetime) -> Assignment | None:
    """This very snippet; None when somebody has it, or it does not wait."""
    lock_expert(expert)
    project = snippet.document.project
    this = waiting_snippets(project, expert=expert).filter(pk=snippet.pk)
    return _in_hand(this, project, expert, now) or lease_first(
        _works(this.free_for(expert)), project=project, worker=expert, now=now
    )


def lock_expert(expert: User) -> None:
    """Two clicks of one person at once: the second sees what the first has taken."""
    # NO KEY: rows that point to the expert can be added meanwhile.
    User.objects.select_for_update(no_key=True).get(pk=expert.pk)


def _in_hand(
    waiting: SnippetQuerySet, project: Project, expert: User, now: datetime
) -> Assignment | None:
    mine = Assignment.objects.of(expert).filter(project=project, kind=Kind.QUESTION)
    keys = waiting.order_by().values("pk")
    return mine.lasting(now).filter(work_id__in=keys).order_by("pk").first()


def _works(snippets: SnippetQuerySet) -> Iterator[Work]:
    # A generator: it looks for snippets only when overdue leases have ended.
    counted: Any = snippets.with_round()
    rows = counted.values_list("pk", "round")
    for start in count(0, CHUNK):
        chunk = list(rows[start : start + CHUNK])
        for key, number in chunk:
            yield Work(Kind.QUESTION, key, round=number)
        if len(chunk) < CHUNK:
            return


# Submits ------------------------------------------------------------------------------------


def submit_question(
    assignment: Assignment, *, text: str, key: str, now: datetime
) -> Submitted | NotTaken:
    """Takes the text as the snippet's question, to be checked where the project wants that.

    Raises SnippetNotWaitingError; then the lease is over, and the text is kept.
    """
    take = partial(_write_question, text=text)
    return _send(assignment, {"text": text}, take, key=key, now=now)


def send_snippet_back(
    assignment: Assignment, *, note: str, text: str, key: str, now: datetime
) -> Submitted | NotTaken:
    """No question can be written on it: to the snippet bench again, with the reason.

    Raises SnippetNotWaitingError, as submit_question does. `text` was typed until then.
    """
    take = partial(_send_back, note=note, text=text)
    return _send(assignment, {"text": text, "note": note}, take, key=key, now=now)


def _send(
    assignment: Assignment, content: dict[str, Any], take: Any, *, key: str, now: datetime
) -> Submitted | NotTaken:
    worker = assignment.worker
    try:
        answer = submit(assignment.pk, worker=worker, key=key, content=content, take=take, now=now)
    except SnippetNotWaitingError:
        end_lost_work(assignment, content, now=now)
        raise
    if isinstance(answer, Submitted) and content["text"] not in {"", answer.outcome.get("text")}:
        # The page of a submit, gone back to and changed: it carries the same key.
        return NotTaken(_keep(assignment, KeptText.Reason.SUBMITTED, content, now), None)
    return without_void_lease(answer, Snippet.objects.waiting_for_question(), now=now)


def _write_question(assignment: Assignment, *, text: str) -> dict[str, Any]:
    project, author = assignment.project, assignment.worker
    snippet = _locked_snippet(assignment)
    state = State.PROPOSED if project.question_checks else State.ACCEPTED
    question = Question.objects.create(
        snippet=snippet, text=text, state=state, created_by=author, assignment=assignment
    )
    audit.record(author, "write question", question, project=project)
    return {"question": question.pk, "state": state.value, "text": text}


def _send_back(assignment: Assignment, *, note: str, text: str) -> dict[str, Any]:
    snippet = _locked_snippet(assignment)
    snippet.state, snippet.sent_back_note = Snippet.State.PROPOSED, note
    snippet.settled_at = snippet.settled_by = None
    snippet.save(update_fields=["state", "sent_back_note", "settled_at", "settled_by"])
    audit.record(
        assignment.worker, "send snippet back", snippet, project=assignment.project, note=note
    )
    return {"sent_back": snippet.pk, "text": text}


def _locked_snippet(assignment: Assignment) -> Snippet:
    # Locked before it is looked at: a condition beside the lock would see the questions of before.
    snippet = Snippet.objects.select_for_update().filter(pk=assignment.work_id).first()
    waiting = Snippet.objects.waiting_for_question().filter(pk=assignment.work_id)
    if snippet is None or not waiting.exists():
        raise SnippetNotWaitingError
    return snippet


# Ends without a question --------------------------------------------------------------------


@transaction.atomic
def skip(assignment: Assignment, *, reason: str, draft: dict[str, str], now: datetime) -> bool:
    """Gives the work back; what was typed stays with it. False: the lease had ended.

    Sent twice, it counts once and answers the same.
    """
    this = Assignment.objects.select_for_update(of=("self",)).get(pk=assignment.pk)
    draft = draft if any(text.strip() for text in draft.values()) else this.draft
    if (this.state, this.return_reason, this.draft) == (RETURNED, reason, draft):
        return True
    if this.draft != draft:
        leased = Assignment.objects.leased().filter(pk=assignment.pk)
        newer = {"draft_version": F("draft_version") + 1, "draft_saved_at": now}
        if not leased.update(draft=draft, **newer):
            _keep(assignment, KeptText.Reason.LEASE_ENDED, draft, now)
    return return_work(assignment, reason=reason, now=now)


@transaction.atomic
def end_lost_work(assignment: Assignment, content: dict[str, Any], *, now: datetime) -> None:
    """What was worked on does not wait any more: the lease ends, what was typed is kept."""
    _keep(assignment, KeptText.Reason.LEASE_ENDED, content, now)
    _release(assignment, now)


def without_void_lease(
    answer: Submitted | NotTaken, waiting: QuerySet[Any], *, now: datetime
) -> Submitted | NotTaken:
    """Work that was taken again because its slot was free, though it waits for nobody any more."""
    if isinstance(answer, Submitted) or answer.again is None:
        return answer
    if waiting.filter(pk=answer.again.work_id).exists():
        return answer
    _release(answer.again, now)
    return NotTaken(answer.kept, None)


def _release(assignment: Assignment, now: datetime) -> None:
    leased = Assignment.objects.leased().filter(pk=assignment.pk)
    release_all(leased, actor=None, now=now, reason="waits for nobody any more")


def _keep(
    assignment: Assignment, reason: KeptText.Reason, content: dict[str, Any], now: datetime
) -> KeptText:
    return KeptText.objects.create(
        assignment=assignment, reason=reason, content=content, kept_at=now
    )


# Another wording ----------------------------------------------------------------------------


@transaction.atomic
def replace_question(question: Question, *, text: str, expert: User) -> Question:
    """The text in place of an accepted question, which is kept. Checked like any other.

    Raises QuestionNotAcceptedError, and TreeHasBegunError: a tree answers one wording.
    """
    # The lock also holds back a tree that is about to begin: its row would refer to this one.
    this = Question.objects.filter(pk=question.pk)
    this.select_for_update().get()
    if this.filter(tree__isnull=False).exists():
        raise TreeHasBegunError
    if not this.filter(state=State.ACCEPTED).update(state=State.REPLACED):
        raise QuestionNotAcceptedError
    project = question.snippet.document.project
    state = State.PROPOSED if project.question_checks else State.ACCEPTED
    new = Question.objects.create(
        snippet=question.snippet, text=text, state=state, created_by=expert
    )
    audit.record(
        expert, "replace question", new, project=project, changes={"text": [question.text, text]}
    )
    return new
