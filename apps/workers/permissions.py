"""Who may do what with a piece of work in somebody's hands."""

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from apps.projects.permissions import get_project, signed_in
from apps.workers.models import Assignment, AssignmentQuerySet


def get_my_work(request: HttpRequest, slug: str, assignment_id: int) -> Assignment:
    """The reader's own work in this project, whatever became of it; 404 otherwise."""
    return get_object_or_404(my_work(request, slug), pk=assignment_id)


def my_work(request: HttpRequest, slug: str) -> AssignmentQuerySet:
    project = get_project(request, slug)
    return Assignment.objects.of(signed_in(request)).filter(project=project)
