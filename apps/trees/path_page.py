"""What workers see of a path, of a turn in dispute, and of work that is over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from apps.accounts.models import User
from apps.projects import markdown
from apps.projects.models import Guideline, Project, StateChange, Step
from apps.snippets.models import Snippet
from apps.trees.domain.places import answers_on
from apps.trees.domain.spans import mark_positions
from apps.trees.models import Node
from apps.trees.path_forms import AskForm, KeyForm, ReasonForm, RejectForm
from apps.trees.services.cuts import RESTORED, TAKEN_OUT
from apps.trees.services.walks import Walk
from apps.workers.forms import ReturnForm
from apps.workers.models import WORKER_KINDS, Assignment, KeptText, Kind
from apps.workers.services.qualification import barred_kinds

WEEK = timedelta(days=7)
DONE_SHOWN = 50
RETURN_REASONS = (
    "I do not understand this rule.",
    "I know too little about the subject.",
    "I have no time for it now.",
)

State = Assignment.State
ENDED = {
    State.SUBMITTED: "You have submitted this work already, perhaps in another window.",
    State.RETURNED: "You gave this work back, so somebody else does it.",
    State.EXPIRED: "The time for this work ran out before it was submitted.",
    State.RELEASED: "This work is no longer yours: an admin took it back.",
}
GONE = "Turns that you went on from were taken out meanwhile, so this work is no longer wanted."
CHECK_GONE = "This turn was taken out meanwhile, so nobody has to look at it any more."
VOID = {
    TAKEN_OUT: GONE,
    RESTORED: "What stood on this branch before is back in its place, so this work is no longer "
    "wanted.",
    "the turn stands": "Enough people have found this turn right, so no more have to look at it.",
}


@dataclass(frozen=True)
class ShownTurn:
    """A follow-up question and what the user answered; `node` where it is in the tree."""

    question: str
    answer: str
    is_own: bool
    node: Node | None = None


class PathPage:
    """The page of a walk. Its forms are those that came back refused, or else fresh ones."""

    def __init__(self, work: Assignment, **refused: Any) -> None:
        self.work = work
        self.walk = Walk(work)
        self._refused = refused

    @property
    def phase(self) -> str:
        """What the worker does now: check, ask, answer (only that: the depth limit) or end."""
        if self.walk.needs_check:
            return "check"
        if self.walk.final is not None:
            return "end"
        return "ask" if self.walk.may_ask else "answer"

    @property
    def turns(self) -> Iterator[ShownTurn]:
        for turn in self.walk.history:
            yield ShownTurn(turn.node.text, turn.answer, turn.is_own, turn.node)
        for step in self.walk.steps:
            if not step.is_final:
                yield ShownTurn(step.text, step.answer, is_own=True)

    @property
    def others(self) -> list[ShownTurn]:
        """What can be rejected."""
        return [turn for turn in self.turns if turn.node and not turn.is_own]

    @property
    def ask_form(self) -> AskForm:
        fresh = AskForm(rule_text=self.snippet.text, initial=self.work.draft)
        return self._refused.get("ask_form") or fresh

    @property
    def reject_form(self) -> RejectForm:
        keys = [turn.node.pk for turn in self.others if turn.node]
        chosen = {"turn": keys[0]} if len(keys) == 1 else {}
        fresh = RejectForm(turns=keys, initial={**chosen, **self.work.draft})
        return self._refused.get("reject_form") or fresh

    @property
    def refusal(self) -> str:
        return str(self._refused.get("refusal", ""))

    @property
    def answer_position(self) -> int:
        """The number of the step that a final answer is, or would be."""
        return self.walk.position - (self.walk.final is not None)

    @property
    def last_position(self) -> int:
        """The number of the turn that can be taken back."""
        return self.walk.position - 1

    @property
    def snippet(self) -> Snippet:
        return self.walk.tree.question.snippet

    def context(self) -> dict[str, Any]:
        return {
            **_around(self.work, self.snippet, Step.TREES),
            "page": self,
            "walk": self.walk,
            "question": self.walk.tree.question,
            "key_form": KeyForm(),
            "return_form": ReturnForm(),
            "return_reasons": RETURN_REASONS,
            "done_this_week": done_since(
                self.work.project, self.work.worker, self.work.leased_at - WEEK
            ),
        }


def check_page(work: Assignment, *, form: ReasonForm | None = None) -> dict[str, Any]:
    """The page of a turn in dispute: the conversation up to it, without what others said of it."""
    node = Node.objects.select_related("tree__question__snippet__document").get(pk=work.work_id)
    above = Node.objects.live().filter(tree=node.tree).on_path_to(node.place[:-1])
    turns = zip(above if node.place else [], answers_on(node.place), strict=False)
    return {
        **_around(work, node.tree.question.snippet, Step.CHECKS),
        "node": node,
        "question": node.tree.question,
        "turns": [
            ShownTurn(turn.text, answer, turn.created_by_id == work.worker_id, turn)
            for turn, answer in turns
        ],
        "form": form or ReasonForm(initial=work.draft),
        "key_form": KeyForm(),
        "return_form": ReturnForm(),
        "return_reasons": RETURN_REASONS,
    }


def _around(work: Assignment, snippet: Snippet, step: Step) -> dict[str, Any]:
    guideline = Guideline.objects.filter(project=work.project, step=step).first()
    return {
        "project": work.project,
        "assignment": work,
        "snippet": snippet,
        "rule": rule_with_positions(snippet.text),
        "guideline": guideline,
        "drafts_done": done_lately(work.worker),
    }


def rule_with_positions(text: str) -> SafeString:
    """The rule text, in which span.js finds what was selected."""
    placed = mark_positions(markdown.render(text), text)
    return mark_safe(placed)  # noqa: S308 - sanitised before, and the texts in it are escaped.


def done_since(project: Project, worker: User, since: datetime) -> int:
    """How many pieces of work the worker has submitted since then."""
    mine = Assignment.objects.filter(project=project, worker=worker, kind__in=WORKER_KINDS)
    return mine.filter(state=State.SUBMITTED, ended_at__gte=since).count()


def done_lately(worker: User) -> list[int]:
    """Work whose submit has arrived: the browser's copies of it may go."""
    mine = Assignment.objects.filter(worker=worker, state__in=[State.SUBMITTED, State.RETURNED])
    return list(mine.order_by("-pk").values_list("pk", flat=True)[:DONE_SHOWN])


# Work that is over ------------------------------------------------------------------------------


def ended_page(work: Assignment, *, now: datetime) -> dict[str, Any]:
    """Why the work is over, and what was typed and not taken. `again_address`: where its worker
    goes on with it, if it is free."""
    state = State(work.state)
    if state == State.LEASED and work.expires_at <= now:
        state = State.EXPIRED  # the periodic task has not been by
    return {
        "project": work.project,
        "assignment": work,
        "why": _why_ended(work, state),
        "is_barred": state == State.EXPIRED and is_barred(work, now=now),
        "again_address": again_address(work, state, "trees:path_again", Kind.PATH, now=now),
        "typed": list(dict.fromkeys(_typed(work, state))),
        "drafts_done": done_lately(work.worker),
    }


def is_barred(work: Assignment, *, now: datetime) -> bool:
    """Whether the worker has lost the qualification that it needs."""
    return work.kind in barred_kinds(work.project, worker=work.worker, now=now)


def again_address(work: Assignment, state: State, name: str, kind: Kind, *, now: datetime) -> str:
    """The address of this name, for work of this kind whose time ran out."""
    if state != State.EXPIRED or work.kind != kind or is_barred(work, now=now):
        return ""
    return reverse(name, args=[work.project.slug, work.pk])


def _why_ended(work: Assignment, state: State) -> str:
    if state != State.RELEASED:
        return ENDED[state]
    steps = StateChange.objects.filter(object_type="assignment", object_id=work.pk)
    last = steps.filter(to_state=state).last()
    reason = last.reason if last else ""
    if reason == TAKEN_OUT and work.kind == Kind.NODE_CHECK:
        return CHECK_GONE
    return VOID.get(reason, ENDED[state])


def _typed(work: Assignment, state: State) -> Iterator[str]:
    """The texts of its turns, of its field, and what came too late."""
    if state != State.SUBMITTED:
        yield from work.path_steps.standing().exclude(text="").values_list("text", flat=True)
        yield from _texts(work.draft)
    for kept in work.kept_texts.exclude(reason=KeptText.Reason.RETURNED):
        yield from _texts({name: text for name, text in kept.content.items() if " " not in name})


def _texts(content: dict[str, str]) -> Iterator[str]:
    """Of the fields of a work form, those in which people write."""
    for name in ("text", "question", "note"):
        if content.get(name, "").strip():
            yield content[name]
