"""Drafts of corrections: an older one never overwrites a newer one, and none is lost.

They follow the drafts of other work (workers/services/submits.py), but hang on an utterance: an
expert has no lease on it, and it may change while they type.
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.scenarios.domain.corrections import Parts
from apps.scenarios.models import CorrectionDraft, Utterance
from apps.workers.errors import StaleDraftError

MOST_ASIDE = 5


def save_correction_draft(
    utterance: Utterance, *, by: User, seen: int, version: int, content: dict[str, str],
    parts: Parts | None, now: datetime,
) -> bool:  # fmt: skip
    """Keeps what the expert has typed; False: the utterance is not any more what they have `seen`.

    `parts` is what the typed would make of it, if anything: what says nothing new is no draft.
    Raises StaleDraftError when a newer draft is here; then this one is kept aside.
    """
    is_current = seen == utterance.version
    mine = CorrectionDraft.objects.filter(utterance=utterance, by=by)
    is_bare = not content.get("part-why")
    if is_bare and parts is not None and _is_said(utterance, by, parts, is_current=is_current):
        if is_current:
            mine.filter(version__lt=version, aside=[]).delete()
        return is_current
    fields = {"seen": seen, "content": content, "version": version, "saved_at": now}
    draft, is_new = CorrectionDraft.objects.get_or_create(
        utterance=utterance, by=by, defaults=fields
    )
    if not is_new and not mine.filter(version__lt=version).update(**fields):
        draft.refresh_from_db()
        if (draft.version, draft.content) != (version, content):
            _put_aside(draft, content)
            raise StaleDraftError(draft.version, draft.content)
    return is_current


def begun_by(expert: User) -> QuerySet[CorrectionDraft]:
    """What they have begun to correct. A draft of what was dropped is kept, and comes back when
    the utterance is put back."""
    gone = [Utterance.State.DROPPED, Utterance.State.TAKEN_OUT]
    return CorrectionDraft.objects.filter(by=expert).exclude(utterance__state__in=gone)


def forget_correction_draft(utterance: Utterance, *, by: User) -> None:
    """The correction was made, or the expert has thrown it away."""
    CorrectionDraft.objects.filter(utterance=utterance, by=by).delete()


def _is_said(utterance: Utterance, by: User, parts: Parts, *, is_current: bool) -> bool:
    """Whether the utterance says so, or this expert has made it say so: their browser may send
    its copy once more, long after the correction."""
    if is_current:
        return parts == utterance.parts
    mine = utterance.corrections.filter(by=by).values_list("after", flat=True)
    return parts in {Parts.from_json(after) for after in mine}


def _put_aside(draft: CorrectionDraft, content: dict[str, str]) -> None:
    if content not in draft.aside:
        CorrectionDraft.objects.filter(pk=draft.pk).update(
            aside=[content, *draft.aside][:MOST_ASIDE]
        )
