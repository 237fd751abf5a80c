"""The audit log as people read it."""

import json
from dataclasses import dataclass
from typing import Any

from apps.accounts.models import User
from apps.projects.models import AuditEvent, Project, Role, Step


@dataclass(frozen=True)
class Entry:
    """One event in words; `changes` are (field, old, new)."""

    event: AuditEvent
    subject: str
    details: list[tuple[str, str]]
    changes: list[tuple[str, str, str]]


def explain(events: list[AuditEvent]) -> list[Entry]:
    """Each event with names for the numbers it holds. One query."""
    people = User.objects.in_bulk({pk for event in events if (pk := _person_in(event))})
    return [_entry(event, people.get(_person_in(event) or 0)) for event in events]


def _person_in(event: AuditEvent) -> int | None:
    if event.object_type == "user":
        return int(event.object_id)
    person = event.details.get("user")
    return person if isinstance(person, int) else None


def _entry(event: AuditEvent, person: User | None) -> Entry:
    details: dict[str, Any] = dict(event.details)
    for named_already in ("user", "step"):
        details.pop(named_already, None)
    changes: dict[str, list[Any]] = details.pop("changes", {})
    return Entry(
        event=event,
        subject=_subject(event, person),
        details=[(_words(name), _value(value)) for name, value in details.items()],
        changes=[(_words(name), _value(old), _value(new)) for name, (old, new) in changes.items()],
    )


def _subject(event: AuditEvent, person: User | None) -> str:
    if person is not None:
        return str(person)
    if event.object_type == "project":
        return "the project"
    if event.object_type == "guideline":
        return Step(event.details["step"]).label
    return f"{event.object_type} {event.object_id}"


def _value(value: Any) -> str:
    labels = {choice.value: choice.label for choice in [*Role, *Project.LongLists]}
    return str(labels.get(value, value)) if isinstance(value, str) else json.dumps(value)


def _words(name: str) -> str:
    return name.replace("_", " ")
