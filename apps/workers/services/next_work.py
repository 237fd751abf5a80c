"""The next piece of work for a worker, from all kinds of work in the order of design 4.9."""

from collections.abc import Iterator
from datetime import datetime
from itertools import chain

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from apps.accounts.models import User
from apps.projects.models import Membership, Project
from apps.workers.errors import NotAMemberError, TooManyOpenError
from apps.workers.models import WORKER_KINDS, Assignment, AssignmentQuerySet
from apps.workers.services.leases import Work, expire_leases, lease_one_of


def take_work(project: Project, *, worker: User, now: datetime) -> Assignment | None:
    """The work that the worker has in hand, or else the next piece, leased; None: none is open.

    Asked twice at once (a double click), it gives the same piece twice. Raises NotAMemberError.
    """
    # In a transaction of its own: who holds leases while waiting for a tree can wait for ever.
    expire_leases(now)
    with transaction.atomic():
        _lock(project, worker)
        return in_hand(project, worker=worker, now=now).first() or _next(project, worker, now)


def take_another(project: Project, *, worker: User, now: datetime) -> Assignment | None:
    """One more piece beside what the worker has in hand. Raises TooManyOpenError too."""
    expire_leases(now)
    with transaction.atomic():
        _lock(project, worker)
        if in_hand(project, worker=worker, now=now).count() >= project.most_leases:
            raise TooManyOpenError(project.most_leases)
        return _next(project, worker, now)


def in_hand(project: Project, *, worker: User, now: datetime) -> AssignmentQuerySet:
    """What the worker has, the oldest first."""
    mine = Assignment.objects.filter(project=project, worker=worker, kind__in=WORKER_KINDS)
    return mine.lasting(now).order_by("pk")


def _next(project: Project, worker: User, now: datetime) -> Assignment | None:
    return lease_one_of(_candidates(project, worker), project=project, worker=worker, now=now)


def _candidates(project: Project, worker: User) -> Iterator[Work]:
    # By name: the kinds of work belong to apps that this one must not know. Each source is a
    # generator, so it looks only when the ones before it had nothing.
    sources = (import_string(name) for name in settings.WORK_SOURCES)
    return chain.from_iterable(source(project, worker=worker) for source in sources)


def _lock(project: Project, worker: User) -> None:
    """Two clicks of one person at once: the second sees what the first has taken."""
    # The person, not the membership: whoever changes members locks the project first. NO KEY:
    # rows that point to the person can be added meanwhile.
    User.objects.select_for_update(no_key=True).get(pk=worker.pk)
    if not Membership.objects.filter(project=project, user=worker).exists():
        raise NotAMemberError
