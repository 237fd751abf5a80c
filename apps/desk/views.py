"""Pages that look at all the other apps."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.desk.counts import cards_of
from apps.projects.models import Role
from apps.projects.permissions import can_create_project, get_project


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    cards = [(project, Role(project.role)) for project in cards_of(request.user)]
    context = {"cards": cards, "can_create_project": can_create_project(request.user)}
    return render(request, "desk/home.html", context)


@require_safe
def project(request: HttpRequest, slug: str) -> HttpResponse:
    return render(request, "desk/project.html", {"project": get_project(request, slug)})
