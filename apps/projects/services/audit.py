"""The log of who did what. Call it inside the transaction of the change itself."""

from typing import Any

from django.db.models import Model

from apps.accounts.models import User
from apps.projects.models import AuditEvent, Project


def record(
    actor: User | None, action: str, changed: Model, *, project: Project | None, **details: Any
) -> AuditEvent:
    """Adds one row: `actor` (None: the studio itself) did `action` to `changed`."""
    return AuditEvent.objects.create(
        project=project,
        actor=actor,
        action=action,
        object_type=changed._meta.model_name or "",
        object_id=str(changed.pk),
        details=details,
    )
