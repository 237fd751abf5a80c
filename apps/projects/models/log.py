"""Who did what, and how rows went from state to state."""

from django.db import models
from django.db.models import F, Q

from apps.accounts.models import User
from apps.projects.models.projects import Project


class AuditEvent(models.Model):
    """Who did what to which object, when. The database refuses to change or delete a row."""

    at = models.DateTimeField(auto_now_add=True)
    # PROTECT: the log outlives no one it speaks of.
    project = models.ForeignKey(Project, models.PROTECT, null=True, related_name="audit_events")
    actor = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    action = models.CharField(max_length=60)
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=60)
    details = models.JSONField(default=dict)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["project", "-id"], name="audit_by_project")]

    def __str__(self) -> str:
        return f"{self.action} {self.object_type} {self.object_id}"


class StateChange(models.Model):
    """One step of one row from state to state; an empty `from_state` says that it began."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="state_changes")
    object_type = models.CharField(max_length=40)
    object_id = models.PositiveBigIntegerField()
    from_state = models.CharField(max_length=20, blank=True)
    to_state = models.CharField(max_length=20)
    actor = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    reason = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["object_type", "object_id"], name="state_change_by_object")]
        constraints = [
            models.CheckConstraint(
                condition=~Q(from_state=F("to_state")), name="state_change_changes"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.object_type} {self.object_id}: {self.from_state} -> {self.to_state}"
