"""Links to finished exports, for the page of their job."""

from datetime import timedelta
from typing import Any

from django import template
from django.conf import settings

from apps.exports.errors import ExportStorageError
from apps.exports.services.keeping import link_to
from apps.projects.models import Job

register = template.Library()


@register.simple_tag(takes_context=True)
def link_for_others(context: template.Context, job: Job) -> dict[str, Any] | None:
    """The address of the zip file, and for how long it works from now on."""
    try:
        address = context["request"].build_absolute_uri(link_to(job))
    except ExportStorageError:
        return None
    return {"address": address, "works_for": timedelta(seconds=settings.EXPORT_LINK_SECONDS)}
