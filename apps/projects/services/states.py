"""Moves rows from state to state, by the table of their model, and logs each step.

A model with states has `TRANSITIONS`: state -> the states that may follow. Where its project is
not a field of its own, `PROJECT_PATH` says the way.
"""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Model, QuerySet

from apps.accounts.models import User
from apps.projects.models import StateChange

AT_ONCE = 500
"""Rows changed by one statement: SQLite takes a limited number of variables."""


@transaction.atomic(savepoint=False)  # nobody goes on when it fails half-way
def move(
    rows: QuerySet[Any], to: str, *, actor: User | None, now: datetime, reason: str = "",
    **values: Any,
) -> int:  # fmt: skip
    """Those of `rows` that may go to the state go there, with `values`; returns how many."""
    model: Any = rows.model
    sources = [state for state, targets in model.TRANSITIONS.items() if to in targets]
    path = getattr(model, "PROJECT_PATH", "project_id")
    held = rows.filter(state__in=sources).order_by("pk").select_for_update(of=("self",))
    found = list(held.values_list("pk", "state", path))
    for start in range(0, len(found), AT_ONCE):
        some = found[start : start + AT_ONCE]
        model.objects.filter(pk__in=[key for key, _, _ in some]).update(state=to, **values)
        StateChange.objects.bulk_create(
            StateChange(
                project_id=project, object_type=model._meta.model_name, object_id=key,
                from_state=state, to_state=to, actor=actor, reason=reason, at=now,
            )
            for key, state, project in some
        )  # fmt: skip
    return len(found)


def began(row: Model, *, project_id: int, actor: User | None, now: datetime) -> None:
    """Logs the state that a new row begins in."""
    StateChange.objects.create(
        project_id=project_id, object_type=row._meta.model_name or "", object_id=row.pk,
        to_state=row.state, actor=actor, at=now,  # type: ignore[attr-defined]
    )  # fmt: skip
