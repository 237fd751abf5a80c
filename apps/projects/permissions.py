"""Who may do what in a project. Predicates only: none of them writes."""

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from apps.accounts.models import User
from apps.projects.models import Project


def signed_in(request: HttpRequest) -> User:
    """The person behind the request; LoginRequiredMiddleware lets no other through."""
    if not request.user.is_authenticated:
        raise PermissionDenied
    return request.user


def can_create_project(user: User | AnonymousUser) -> bool:
    """A new account may not; the person who runs the installation says who may (staff)."""
    return user.is_authenticated and user.is_staff


def can_read(user: User | AnonymousUser, project: Project) -> bool:
    return Project.objects.readable_by(user).filter(pk=project.pk).exists()


def can_administer(user: User | AnonymousUser, project: Project) -> bool:
    return Project.objects.administered_by(user).filter(pk=project.pk).exists()


def get_project(request: HttpRequest, slug: str) -> Project:
    """A project of the user's, in any role; 404 otherwise."""
    return get_object_or_404(Project.objects.visible_to(request.user), slug=slug)


def get_project_to_read(request: HttpRequest, slug: str) -> Project:
    """A project whose trees and utterances the user may read; 404 otherwise."""
    return get_object_or_404(Project.objects.readable_by(request.user), slug=slug)


def get_project_to_administer(request: HttpRequest, slug: str) -> Project:
    """A project that the user administers; 404 otherwise."""
    return get_object_or_404(Project.objects.administered_by(request.user), slug=slug)
