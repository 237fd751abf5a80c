"""What an expert decides about an utterance: accept it, correct it, drop it, think again.

Each step says which version the expert has seen, and is one conditional update: of two experts at
once the second gets a sentence, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef

from apps.accounts.models import User
from apps.projects.services import states
from apps.scenarios.domain.consistency import Inconsistency, InconsistencyReason
from apps.scenarios.domain.corrections import Parts
from apps.scenarios.domain.expansion import content_of
from apps.scenarios.domain.fingerprint import fingerprint
from apps.scenarios.errors import (
    CorrectionBegunError,
    DoesNotFollowError,
    EvidenceOfNothingError,
    NoScenarioHereError,
    SaidAlreadyError,
    SameAsBeforeError,
    StaysIrrelevantError,
    TreeChangedMeanwhileError,
    UtteranceChangedError,
    UtteranceNotInForceError,
)
from apps.scenarios.models import Correction, Finding, Utterance, UtteranceQuerySet
from apps.scenarios.services.correction_drafts import begun_by, forget_correction_draft
from apps.scenarios.services.proof import (
    end_waivers,
    find_inconsistency,
    prove_utterance,
    waive,
)
from apps.trees.domain import tree as domain
from apps.trees.models import Tree

State, Kind = Utterance.State, Utterance.Kind

REASONS = {
    InconsistencyReason.UNKNOWN_QUESTION: "It has a question that its tree does not ask.",
    InconsistencyReason.CONTRADICTS: (
        "Its turns contradict each other, or the tree ends in another final answer."
    ),
    InconsistencyReason.ASKS_KNOWN_FACT: (
        "It asks what its history or its evidence has already answered."
    ),
    InconsistencyReason.DECIDES_EARLY: "It passes over a question that the tree still asks.",
    InconsistencyReason.OPEN_BRANCH: "The tree goes no further here yet.",
    InconsistencyReason.NO_SCENARIO: "It has evidence, and no scenario that says so.",
}


@transaction.atomic
def accept(utterance: Utterance, *, seen: int, by: User, now: datetime, why: str = "") -> None:
    """The utterance is right as it is. One whose answer does not follow needs `why` it stays.

    Raises CorrectionBegunError, DoesNotFollowError and UtteranceChangedError.
    """
    held = _hold(utterance, seen)
    _refuse_begun(held, by)
    found = _inconsistency(held, held.parts)
    if found and not why and not _is_waived(held, found):
        raise _does_not_follow(found)
    moved = states.move(
        _row(held), State.ACCEPTED, actor=by, now=now, **_verified(by, now)
    )  # fmt: skip
    if not moved:
        raise UtteranceChangedError(_what_happened(held))
    _settle(held, why if found else "", by=by, now=now)


@transaction.atomic
def keep(utterance: Utterance, *, seen: int, by: User, now: datetime, why: str = "") -> None:
    """It stays as it is though its tree no longer gives it; from then on it is by hand.

    Raises CorrectionBegunError, DoesNotFollowError and UtteranceChangedError.
    """
    held = _hold(utterance, seen)
    _refuse_begun(held, by)
    if held.gone_at is None:
        raise UtteranceChangedError(_what_happened(held))
    found = _inconsistency(held, held.parts)
    if found and not why and not _is_waived(held, found):
        raise _does_not_follow(found)
    _row(held).update(
        gone_at=None, origin=Utterance.Origin.HAND, node=_node(held.tree, held.parts),
        version=F("version") + 1,
    )  # fmt: skip
    # One that came in a file has been verified by nobody here until now.
    states.move(_row(held), State.ACCEPTED, actor=by, now=now, verified_by=by, verified_at=now)
    _settle(held, why if found else "", by=by, now=now)


@transaction.atomic
def correct(
    utterance: Utterance, parts: Parts, *, seen: int, by: User, now: datetime, why: str = ""
) -> None:
    """Changes what the utterance says; what it said before is kept as a `Correction`.

    Its id stays. An id names a problem that people may have cited, and does not follow its text:
    of the official dev set's ids 250 no longer are the SHA-1 of their content, because they were
    corrected afterwards. It is also how the expansion knows that the utterance is here: the rule
    gives the same id for what it was made as. So ids are content where nobody has changed it.

    An answer that does not follow needs `why` it stays. Raises DoesNotFollowError,
    SameAsBeforeError, SaidAlreadyError, NoScenarioHereError, StaysIrrelevantError,
    UtteranceNotInForceError and UtteranceChangedError.
    """
    held = _hold(utterance, seen)
    if not held.is_in_force:
        raise UtteranceNotInForceError
    before = held.parts
    if parts == before:
        raise SameAsBeforeError
    _refuse_another_kind(held, parts)
    _refuse_twins(held, parts)
    found = _inconsistency(held, parts)
    if found and not why:
        raise _does_not_follow(found)
    _row(held).update(
        **parts.as_json(),
        answer_class=Utterance.class_of(parts.answer),
        origin=Utterance.Origin.HAND,
        node=_node(held.tree, parts),
        gone_at=None,
        as_imported="",
        **_verified(by, now),
    )
    states.move(_row(held), State.CORRECTED, actor=by, now=now)
    Correction.objects.create(
        utterance=held, before=before.as_json(), after=parts.as_json(), by=by, at=now
    )
    forget_correction_draft(held, by=by)
    end_waivers([held], by=by, now=now)
    _settle(held, why if found else "", by=by, now=now)


@transaction.atomic
def drop(utterance: Utterance, *, reason: str, seen: int, by: User, now: datetime) -> None:
    """Leaves it out of the dataset. The row stays, so that no expansion brings it back."""
    held = _hold(utterance, seen)
    moved = states.move(
        _row(held), State.DROPPED, actor=by, now=now, reason=reason, dropped_reason=reason,
        gone_at=None, **_verified(by, now),
    )  # fmt: skip
    if not moved:
        raise UtteranceChangedError(_what_happened(held))
    end_waivers([held], by=by, now=now)
    _settle(held, "", by=by, now=now)


@transaction.atomic
def reopen(utterance: Utterance, *, seen: int, by: User, now: datetime) -> None:
    """What was accepted or dropped is to be verified again."""
    held = _hold(utterance, seen)
    moved = states.move(
        _row(held).exclude(state=State.TAKEN_OUT), State.TO_VERIFY, actor=by, now=now,
        verified_by=None, verified_at=None, dropped_reason="", version=F("version") + 1,
    )  # fmt: skip
    if not moved:
        raise UtteranceChangedError(_what_happened(held))
    _settle(held, "", by=by, now=now)


# All of a tree -------------------------------------------------------------------------------


def open_of_tree(tree: Tree, *, by: User) -> list[Utterance]:
    """Those that one click may accept: to be verified, with an answer that follows, and with no
    correction that this expert has begun."""
    shape = tree.to_domain()
    waiting = Utterance.objects.filter(tree=tree, gone_at__isnull=True).to_verify()
    waiting = waiting.exclude(Exists(begun_by(by).filter(utterance=OuterRef("pk"))))
    return [
        row
        for row in waiting.in_reading_order()
        if find_inconsistency(shape, row.kind, row.parts) is None
    ]


def seen_of(utterances: Sequence[Utterance]) -> str:
    """What an expert has looked at, in short: another set, or other versions, give another."""
    return fingerprint(sorted([one.pk, one.version] for one in utterances))


@transaction.atomic
def accept_tree(tree: Tree, *, seen: str, by: User, now: datetime) -> int:
    """Accepts what the expert has seen of the tree; returns how many.

    Raises TreeChangedMeanwhileError when that is not what is there now.
    """
    Tree.objects.select_for_update(of=("self",), no_key=True).get(pk=tree.pk)
    rows = open_of_tree(tree, by=by)
    if not rows or seen_of(rows) != seen:
        raise TreeChangedMeanwhileError
    accepted = 0
    for start in range(0, len(rows), states.AT_ONCE):
        keys = [row.pk for row in rows[start : start + states.AT_ONCE]]
        accepted += states.move(
            Utterance.objects.filter(pk__in=keys), State.ACCEPTED, actor=by, now=now,
            **_verified(by, now),
        )  # fmt: skip
    return accepted


# Parts of the steps --------------------------------------------------------------------------


def _hold(utterance: Utterance, seen: int) -> Utterance:
    """The row as it is now, locked; raises UtteranceChangedError when it is not as it was seen."""
    rows = Utterance.objects.select_for_update(of=("self",), no_key=True)
    held = rows.select_related("tree", "project", "verified_by").get(pk=utterance.pk)
    if held.version != seen:
        raise UtteranceChangedError(_what_happened(held))
    return held


def _row(held: Utterance) -> UtteranceQuerySet:
    return Utterance.objects.filter(pk=held.pk)


def _verified(by: User, now: datetime) -> dict[str, Any]:
    return {"verified_by": by, "verified_at": now, "version": F("version") + 1}


def _what_happened(held: Utterance) -> str:
    """In words, who did what: the beginning of a sentence."""
    if held.verified_by is None:
        return ""
    return f"{held.verified_by} has {held.get_state_display().lower()} this utterance"


def _refuse_begun(held: Utterance, by: User) -> None:
    if begun_by(by).filter(utterance=held).exists():
        raise CorrectionBegunError


def _inconsistency(held: Utterance, parts: Parts) -> Inconsistency | None:
    return find_inconsistency(held.tree.to_domain(), held.kind, parts)


def _is_waived(held: Utterance, found: Inconsistency) -> bool:
    in_force = held.waived.filter(ended_at__isnull=True, waiver__reason=found.reason.value)
    return in_force.exists()


def _does_not_follow(found: Inconsistency) -> DoesNotFollowError:
    return DoesNotFollowError(REASONS[found.reason], found.expected)


def _node(tree: Tree, parts: Parts) -> Any:
    """The node that the history leads to, if there is one."""
    key = getattr(domain.walk(tree.to_domain(), parts.history), "key", None)
    return tree.nodes.filter(pk=key).first() if key else None


def _refuse_another_kind(held: Utterance, parts: Parts) -> None:
    if held.kind == Kind.PLAIN and parts.scenario:
        raise NoScenarioHereError
    if parts.evidence and not parts.scenario:
        raise EvidenceOfNothingError
    is_irrelevant = parts.answer == Utterance.AnswerClass.IRRELEVANT.label
    if held.kind == Kind.NEGATIVE_QUESTION and not is_irrelevant:
        raise StaysIrrelevantError


def _refuse_twins(held: Utterance, parts: Parts) -> None:
    same_words = Utterance.objects.in_force().filter(
        tree=held.tree, question=held.question, scenario=parts.scenario,
    )  # fmt: skip
    content = content_of(parts.history, parts.evidence, parts.answer)
    for other in same_words.exclude(pk=held.pk):
        twin = other.parts
        if content_of(twin.history, twin.evidence, twin.answer) == content:
            raise SaidAlreadyError(other.utterance_id)


def _settle(held: Utterance, why: str, *, by: User, now: datetime) -> None:
    """Brings its finding in line, and waives it if the expert said why."""
    held.refresh_from_db()
    finding = prove_utterance(held, held.tree.to_domain())
    own = Finding.objects.filter(utterance=held)
    if why and finding and own.open().exists():
        waive(own, reason=finding.reason, number=1, why=why, by=by, now=now)
