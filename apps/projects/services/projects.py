"""Projects and who belongs to them."""

import secrets
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from apps.accounts.models import User
from apps.projects.errors import GuidelineChangedError, LastAdminError, ShortNameTakenError
from apps.projects.models import RESTORABLE, Guideline, Membership, Project, Role, Step
from apps.projects.services import audit
from apps.projects.services.jobs import cancel_job

SETTINGS = (
    "name",
    "language",
    "max_list_items",
    "max_words",
    "long_lists",
    "near_duplicate_threshold",
    "question_checks",
    "max_depth",
    "active_trees",
    "spans_required",
    "rejection_votes",
    "rejection_voters",
    "tell_rejections",
    "near_question_threshold",
    "most_leases",
    "scenarios_per_finished_tree",
    "checks_per_scenario",
    "questions_per_tree",
    "scenarios_per_tree",
    "negative_threshold",
    "lease_minutes",
)
# Read aloud and typed once: no letter or digit that looks like another.
_READABLE = "abcdefghijkmnpqrstuvwxyz23456789"


@transaction.atomic
def create_project(project: Project, *, created_by: User | None) -> Project:
    """Saves a new project; its maker is its first admin.

    `created_by` None: it was made at the command line. Then all staff are its admins, or nobody
    could see it in the browser. Raises ShortNameTakenError when a deleted project has its short
    name.
    """
    if Project.with_deleted.filter(slug=project.slug, deleted_at__isnull=False).exists():
        raise ShortNameTakenError(
            f"A deleted project has the short name {project.slug!r}. Restore that one on the page "
            "of deleted projects, or take another short name."
        )
    project.created_by = created_by
    project.save()
    Guideline.objects.bulk_create(Guideline(project=project, step=step) for step in Step)
    audit.record(created_by, "create", project, project=project)
    staff = User.objects.filter(is_staff=True, is_active=True)
    for admin in staff if created_by is None else [created_by]:
        add_member(project, user=admin, role=Role.ADMIN, actor=created_by)
    return project


@transaction.atomic
def delete_project(project: Project, *, actor: User, now: datetime) -> bool:
    """Takes the project out of everybody's sight, and stops its jobs. Nothing of it is removed.

    False when somebody else has just done it.
    """
    here = Project.objects.filter(pk=project.pk)
    if not here.update(deleted_at=now, deleted_by=actor):
        return False
    for job in project.jobs.unfinished():
        cancel_job(job, actor=actor)
    audit.record(actor, "delete project", project, project=project)
    return True


@transaction.atomic
def restore_project(project: Project, *, actor: User, now: datetime) -> bool:
    """Puts a deleted project back as it was; its jobs are started anew by hand.

    False when it is there, or was deleted too long ago.
    """
    deleted = Project.with_deleted.filter(pk=project.pk, deleted_at__gt=now - RESTORABLE)
    if not deleted.update(deleted_at=None, deleted_by=None):
        return False
    audit.record(actor, "restore project", project, project=project)
    return True


@transaction.atomic
def save_settings(project: Project, *, actor: User) -> dict[str, list[Any]]:
    """Saves what differs from the stored project, and returns it: field -> [old, new]."""
    stored = Project.objects.select_for_update().get(pk=project.pk)
    pairs = {name: [getattr(stored, name), getattr(project, name)] for name in SETTINGS}
    changes = {name: [old, new] for name, (old, new) in pairs.items() if old != new}
    if changes:
        project.save(update_fields=list(changes))
        audit.record(actor, "change settings", project, project=project, changes=changes)
    return changes


@transaction.atomic
def save_guideline(guideline: Guideline, *, text: str, actor: User) -> bool:
    """Replaces the text that `guideline` holds; False when that is the text already.

    Raises GuidelineChangedError when somebody else replaced it in the meantime.
    """
    if text == guideline.text:
        return False
    unchanged = Guideline.objects.filter(pk=guideline.pk, text=guideline.text)
    if not unchanged.update(text=text):
        raise GuidelineChangedError(
            f"Somebody else changed the guidelines for {guideline.get_step_display()} while you "
            "were writing. Nothing was saved."
        )
    audit.record(
        actor, "change guidelines", guideline, project=guideline.project, step=guideline.step,
        changes={"text": [guideline.text, text]},
    )  # fmt: skip
    return True


@transaction.atomic
def create_account(project: Project, *, person: User, role: Role, actor: User) -> str:
    """Saves a new person as a member, and returns the password that nobody will see again."""
    password = "-".join("".join(secrets.choice(_READABLE) for _ in range(5)) for _ in range(4))
    person.set_password(password)
    person.save()
    audit.record(actor, "create account", person, project=project)
    add_member(project, user=person, role=role, actor=actor)
    return password


def add_member(project: Project, *, user: User, role: Role, actor: User | None) -> Membership:
    """Gives the user this role in the project, instead of the one they had."""
    with transaction.atomic():
        if role != Role.ADMIN:
            _keep_an_admin(project, leaving=user)
        membership, is_new = Membership.objects.update_or_create(
            project=project, user=user, defaults={"role": role}
        )
        audit.record(actor, "add member", membership, project=project, user=user.pk, role=role)
    if not is_new:
        _free_work(project, user=user, actor=actor)
    return membership


def remove_member(membership: Membership, *, actor: User) -> bool:
    """Takes the person's rights in the project away, from their next request on, and frees the
    work that they had in hand.

    False when somebody else has just done it.
    """
    project, user = membership.project, membership.user
    with transaction.atomic():
        _keep_an_admin(project, leaving=user)
        removed, _ = project.memberships.filter(user=user).delete()
        if not removed:
            return False
        audit.record(actor, "remove member", membership, project=project, user=user.pk)
    _free_work(project, user=user, actor=actor)
    return True


def _free_work(project: Project, *, user: User, actor: User | None) -> None:
    # By name: work belongs to an app above this one. After the change, and not within it: who
    # submits has their lease and then waits for the project's row, which the change has.
    free = import_string(settings.FREE_WORK_OF_MEMBER)
    free(project, worker=user, actor=actor, now=timezone.now())


def _keep_an_admin(project: Project, *, leaving: User) -> None:
    # The project's row is locked, so that two admins cannot take each other out at once.
    Project.objects.select_for_update().get(pk=project.pk)
    admins = project.memberships.filter(role=Role.ADMIN).values_list("user", flat=True)
    if list(admins) == [leaving.pk]:
        raise LastAdminError(
            f"{leaving} is the only admin of {project}; make somebody else admin first."
        )
