"""The next piece of work for a worker, from all kinds of work in the order of design 4.9.

What is open is looked for before anything is locked, since that takes longest, and nobody else
could write on SQLite meanwhile. What is found is looked at once more when it is leased.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain, islice, repeat, takewhile

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from apps.accounts.models import User
from apps.projects.models import Membership, Project
from apps.workers.errors import NotAMemberError, TooManyOpenError
from apps.workers.models import WORKER_KINDS, Assignment, AssignmentQuerySet
from apps.workers.services.leases import Work, expire_leases, lease_one_of
from apps.workers.services.qualification import barred_kinds

AT_ONCE = 20
"""Pieces of work that are tried in one transaction."""


def take_work(
    project: Project, *, worker: User, now: datetime, sources: Iterable[str] | None = None
) -> Assignment | None:
    """The work that the worker has in hand, or else the next piece, leased; None: none is open.

    `sources` names those that are looked at, if not all. Asked twice at once (a double click), it
    gives the same piece twice. Raises NotAMemberError.
    """
    names = tuple(settings.WORK_SOURCES if sources is None else sources)
    _refuse_stranger(project, worker)
    expire_leases(now)
    if here := in_hand(project, worker=worker, now=now).first():
        return here
    tried: set[Work] = set()
    before = -1
    while before < len(tried):  # what was found may be gone when it is taken, and other be open
        before = len(tried)
        for some in _some_at_once(names, project, worker, now):
            new = [work for work in some if work not in tried]
            if lease := _take_one_of(new, project, worker, now):
                return lease
            tried.update(new)
    return None


def _take_one_of(
    works: list[Work], project: Project, worker: User, now: datetime
) -> Assignment | None:
    if not works:
        return None
    with transaction.atomic():
        _lock(project, worker)
        here = in_hand(project, worker=worker, now=now).first()
        return here or lease_one_of(works, project=project, worker=worker, now=now)


def take_another(project: Project, *, worker: User, now: datetime) -> Assignment | None:
    """One more piece beside what the worker has in hand. Raises TooManyOpenError too."""
    expire_leases(now)
    with transaction.atomic():
        _lock(project, worker)
        if in_hand(project, worker=worker, now=now).count() >= project.most_leases:
            raise TooManyOpenError(project.most_leases)
        works = chain.from_iterable(_sources(settings.WORK_SOURCES, project, worker, now))
        return lease_one_of(works, project=project, worker=worker, now=now)


def in_hand(project: Project, *, worker: User, now: datetime) -> AssignmentQuerySet:
    """What the worker has, the oldest first."""
    mine = Assignment.objects.filter(project=project, worker=worker, kind__in=WORKER_KINDS)
    return mine.lasting(now).order_by("pk")


def _sources(
    names: Iterable[str], project: Project, worker: User, now: datetime
) -> Iterator[Iterator[Work]]:
    # By name: the kinds of work belong to apps that this one must not know. Each source is a
    # generator, so it looks only when the ones before it had nothing; and it has one kind of work,
    # so that the first piece says whether the worker lacks a qualification for all of it.
    barred = barred_kinds(project, worker=worker, now=now)
    for name in names:
        works = import_string(name)(project, worker=worker)
        yield takewhile(lambda work: work.kind not in barred, works)


def _some_at_once(
    names: Iterable[str], project: Project, worker: User, now: datetime
) -> Iterator[list[Work]]:
    """Of each source first one piece of work, which mostly is free, and then several."""
    for works in _sources(names, project, worker, now):
        for size in chain([1], repeat(AT_ONCE)):
            some = list(islice(works, size))
            if not some:
                break
            yield some


def _lock(project: Project, worker: User) -> None:
    """Two clicks of one person at once: the second sees what the first has taken."""
    # The person, not the membership: whoever changes members locks the project first. NO KEY:
    # rows that point to the person can be added meanwhile.
    User.objects.select_for_update(no_key=True).get(pk=worker.pk)
    _refuse_stranger(project, worker)


def _refuse_stranger(project: Project, worker: User) -> None:
    if not Membership.objects.filter(project=project, user=worker).exists():
        raise NotAMemberError
