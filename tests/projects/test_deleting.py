"""Case 19: deleting a project takes typing its name, removes nothing, and can be undone."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.errors import ShortNameTakenError
from apps.projects.models import RESTORABLE, AuditEvent, Job, Project, Role
from apps.projects.services.jobs import start_job_here
from apps.projects.services.projects import create_project, delete_project, restore_project
from apps.trees.models import Node, Tree
from tests.factories import make_member, make_project, make_user
from tests.pages import words_of_main
from tests.projects.test_views import SETTINGS
from tests.trees.path_work import growing_tree, take

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
DELETE = reverse("projects:delete", args=["bikes"])
DELETED = reverse("projects:deleted")
RESTORE = reverse("projects:restore", args=["bikes"])
HOME = reverse("desk:home")


@pytest.fixture
def project() -> Project:
    return make_project("bikes", name="Cargo bikes")


@pytest.fixture
def admin(project, client) -> User:
    user = make_member(project, Role.ADMIN)
    client.force_login(user)
    return user


def events(project: Project) -> list[tuple[str, User | None]]:
    return [(event.action, event.actor) for event in project.audit_events.order_by("pk")]


def gone(project: Project, *, actor: User, ago: timedelta) -> Project:
    assert delete_project(project, actor=actor, now=timezone.now() - ago)
    return project


@pytest.mark.parametrize("typed", ["", "bikes", "cargo bikes", "Cargo bike"])
def test_another_name_deletes_nothing_and_says_so(client, project, admin, typed):
    answer = client.post(DELETE, {"name": typed, "sent": "1"})
    assert answer.status_code == 200
    assert "Not deleted:" in words_of_main(answer.text)
    assert Project.objects.get() == project
    assert events(project) == []


@pytest.mark.parametrize("typed", ["Cargo bikes", "  Cargo  bikes "])
def test_its_name_deletes_it_and_leads_to_where_it_can_be_restored(client, project, admin, typed):
    answer = client.post(DELETE, {"name": typed}, follow=True)
    assert answer.redirect_chain == [(DELETED, 302)]
    assert "Cargo bikes is deleted. Its admins can restore it from here." in answer.text
    assert "Restore Cargo bikes 1 in all" in words_of_main(answer.text)
    deleted = Project.with_deleted.get()
    assert deleted.deleted_by == admin
    assert deleted.deleted_at is not None
    assert deleted.restorable_until == deleted.deleted_at + timedelta(days=30)
    assert events(project) == [("delete project", admin)]


def test_a_name_is_the_same_however_a_keyboard_writes_its_accents(client, project, admin):
    Project.objects.update(name="Vélos")
    client.post(DELETE, {"name": "Ve\u0301los"})
    assert not Project.objects.exists()


def test_nobody_finds_it_any_more(client, project, admin):
    other = make_project("other", name="Other rules")
    make_member(other, Role.ADMIN, admin)
    growing_tree(project)
    gone(project, actor=admin, ago=timedelta())
    for name in ("desk:project", "projects:settings", "projects:delete", "trees:list",
                 "workers:leases", "exports:list"):  # fmt: skip
        assert client.get(reverse(name, args=["bikes"])).status_code == 404, name
    home = client.get(HOME).text
    assert "Cargo bikes" not in home
    assert f'href="{DELETED}"' in home
    assert "Cargo bikes" not in client.get(other.get_absolute_url()).text
    assert list(Project.objects.visible_to(admin)) == [other]
    assert not Tree.objects.visible_to(admin).exists()
    assert not Job.objects.visible_to(admin).exists()


def test_work_in_hand_is_there_again_when_the_project_is(client, project, admin):
    growing_tree(project)
    worker = make_member(project, Role.WORKER)
    work = take(project, worker)
    page = reverse("trees:path", args=["bikes", work.pk])
    client.force_login(worker)
    gone(project, actor=admin, ago=timedelta())
    assert client.get(page).status_code == 404
    assert client.post(reverse("workers:next", args=["bikes"])).status_code == 404
    assert restore_project(project, actor=admin, now=timezone.now())
    assert client.get(page).status_code == 200


def test_what_runs_stops(project, admin):
    job = start_job_here(project, kind="export", parameters={}, created_by=admin)
    assert delete_project(project, actor=admin, now=NOW)
    job.refresh_from_db()
    assert job.state == Job.State.CANCELLED
    assert [action for action, _ in events(project)] == [
        "start export", "cancel export", "delete project",
    ]  # fmt: skip


def test_it_is_restored_with_all_that_was_in_it(client, project, admin):
    growing_tree(project)
    before = [model.objects.count() for model in (Tree, Node)]
    gone(project, actor=admin, ago=RESTORABLE - timedelta(minutes=1))
    answer = client.post(RESTORE, follow=True)
    assert answer.redirect_chain == [(project.get_absolute_url(), 302)]
    assert "Cargo bikes is back, with all that was in it." in answer.text
    assert [model.objects.count() for model in (Tree, Node)] == before
    assert (Project.objects.get().deleted_at, Project.objects.get().deleted_by) == (None, None)
    assert events(project)[-1] == ("restore project", admin)
    assert f'href="{DELETED}"' not in client.get(HOME).text


def test_after_thirty_days_it_stays_away(client, project, admin):
    gone(project, actor=admin, ago=RESTORABLE)
    assert "no deleted project that you can restore" in client.get(DELETED).text
    assert client.post(RESTORE).status_code == 404
    assert not restore_project(project, actor=admin, now=timezone.now())
    assert not Project.objects.exists()


@pytest.mark.parametrize("role", [None, Role.WORKER, Role.EXPERT])
def test_only_its_admins_see_and_restore_it(client, project, admin, role):
    user = make_member(project, role) if role else make_user(is_staff=True)
    gone(project, actor=admin, ago=timedelta())
    client.force_login(user)
    assert "Cargo bikes" not in client.get(DELETED).text
    assert f'href="{DELETED}"' not in client.get(HOME).text
    assert client.post(RESTORE).status_code == 404
    assert not Project.objects.exists()


def test_deleted_twice_it_was_deleted_once(project, admin):
    other = make_member(project, Role.ADMIN)
    assert delete_project(project, actor=admin, now=NOW)
    assert not delete_project(project, actor=other, now=NOW + timedelta(days=1))
    assert Project.with_deleted.get().deleted_by == admin
    assert restore_project(project, actor=other, now=NOW + timedelta(days=1))
    assert not restore_project(project, actor=admin, now=NOW + timedelta(days=1))
    assert AuditEvent.objects.count() == 2


def test_its_short_name_stays_taken(client, project, admin):
    gone(project, actor=admin, ago=RESTORABLE * 2)
    User.objects.update(is_staff=True)
    answer = client.post(reverse("projects:new"), {**SETTINGS, "slug": "bikes"})
    assert "Another project has this short name, perhaps one that was deleted." in answer.text
    with pytest.raises(ShortNameTakenError, match="A deleted project has the short name 'bikes'"):
        create_project(Project(slug="bikes", name="Bikes"), created_by=admin)


def test_commands_do_not_see_it(project, admin, tmp_path):
    gone(project, actor=admin, ago=timedelta())
    with pytest.raises(CommandError, match="bikes"):
        call_command("repair_trees", project="bikes")
    page = tmp_path / "rule.txt"
    page.write_text("You can borrow a bike if you are over 18.")
    with pytest.raises(CommandError, match="A deleted project has the short name 'bikes'"):
        call_command("ingest_documents", str(page), project="bikes")
    assert Project.with_deleted.get().documents.count() == 0


def test_the_database_wants_to_know_who(project, admin):
    with pytest.raises(IntegrityError, match="project_deleted_by_somebody"), transaction.atomic():
        Project.objects.update(deleted_at=NOW)
    with pytest.raises(IntegrityError, match="project_deleted_by_somebody"), transaction.atomic():
        Project.objects.update(deleted_by=admin)


def test_the_list_takes_the_same_queries_at_one_row_and_at_three(
    client, project, admin, django_assert_num_queries
):
    gone(project, actor=admin, ago=timedelta())
    with django_assert_num_queries(4):
        client.get(DELETED)
    for _ in range(2):
        other = make_project()
        make_member(other, Role.ADMIN, admin)
        gone(other, actor=admin, ago=timedelta())
    with django_assert_num_queries(4):
        assert "1–3 of 3 projects" in words_of_main(client.get(DELETED).text)
