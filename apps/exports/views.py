"""Import and export of a project, for its admins."""

from django.core.files.storage import default_storage
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from apps.exports.errors import ExportRefusedError
from apps.exports.forms import ExportForm, ImportForm
from apps.exports.services.exporting import KIND, queue_export, split_table
from apps.exports.services.uploads import LISTS, queue_import
from apps.projects.models import Job, Project
from apps.projects.permissions import get_project_to_administer, signed_in

PER_PAGE = 25


@require_http_methods(["GET", "POST"])
def exports(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    table = split_table(project)
    filled = [row.split for row in table if row.split and row.all]
    form = ExportForm(request.POST or None, initial={"splits": filled})
    if form.is_valid() and (job := _queue(form, project, request)):
        return redirect(job)
    jobs = Job.objects.filter(project=project).select_related("created_by", "project")
    page = Paginator(jobs, PER_PAGE).get_page(request.GET.get("page"))
    context = {"project": project, "form": form, "table": table, "page": page}
    return render(request, "exports/list.html", context)


def _queue(form: ExportForm, project: Project, request: HttpRequest) -> Job | None:
    try:
        return queue_export(project, form.wanted(), author=signed_in(request))
    except ExportRefusedError as error:
        form.add_error("splits", str(error))
        return None


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
def download(request: HttpRequest, slug: str, job_id: int) -> FileResponse:
    project = get_project_to_administer(request, slug)
    job = get_object_or_404(project.jobs, pk=job_id, kind=KIND, state=Job.State.DONE)
    # Jobs of earlier versions had one format.
    formats = job.parameters.get("formats") or [job.parameters["format"]]
    what = formats[0] if len(formats) == 1 else "export"
    name = f"{project.slug}-{what}-{job.pk}.zip"
    try:
        stream = default_storage.open(job.result)
    except OSError as error:
        raise Http404("The file is no longer kept; export again.") from error
    return FileResponse(stream, as_attachment=True, filename=name, content_type="application/zip")
