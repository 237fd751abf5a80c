"""Who may work on what."""

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from apps.projects.permissions import get_project, signed_in
from apps.workers.models import Assignment, Kind


def get_own_work(request: HttpRequest, slug: str, assignment_id: int, kind: Kind) -> Assignment:
    """The reader's own work of this kind, whatever became of it; 404 otherwise."""
    project = get_project(request, slug)
    own = Assignment.objects.of(signed_in(request)).select_related("project", "worker")
    return get_object_or_404(own, project=project, kind=kind, pk=assignment_id)
