"""What an expert does about a question that was flagged: prune, settle with an answer, or keep."""

from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.projects.services import audit, states
from apps.trees.domain.tree import Answer
from apps.trees.errors import FlagSettledError
from apps.trees.models import Cut, Flag, FlagQuerySet, Node
from apps.trees.services.cuts import put_answer, take_out
from apps.trees.services.open_work import lock_tree
from apps.trees.services.seen import refuse_changed

State = Flag.State
REASONS = {
    Flag.Kind.ONE_ANSWER: "Redundant: the same answer on both sides",
    Flag.Kind.SAME_BRANCHES: "Redundant: both sides go on in the same way",
    Flag.Kind.ASKED_TWICE: "Asked before on its path",
    Flag.Kind.NEAR: "Nearly the same as a question before it",
}


@transaction.atomic
def prune(flag: Flag, *, seen: str, expert: User | None, reason: str, now: datetime) -> Cut:
    """Takes the question and all below it out; the branch is annotated anew.

    `seen` is the fingerprint of what goes, as the page showed it; "" takes what is there. Raises
    FlagSettledError or TreeChangedError; so do the others here.
    """
    node = _held(flag, seen)
    reason = reason or REASONS[Flag.Kind(flag.kind)]
    _move(flag, State.PRUNED, expert=expert, reason=reason, now=now)
    return take_out(node, kind=Cut.Kind.PRUNED, actor=expert, reason=reason, now=now)


@transaction.atomic
def settle(
    flag: Flag, answer: Answer, *, seen: str, expert: User, reason: str, now: datetime
) -> Cut:
    """The final answer takes the place of the question and of all below it."""
    node = _held(flag, seen)
    reason = reason or REASONS[Flag.Kind(flag.kind)]
    _move(flag, State.SETTLED, expert=expert, reason=reason, now=now)
    cut, _ = put_answer(node, answer, actor=expert, reason=reason, now=now)
    return cut


@transaction.atomic
def keep(flag: Flag, *, seen: str, expert: User, reason: str, now: datetime) -> None:
    """The question stays as it is, and is not asked about again."""
    node = _held(flag, seen)
    _move(flag, State.KEPT, expert=expert, reason=reason, now=now)
    audit.record(expert, "keep question", node, project=node.tree.project, reason=reason)


def _held(flag: Flag, seen: str) -> Node:
    """The question of a flag that is still open, with its tree locked."""
    lock_tree(flag.tree_id)
    node = Node.objects.select_related("tree__project", "parent").get(pk=flag.node_id)
    if not Flag.objects.open().filter(pk=flag.pk).exists():
        raise FlagSettledError
    if seen:
        refuse_changed(node, seen)
    return node


def _move(flag: Flag, to: State, *, expert: User | None, reason: str, now: datetime) -> None:
    end_flags(Flag.objects.filter(pk=flag.pk), to, actor=expert, reason=reason, now=now)


def end_flags(
    flags: FlagQuerySet, to: State, *, actor: User | None, reason: str, now: datetime
) -> None:
    """The flags go to the state, with who said so and why. Their trees are locked."""
    said: dict[str, Any] = {"settled_by": actor, "settled_at": now}
    flags.update(reason=reason)  # before the state: a kept question says why
    states.move(flags, to, actor=actor, now=now, reason=reason, **said)
