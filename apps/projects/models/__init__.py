"""A project, who belongs to it in which role, its guidelines, its log and its jobs."""

from apps.projects.models.jobs import Job, JobQuerySet
from apps.projects.models.log import AuditEvent, StateChange
from apps.projects.models.projects import (
    RESTORABLE,
    Guideline,
    KeptProjects,
    Membership,
    Project,
    ProjectQuerySet,
    Role,
    Split,
    Step,
)

__all__ = [
    "RESTORABLE",
    "AuditEvent",
    "Guideline",
    "Job",
    "JobQuerySet",
    "KeptProjects",
    "Membership",
    "Project",
    "ProjectQuerySet",
    "Role",
    "Split",
    "StateChange",
    "Step",
]
