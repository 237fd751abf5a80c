"""Accounts of scripted people: made when they are missing, and nobody can log in with them."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from apps.accounts.models import User
from apps.projects.models import Membership, Project, Role
from apps.projects.services.projects import add_member


def name_of(number: int) -> str:
    return f"sim-{number:04}"


@transaction.atomic
def make_people(project: Project, count: int) -> list[User]:
    """The first `count` of them, all members of the project; the role that one has stays."""
    people = []
    for number in range(1, count + 1):
        person, is_new = User.objects.get_or_create(
            username=name_of(number), defaults={"name": f"Scripted person {number}"}
        )
        if is_new:
            person.set_unusable_password()
            person.save(update_fields=["password"])
        if not Membership.objects.filter(project=project, user=person).exists():
            add_member(project, user=person, role=Role.WORKER, actor=None)
        people.append(person)
    return people


@contextmanager
def passwords(people: list[User]) -> Iterator[dict[int, str]]:
    """A password for each, by key, for as long as the run takes; it is kept nowhere."""
    drawn = {person.pk: secrets.token_urlsafe(24) for person in people}
    try:
        for person in people:
            person.set_password(drawn[person.pk])
            person.save(update_fields=["password"])
        yield drawn
    finally:
        for person in people:
            person.set_unusable_password()
            person.save(update_fields=["password"])
