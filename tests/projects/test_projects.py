"""Projects and memberships when two people act at the same moment."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection
from django.utils import timezone

from apps.projects.errors import LastAdminError
from apps.projects.models import AuditEvent, Membership, Project, Role
from apps.projects.services.projects import (
    add_member,
    create_project,
    remove_member,
    save_settings,
)
from apps.workers.models import Assignment, Kind
from apps.workers.services.leases import Work, lease_first
from tests.factories import make_member, make_project, make_user


def _at_once(*actions: Callable[[], object]) -> list[type[Exception] | None]:
    """Runs the actions in threads that start together; what each ended with."""
    start = threading.Barrier(len(actions))
    ends: dict[int, type[Exception] | None] = {}

    def run(number: int, action: Callable[[], object]) -> None:
        start.wait()
        try:
            action()
            ends[number] = None
        except LastAdminError as error:
            ends[number] = type(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(actions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [ends[number] for number in range(len(actions))]


@pytest.mark.django_db(transaction=True)
def test_two_admins_who_take_each_other_out_leave_one_admin():
    project = make_project()
    ada, bo = make_member(project, Role.ADMIN), make_member(project, Role.ADMIN)
    of_bo = Membership.objects.get(user=bo)

    ends = _at_once(
        lambda: remove_member(of_bo, actor=ada),
        lambda: add_member(project, user=ada, role=Role.WORKER, actor=bo),
    )

    assert sorted(ends, key=str) == [LastAdminError, None]
    assert project.memberships.filter(role=Role.ADMIN).count() == 1
    assert AuditEvent.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_member_who_is_removed_twice_at_once_is_removed_once():
    project = make_project()
    ada, bo = make_member(project, Role.ADMIN), make_member(project, Role.WORKER)
    first, second = (Membership.objects.get(user=bo) for _ in range(2))

    _at_once(
        lambda: remove_member(first, actor=ada),
        lambda: remove_member(second, actor=ada),
    )

    assert not Membership.objects.filter(user=bo).exists()
    assert AuditEvent.objects.count() == 1


@pytest.mark.django_db
def test_a_project_of_the_command_line_has_no_admin_yet_and_its_workers_may_leave():
    project = make_project()
    worker = make_member(project, Role.WORKER)

    assert remove_member(project.memberships.get(user=worker), actor=worker) is True


@pytest.mark.django_db
def test_who_leaves_frees_their_work_and_who_becomes_a_worker_that_of_experts():
    project, admin, now = make_project(), make_user(), timezone.now()
    ada, bo = make_member(project, Role.WORKER), make_member(project, Role.EXPERT)
    works = [(ada, Kind.PATH), (bo, Kind.QUESTION), (bo, Kind.PATH)]
    leases = [
        lease_first([Work(kind, key)], project=project, worker=worker, now=now)
        for key, (worker, kind) in enumerate(works, 1)
    ]
    Assignment.objects.update(draft={"text": "typed"})

    add_member(project, user=ada, role=Role.EXPERT, actor=admin)
    assert Assignment.objects.leased().count() == 3
    remove_member(project.memberships.get(user=ada), actor=admin)
    add_member(project, user=bo, role=Role.WORKER, actor=admin)

    assert Assignment.objects.leased().get() == leases[2]
    released = Assignment.objects.filter(state="released", draft={"text": "typed"})
    assert set(released) == set(leases[:2])
    assert AuditEvent.objects.filter(action="release work", actor=admin).count() == 2


@pytest.mark.django_db
def test_settings_that_others_changed_meanwhile_are_compared_with_what_is_stored():
    ada = make_user()
    create_project(Project(slug="one", name="One"), created_by=ada)
    mine, theirs = Project.objects.get(), Project.objects.get()
    theirs.max_words = 90
    save_settings(theirs, actor=ada)
    mine.max_words = 80

    assert save_settings(mine, actor=ada) == {"max_words": [90, 80]}
