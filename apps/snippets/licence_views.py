"""The licences of a project's documents, host by host. For admins."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from apps.projects.permissions import get_project_to_administer, signed_in
from apps.snippets.licence_forms import LicenceForm
from apps.snippets.services.licences import (
    hosts_by_need,
    replace_licence,
    state_licence,
    with_licences,
)

HOSTS_ON_PAGE = 25
USUAL = (
    "Open Government Licence v3.0", "CC0 1.0", "CC BY 4.0", "CC BY-SA 4.0", "Public domain",
    "By permission of the publisher",
)  # fmt: skip


@require_safe
def licences(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    page = Paginator(hosts_by_need(project), HOSTS_ON_PAGE).get_page(request.GET.get("page"))
    context = {
        "project": project,
        "page": page,
        "hosts": with_licences(project, page.object_list),
        "usual": USUAL,
    }
    return render(request, "snippets/licences.html", context)


@require_POST
def set_licence(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    form = LicenceForm(request.POST)
    if form.is_valid():
        said = form.cleaned_data
        write = replace_licence if said["replace"] else state_licence
        number = write(
            project, said["domain"], licence=said["licence"], attribution=said["attribution"],
            actor=signed_in(request),
        )  # fmt: skip
        messages.success(request, f"Documents whose licence is now “{said['licence']}”: {number}.")
    else:
        faults = " ".join(str(text) for found in form.errors.values() for text in found)
        messages.error(request, f"Nothing was saved. {faults}")
    return redirect("snippets:licences", slug)
