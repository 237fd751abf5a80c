"""A worker takes the qualification test."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.projects.permissions import get_project, signed_in
from apps.workers.errors import QualificationError
from apps.workers.models import QualificationAttempt
from apps.workers.qualification_forms import AttemptForm
from apps.workers.qualification_page import attempt_form, attempt_page, result_page
from apps.workers.services.attempts import begin_attempt, keep_answers, submit_attempt


@require_POST
def attempt_begin(request: HttpRequest, slug: str) -> HttpResponse:
    """The try that the reader has begun, or a new one."""
    project = get_project(request, slug)
    try:
        begun = begin_attempt(project, worker=signed_in(request), now=timezone.now())
    except QualificationError as refusal:
        messages.warning(request, str(refusal))
        return redirect(project)
    return redirect("workers:attempt", slug, begun.pk)


@require_http_methods(["GET", "POST"])
@never_cache
def attempt(request: HttpRequest, slug: str, attempt_id: int) -> HttpResponse:
    """The test, and what became of it once it is submitted."""
    here = _own_attempt(request, slug, attempt_id)
    if here.submitted_at is not None:
        return _result(request, here)
    if request.method != "POST":
        return render(request, "workers/attempt.html", attempt_page(here, attempt_form(here)))
    form = attempt_form(here, request.POST)
    is_whole = form.is_valid()
    keep_answers(here, form.answers())
    if "later" in request.POST:
        messages.success(request, "Your answers are kept. Go on whenever you like.")
        return redirect(here.project)
    if not is_whole:
        return render(request, "workers/attempt.html", attempt_page(here, form))
    return _submit(request, here, form)


def _submit(request: HttpRequest, here: QualificationAttempt, form: AttemptForm) -> HttpResponse:
    try:
        submit_attempt(here, form.answers(), key=form.cleaned_data["key"], now=timezone.now())
    except QualificationError as refusal:
        messages.warning(request, str(refusal))
        return redirect(here.project)
    return redirect("workers:attempt", here.project.slug, here.pk)


def _result(request: HttpRequest, here: QualificationAttempt) -> HttpResponse:
    """Also for a form that comes from another window: the first one counts."""
    if request.method == "POST":
        return redirect("workers:attempt", here.project.slug, here.pk)
    return render(request, "workers/attempt_result.html", result_page(here, now=timezone.now()))


def _own_attempt(request: HttpRequest, slug: str, key: int) -> QualificationAttempt:
    project = get_project(request, slug)
    mine = QualificationAttempt.objects.filter(project=project, worker=signed_in(request))
    return get_object_or_404(mine.select_related("project", "worker", "test"), pk=key)
