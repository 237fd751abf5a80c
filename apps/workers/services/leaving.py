"""What becomes of the work in hand of who leaves a project, or gets another role in it."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.projects.models import Membership, Project, Role
from apps.workers.models import WORKER_KINDS, Assignment
from apps.workers.services.leases import release_work


def free_work(project: Project, *, worker: User, actor: User | None, now: datetime) -> int:
    """Releases what the person may not do (any more), and keeps what was typed; how many."""
    # One by one: who holds several leases could wait for somebody in a circle.
    held = _not_theirs(project, worker)
    return sum(release_work(lease, actor=actor, now=now) for lease in held)


@transaction.atomic
def _not_theirs(project: Project, worker: User) -> list[Assignment]:
    # Whoever takes work has the person's row: after this, they take as who they are now.
    User.objects.select_for_update(no_key=True).get(pk=worker.pk)
    role = Membership.objects.filter(project=project, user=worker).values_list("role", flat=True)
    held = Assignment.objects.leased().filter(project=project, worker=worker)
    if now_is := role.first():
        held = held.exclude(kind__in=WORKER_KINDS) if now_is == Role.WORKER else held.none()
    return list(held.select_related("project", "worker"))
