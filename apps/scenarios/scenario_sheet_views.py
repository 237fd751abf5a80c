"""For experts: the scenarios of a project, their fact sheets, and contradictions in trees."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from apps.projects.models import Project
from apps.projects.paging import page_of
from apps.projects.permissions import get_project_to_read, signed_in
from apps.projects.requests import HtmxHttpRequest
from apps.scenarios.models import Contradiction, Scenario
from apps.scenarios.scenario_errors import ScenarioError, SettledAlreadyError, SheetChangedError
from apps.scenarios.scenario_forms import BackForm, ReasonForm, ScenarioFilter
from apps.scenarios.scenario_page import sheet_form, sheet_page
from apps.scenarios.services.fact_sheets import decide_sheet, send_back
from apps.scenarios.services.scenario_work import settle_contradiction

SCENARIOS_ON_PAGE = 25
CONTRADICTIONS_SHOWN = 50


@require_safe
@never_cache
@vary_on_headers("HX-Target")
def scenario_list(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    scenarios = Scenario.objects.visible_to(request.user).filter(tree__project=project)
    form = ScenarioFilter(request.GET)
    page = page_of(
        form.filtered(scenarios).order_by("-pk"),
        scenarios.select_related("tree__question", "created_by").prefetch_related("facts"),
        asked=request.GET.get("page"),
        size=SCENARIOS_ON_PAGE,
    )
    context = {"project": project, "form": form, "page": page}
    if request.htmx.target == "results":
        return render(request, "scenarios/_scenario_results.html", context)
    reports = Contradiction.objects.visible_to(request.user).open()
    reports = reports.filter(prompt__tree__project=project)
    context |= {
        "reports": reports.select_related(
            "first", "second", "by", "prompt__tree__question", "prompt__tree__project"
        )[:CONTRADICTIONS_SHOWN],
        "disputed": scenarios.filter(state=Scenario.State.DISPUTED).count(),
        "reason_form": ReasonForm(),
    }
    return render(request, "scenarios/scenario_list.html", context)


@require_http_methods(["GET", "POST"])
@never_cache
def scenario_sheet(request: HttpRequest, slug: str, scenario_id: int) -> HttpResponse:
    """The fact sheet; POST decides what the scenario states."""
    scenario = _scenario(request, slug, scenario_id)
    if request.method != "POST":
        return render(request, "scenarios/scenario_sheet.html", _sheet(scenario))
    form = sheet_form(scenario, request.POST)
    if form.is_valid():
        try:
            changed = decide_sheet(
                scenario, form.decided(), seen=form.cleaned_data["seen"],
                expert=signed_in(request), now=timezone.now(),
            )  # fmt: skip
        except SheetChangedError as refusal:
            messages.warning(request, str(refusal))
            return redirect("scenarios:scenario_sheet", slug, scenario_id)
        except ScenarioError as refusal:
            form.add_error(None, str(refusal))
        else:
            messages.success(
                request, "The facts are changed." if changed else "The facts stay as they are."
            )
            return _to_next(request, scenario.tree.project)
    return render(request, "scenarios/scenario_sheet.html", sheet_page(scenario, form))


@require_POST
@never_cache
def scenario_send_back(request: HttpRequest, slug: str, scenario_id: int) -> HttpResponse:
    scenario = _scenario(request, slug, scenario_id)
    form = BackForm(request.POST)
    if not form.is_valid():
        context = {**_sheet(scenario), "back_form": form}
        return render(request, "scenarios/scenario_sheet.html", context)
    try:
        send_back(
            scenario, reason=form.cleaned_data["note"], seen=form.cleaned_data["seen"],
            expert=signed_in(request), now=timezone.now(),
        )  # fmt: skip
    except SheetChangedError as refusal:
        messages.warning(request, str(refusal))
        return redirect("scenarios:scenario_sheet", slug, scenario_id)
    messages.success(request, "The scenario is sent back; somebody else writes another one.")
    return _to_next(request, scenario.tree.project)


@require_POST
@never_cache
def contradiction_settle(request: HttpRequest, slug: str, contradiction_id: int) -> HttpResponse:
    project = get_project_to_read(request, slug)
    reports = Contradiction.objects.visible_to(request.user).filter(prompt__tree__project=project)
    found = reports.select_related("prompt__tree__project")
    report = get_object_or_404(found, pk=contradiction_id)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Not saved. Say in a few words why, at most 500 characters.")
        return redirect("scenarios:scenario_list", slug)
    note, now = form.cleaned_data["note"], timezone.now()
    try:
        settle_contradiction(report, note=note, expert=signed_in(request), now=now)
    except SettledAlreadyError as refusal:
        messages.info(request, str(refusal))
    else:
        messages.success(request, "Scenarios of this tree are open work again.")
    return redirect("scenarios:scenario_list", slug)


def _scenario(request: HttpRequest, slug: str, key: int) -> Scenario:
    project = get_project_to_read(request, slug)
    visible = Scenario.objects.visible_to(request.user).filter(tree__project=project)
    found = visible.select_related(
        "tree__project", "tree__question__snippet__document", "prompt", "created_by"
    )
    return get_object_or_404(found, pk=key)


def _sheet(scenario: Scenario) -> dict[str, object]:
    return sheet_page(scenario, sheet_form(scenario))


def _to_next(request: HttpRequest, project: Project) -> HttpResponse:
    """The next scenario that waits for an expert; the list, when none does."""
    waiting = Scenario.objects.filter(tree__project=project, state=Scenario.State.DISPUTED)
    if following := waiting.order_by("pk").first():
        return redirect("scenarios:scenario_sheet", project.slug, following.pk)
    return redirect("scenarios:scenario_list", project.slug)
