"""Pages that look at all the other apps."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.projects.permissions import can_create_project, get_project


def home(request: HttpRequest) -> HttpResponse:
    return render(
        request, "desk/home.html", {"can_create_project": can_create_project(request.user)}
    )


def project(request: HttpRequest, slug: str) -> HttpResponse:
    return render(request, "desk/project.html", {"project": get_project(request, slug)})
