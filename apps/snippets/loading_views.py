"""Adding documents, and the limits that they are cut by. For admins."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from apps.projects.models import Job, Project
from apps.projects.permissions import get_project_to_administer, signed_in
from apps.snippets.domain.extraction import Format
from apps.snippets.errors import DocumentRefusedError, IndexRefusedError
from apps.snippets.forms import FetchForm, LimitsForm, PasteForm, UploadForm
from apps.snippets.services.ingest import Ingested, Outcome, ingest_document
from apps.snippets.services.ingest_fetch import allowed_hosts, can_fetch
from apps.snippets.services.ingest_jobs import queue_fetch, queue_uploads
from apps.snippets.services.segmenting import limits_of
from apps.snippets.services.segmenting_jobs import apply_limits, try_limits


@require_http_methods(["GET", "POST"])
def upload(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    sent = request.method == "POST"
    form = UploadForm(request.POST, request.FILES) if sent else UploadForm()
    if form.is_valid() and (job := _queue_uploads(form, project, request)):
        return redirect(job)
    return _show(request, project, "snippets/upload.html", form)


def _queue_uploads(form: UploadForm, project: Project, request: HttpRequest) -> Job | None:
    try:
        return queue_uploads(
            project,
            files=form.cleaned_data["documents"],
            index=form.cleaned_data["index"],
            details=form.details(),
            author=signed_in(request),
        )
    except IndexRefusedError as error:
        form.add_error("index", str(error))
        return None


@require_http_methods(["GET", "POST"])
def paste(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    form = PasteForm(request.POST or None)
    if form.is_valid() and (loaded := _load(form, project, request)):
        messages.success(request, _in_words(loaded))
        return redirect("snippets:document", slug, loaded.document.pk)
    return _show(request, project, "snippets/upload_text.html", form)


def _load(form: PasteForm, project: Project, request: HttpRequest) -> Ingested | None:
    try:
        return ingest_document(
            project,
            data=form.cleaned_data["text"].encode(),
            text_format=Format(form.cleaned_data["text_format"]),
            details=form.details(),
            author=signed_in(request),
        )
    except DocumentRefusedError as error:
        form.add_error("text", str(error))
        return None


def _in_words(loaded: Ingested) -> str:
    if loaded.outcome == Outcome.SAME:
        return "This text is here already with this source URL. Nothing has changed."
    what = "new version" if loaded.outcome == Outcome.NEW_VERSION else "document"
    return f"The {what} was cut into {loaded.snippets:,} snippets."


@require_http_methods(["GET", "POST"])
def fetch(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    if not can_fetch():
        raise Http404("Nothing is fetched where FETCH_ALLOWED_HOSTS names no host.")
    form = FetchForm(request.POST or None)
    if form.is_valid():
        urls = form.cleaned_data["urls"]
        author = signed_in(request)
        return redirect(queue_fetch(project, urls=urls, details=form.details(), author=author))
    return _show(request, project, "snippets/upload_fetch.html", form)


def _show(
    request: HttpRequest, project: Project, template: str, form: UploadForm | PasteForm | FetchForm
) -> HttpResponse:
    context = {"project": project, "form": form, "fetch_hosts": allowed_hosts()}
    return render(request, template, context)


@require_http_methods(["GET", "POST"])
def segmentation(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    form = LimitsForm(request.POST or None, instance=project)
    context: dict[str, Any] = {"project": project, "form": form}
    if form.is_valid():
        author = signed_in(request)
        is_meant = request.POST.get("action") == "apply"
        result = (
            apply_limits(project, actor=author)
            if is_meant
            else try_limits(project, limits=limits_of(project), author=author)
        )
        if isinstance(result, Job):
            return redirect(result)
        context |= {"report": result, "is_done": is_meant}
    return render(request, "snippets/segmentation.html", context)
