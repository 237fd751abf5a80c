"""Documents and snippets: lists, one document, and the numbers. For experts and admins."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers

from apps.projects.models import Project
from apps.projects.paging import page_of
from apps.projects.permissions import (
    can_administer,
    get_project_to_administer,
    get_project_to_read,
    signed_in,
)
from apps.projects.requests import HtmxHttpRequest
from apps.snippets.errors import DocumentRefusedError
from apps.snippets.forms import CorrectForm, DocumentFilter, SnippetFilter
from apps.snippets.models import Document, Snippet
from apps.snippets.numbers import DOMAINS_SHOWN, numbers_of
from apps.snippets.services.documents import correct_details

DOCUMENTS_ON_PAGE = 25
SNIPPETS_ON_PAGE = 50


@require_safe
@vary_on_headers("HX-Target")
def document_list(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    form = DocumentFilter(request.GET, project=project)
    documents = Document.objects.visible_to(request.user).filter(project=project)
    context = {
        "project": project,
        "form": form,
        "page": page_of(
            form.filtered(documents).order_by("pk"),
            documents.without_texts().with_snippet_counts().with_newest_version(),
            asked=request.GET.get("page"),
            size=DOCUMENTS_ON_PAGE,
        ),
        "can_administer": can_administer(request.user, project),
    }
    is_part = request.htmx.target == "results"
    template = "snippets/_documents_results.html" if is_part else "snippets/documents.html"
    return render(request, template, context)


@require_safe
@vary_on_headers("HX-Target")
def snippet_list(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    form = SnippetFilter(request.GET, project=project)
    snippets = Snippet.objects.visible_to(request.user).filter(document__project=project)
    page = page_of(
        form.filtered(snippets).order_by("document", "position"),
        snippets.with_document(),
        asked=request.GET.get("page"),
        size=SNIPPETS_ON_PAGE,
    )
    is_part = request.htmx.target == "results"
    template = "snippets/_snippets_results.html" if is_part else "snippets/snippets.html"
    return render(request, template, {"project": project, "form": form, "page": page})


@require_safe
def document_detail(request: HtmxHttpRequest, slug: str, document_id: int) -> HttpResponse:
    project = get_project_to_read(request, slug)
    documents = Document.objects.visible_to(request.user).filter(project=project).without_texts()
    document = get_object_or_404(
        documents.with_snippet_counts().select_related("created_by", "job"), pk=document_id
    )
    snippets = document.snippets.order_by("position")
    context = {
        "project": project,
        "document": document,
        "versions": list(
            documents.filter(source_url=document.source_url).order_by("-version")
        ),
        "page": page_of(
            snippets, snippets, asked=request.GET.get("page"), size=SNIPPETS_ON_PAGE
        ),
        "can_administer": can_administer(request.user, project),
    }  # fmt: skip
    return render(request, "snippets/document.html", context)


@require_http_methods(["GET", "POST"])
def document_details(request: HtmxHttpRequest, slug: str, document_id: int) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    document = _get_document(project, document_id)
    known = {name: getattr(document, name) for name in CorrectForm.base_fields}
    form = CorrectForm(request.POST or None, initial=known)
    if form.is_valid() and _correct(form, document, request):
        return redirect("snippets:document", slug, document.pk)
    context = {"project": project, "document": document, "form": form}
    return render(request, "snippets/document_details.html", context)


def _get_document(project: Project, document_id: int) -> Document:
    return get_object_or_404(project.documents.defer("source", "body"), pk=document_id)


def _correct(form: CorrectForm, document: Document, request: HtmxHttpRequest) -> bool:
    try:
        changes = correct_details(document, details=form.details(), actor=signed_in(request))
    except DocumentRefusedError as error:
        form.add_error("source_url", str(error))
        return False
    messages.success(request, "Saved." if changes else "Nothing was different.")
    return True


@require_safe
def numbers(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    context = {"project": project, "numbers": numbers_of(project), "domains_shown": DOMAINS_SHOWN}
    return render(request, "snippets/numbers.html", context)
