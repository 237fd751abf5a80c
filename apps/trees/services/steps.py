"""The turns of a walk that is not submitted yet, as its lease ends and is taken again."""

from django.db.models import QuerySet

from apps.trees.models import PathStep
from apps.trees.services.open_work import PathWork
from apps.workers.models import Assignment, Kind


def work_of(lease: Assignment) -> PathWork:
    return PathWork(Kind.PATH, lease.work_id, lease.part, lease.round)


def carry_steps(lease: Assignment, again: Assignment) -> None:
    """The turns of a lease that ran out go on in the new one; carried before, they stay there."""
    if again.path_steps.exists():
        return
    for step in lease.path_steps.standing():
        step.pk, step._state.adding, step.assignment = None, True, again
        step.save()


def typed_in(steps: QuerySet[PathStep]) -> dict[str, str]:
    """The turns as texts by name, to be kept and shown."""
    return {f"turn {step.position + 1}": f"{step.text} {step.answer}".strip() for step in steps}
