"""Import and export of a project, for its admins."""

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.paginator import Paginator
from django.core.signing import BadSignature
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.exports.errors import ExportRefusedError, ExportStorageError
from apps.exports.forms import ExportForm, ImportForm
from apps.exports.services.exporting import KIND, Plan, plan_at_once, queue_export, split_table
from apps.exports.services.keeping import has_file, link_to, open_kept
from apps.exports.services.licences import count_without_licence
from apps.exports.services.uploads import LISTS, queue_import
from apps.exports.storage import LocalStorage
from apps.projects.models import Job, Project
from apps.projects.permissions import get_project_to_administer, signed_in
from apps.projects.services.jobs import retry_job

PER_PAGE = 25


@require_http_methods(["GET", "POST"])
def exports(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    table = split_table(project)
    ready = [row.split for row in table if row.is_ready]
    form = ExportForm(request.POST or None, initial={"splits": ready})
    plan = None
    if form.is_valid():
        if "look" in request.POST:
            plan = _plan(form, project)
        elif job := _queue(form, project, request):
            return redirect(job)
    jobs = Job.objects.filter(project=project).select_related("created_by", "project")
    page = Paginator(jobs, PER_PAGE).get_page(request.GET.get("page"))
    waiting = [row for row in table if row.is_waiting]
    context = {"project": project, "form": form, "table": table, "page": page, "plan": plan,
               "waiting": waiting, "without_licence": count_without_licence(project)}  # fmt: skip
    return render(request, "exports/list.html", context)


def _plan(form: ExportForm, project: Project) -> Plan | None:
    try:
        return plan_at_once(project, form.wanted())
    except ExportRefusedError as error:
        _add_reasons(form, error)
        return None


def _queue(form: ExportForm, project: Project, request: HttpRequest) -> Job | None:
    try:
        return queue_export(project, form.wanted(), author=signed_in(request))
    except ExportRefusedError as error:
        _add_reasons(form, error)
        return None


def _add_reasons(form: ExportForm, error: ExportRefusedError) -> None:
    for reason in error.reasons:
        form.add_error(None, f"{reason[0].upper()}{reason[1:]}.")


@require_http_methods(["GET", "POST"])
def import_files(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    sent = request.method == "POST"
    form = ImportForm(request.POST, request.FILES) if sent else ImportForm()
    if form.is_valid():
        job = queue_import(
            project,
            utterances=form.cleaned_data["utterances"],
            lists={key: form.cleaned_data[key] for key in LISTS},
            split=form.cleaned_data["split"],
            author=signed_in(request),
        )
        return redirect(job)
    return render(request, "exports/import.html", {"project": project, "form": form})


@require_safe
@never_cache
def download(request: HttpRequest, slug: str, job_id: int) -> HttpResponse:
    """To a link that runs out; `?file=` asks for one file instead of the zip file."""
    job = _get_export(request, slug, job_id)
    path = request.GET.get("file", "")
    if path and not has_file(job, path):
        raise Http404("The export has no such file.")
    try:
        return redirect(link_to(job, path))
    except ExportStorageError as error:
        messages.error(request, str(error))
        return redirect(job)


@login_not_required  # the signature says that somebody who may has passed it on
@require_safe
@never_cache
def file(request: HttpRequest, token: str) -> HttpResponse | FileResponse:
    try:
        name, called = LocalStorage().linked(token)
        stream = open_kept(name)
    except BadSignature:
        return _without_file(request, "This link has run out, or is not whole.")
    except OSError:
        return _without_file(request, "The file is no longer kept.")
    return FileResponse(stream, as_attachment=True, filename=called)


def _without_file(request: HttpRequest, why: str) -> HttpResponse:
    return render(request, "exports/no_file.html", {"why": why}, status=404)


@require_POST
def retry(request: HttpRequest, slug: str, job_id: int) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    job = get_object_or_404(project.jobs, pk=job_id, kind=KIND)
    if not retry_job(job, actor=signed_in(request)):
        messages.info(request, "It waits, runs, or is done already.")
    return redirect(job)


def _get_export(request: HttpRequest, slug: str, job_id: int) -> Job:
    project = get_project_to_administer(request, slug)
    jobs = project.jobs.select_related("project")
    return get_object_or_404(jobs, pk=job_id, kind=KIND, state=Job.State.DONE)
