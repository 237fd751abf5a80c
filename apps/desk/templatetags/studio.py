"""Tags of every page: the frame around it, times, rule texts."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from django import template
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.accounts import typed
from apps.accounts.themes import chosen_theme
from apps.desk.frame import project_frame
from apps.desk.lease_subjects import Subject, subjects_of
from apps.desk.worker_numbers import sent_back_scenarios
from apps.projects import markdown
from apps.projects.models import Project
from apps.workers.domain.written import written
from apps.workers.models import Assignment

register = template.Library()


@register.simple_tag(takes_context=True)
def theme(context: template.Context) -> str:
    """`auto`, `light` or `dark`. A page that reports a broken server has no request."""
    request = context.get("request")
    return chosen_theme(request) if isinstance(request, HttpRequest) else "auto"


@register.inclusion_tag("_project_header.html", takes_context=True)
def project_header(context: template.Context, project: Project) -> dict[str, Any]:
    """Project switch, search, person and the steps of this project, as its reader may see them."""
    request = context["request"]
    return {
        "request": request,
        "user": request.user,
        "csrf_token": context.get("csrf_token"),
        **project_frame(request, project),
    }


@register.simple_tag(takes_context=True)
def sent_back(context: template.Context, project: Project) -> Any:
    """The reader's scenarios that were sent back, with why. For pages of apps below scenarios."""
    return sent_back_scenarios(project, context["request"].user)


@register.simple_tag
def local_time(moment: datetime | str | None) -> SafeString:
    """A moment in UTC, or its ISO 8601 text, which local-time.js shows in the reader's zone."""
    if moment is None:
        return SafeString("")
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    moment = moment.astimezone(UTC)
    return format_html(
        '<time datetime="{}" data-local>{} UTC</time>',
        moment.isoformat(timespec="seconds"),
        f"{moment.day} {moment:%b %Y, %H:%M}",
    )


@register.simple_tag
def local_time_after(wait: timedelta) -> SafeString:
    """The moment when `wait` is over, counted from now."""
    return local_time(timezone.now() + wait)


@register.filter
def typed_texts(request: HttpRequest | None) -> list[tuple[str, str]]:
    """What a person typed into a form that was refused unread, without passwords and tokens."""
    return typed.typed_texts(request.POST) if request else []


@register.filter
def minutes(time: timedelta) -> str:
    """A time on task, to the second: 3:05 min."""
    whole, seconds = divmod(round(time.total_seconds()), 60)
    return f"{whole}:{seconds:02} min"


register.filter(written)


@register.filter
def rule_text(text: str) -> SafeString:
    """Markdown that people wrote, as safe HTML for inside `<div class="rule-text" dir="auto">`."""
    return markdown.render(text)


@register.simple_tag
def with_subjects(
    leases: Iterable[Assignment], project: Project
) -> list[tuple[Assignment, Subject | None]]:
    """Each lease with what it is about."""
    return list(subjects_of(leases, project))
