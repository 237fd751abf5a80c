"""The consistency proof, and what is wrong with scenarios' facts."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.projects.models import Project
from apps.projects.permissions import get_project_to_read, signed_in
from apps.scenarios.errors import VerificationError
from apps.scenarios.models import Finding, ScenarioFault, Waiver
from apps.scenarios.proof_page import consistency_page, text_checks_page
from apps.scenarios.services.proof import findings_of, prove_or_queue, waive, withdraw_waiver
from apps.scenarios.verification_forms import FaultFilter, FindingFilter, WaiverForm

PAGES = {"proof": "scenarios:consistency", "text": "scenarios:text_checks"}


@require_safe
def consistency(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    return _consistency(request, project, WaiverForm())


@require_POST
def prove_now(request: HttpRequest, slug: str) -> HttpResponse:
    """At once where that takes a second or two, else in the background."""
    project = get_project_to_read(request, slug)
    number = prove_or_queue(project, author=signed_in(request))
    if number is None:
        messages.info(request, "The proof runs in the background; what it finds will stand here.")
    elif number:
        messages.success(request, f"{number:,} trees were looked at.")
    else:
        messages.success(request, "No tree has changed since the last proof.")
    return redirect(PAGES.get(request.POST.get("next_page", ""), PAGES["proof"]), slug)


@require_POST
def waive_findings(request: HttpRequest, slug: str) -> HttpResponse:
    """One utterance, or all of a reason that stood on the page."""
    project = get_project_to_read(request, slug)
    form = WaiverForm(request.POST)
    if not form.is_valid():
        return _consistency(request, project, form)
    chosen = dict(form.cleaned_data)
    findings = findings_of(project)
    if utterance := chosen.pop("utterance"):
        findings = findings.filter(utterance__utterance_id=utterance)
    try:
        waive(findings, **chosen, by=signed_in(request), now=timezone.now())
    except VerificationError as error:
        form.add_error(None, str(error))
        return _consistency(request, project, form)
    return redirect("scenarios:consistency", slug)


@require_POST
def withdraw(request: HttpRequest, slug: str, waiver_id: int) -> HttpResponse:
    project = get_project_to_read(request, slug)
    waiver = get_object_or_404(Waiver, project=project, pk=waiver_id)
    if withdraw_waiver(waiver, by=signed_in(request), now=timezone.now()):
        messages.success(request, "The waiver was withdrawn; what it covered is open again.")
    return redirect("scenarios:consistency", slug)


@require_safe
def text_checks(request: HttpRequest, slug: str) -> HttpResponse:
    """Scenarios whose facts give no utterances, and how to mend them."""
    project = get_project_to_read(request, slug)
    faults = ScenarioFault.objects.visible_to(request.user)
    context = text_checks_page(
        project, faults, FaultFilter(request.GET), asked=request.GET.get("page")
    )
    return render(request, "scenarios/text_checks.html", context)


def _consistency(request: HttpRequest, project: Project, form: WaiverForm) -> HttpResponse:
    findings = Finding.objects.visible_to(request.user)
    context = consistency_page(
        project, findings, FindingFilter(request.GET), asked=request.GET.get("page")
    )
    return render(request, "scenarios/consistency.html", {**context, "waiver_form": form})
