"""What stands in a work form, where the work itself changes it."""

from datetime import datetime
from typing import Any

from django.db.models import F

from apps.workers.models import Assignment


def replace_draft(assignment: Assignment, content: dict[str, Any], *, now: datetime) -> None:
    """What stands in the form after a step of the work; saves of pages from before are stale."""
    Assignment.objects.filter(pk=assignment.pk).update(
        draft=content, draft_version=F("draft_version") + 1, draft_saved_at=now
    )
