"""Projects and who belongs to them."""

from django.db import transaction

from apps.accounts.models import User
from apps.projects.errors import LastAdminError
from apps.projects.models import Guideline, Membership, Project, Role, Step
from apps.projects.services import audit


@transaction.atomic
def create_project(project: Project, *, created_by: User | None) -> Project:
    """Saves a new project; its maker is its first admin. `created_by` None: the command line."""
    project.created_by = created_by
    project.save()
    Guideline.objects.bulk_create(Guideline(project=project, step=step) for step in Step)
    audit.record(created_by, "create", project, project=project)
    if created_by is not None:
        add_member(project, user=created_by, role=Role.ADMIN, actor=created_by)
    return project


@transaction.atomic
def add_member(project: Project, *, user: User, role: Role, actor: User | None) -> Membership:
    """Gives the user this role in the project, instead of the one they had."""
    previous = Membership.objects.filter(project=project, user=user).first()
    if previous is not None and previous.role == Role.ADMIN and role != Role.ADMIN:
        _keep_an_admin(project, leaving=user)
    membership, _ = Membership.objects.update_or_create(
        project=project, user=user, defaults={"role": role}
    )
    audit.record(actor, "add member", membership, project=project, user=user.pk, role=role)
    return membership


@transaction.atomic
def remove_member(membership: Membership, *, actor: User) -> None:
    """Takes the person's rights in the project away, from their next request on."""
    if membership.role == Role.ADMIN:
        _keep_an_admin(membership.project, leaving=membership.user)
    audit.record(
        actor, "remove member", membership, project=membership.project, user=membership.user_id
    )
    membership.delete()


def _keep_an_admin(project: Project, *, leaving: User) -> None:
    # The project's row is locked, so that two admins cannot take each other out at once.
    Project.objects.select_for_update().get(pk=project.pk)
    admins = Membership.objects.filter(project=project, role=Role.ADMIN)
    if not admins.exclude(user=leaving).exists():
        raise LastAdminError(
            f"{leaving} is the only admin of {project}; make somebody else admin first."
        )
