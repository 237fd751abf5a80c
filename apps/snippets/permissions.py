"""Who may work on what."""

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from apps.projects.permissions import get_project_to_read, signed_in
from apps.workers.models import Assignment, Kind


def get_expert_work(request: HttpRequest, slug: str, assignment_id: int, kind: Kind) -> Assignment:
    """The reader's own work of this kind, whatever became of it; 404 when not (or no expert)."""
    project = get_project_to_read(request, slug)
    own = Assignment.objects.of(signed_in(request)).select_related("project", "worker")
    return get_object_or_404(own, project=project, kind=kind, pk=assignment_id)
