"""Addresses of a worker's scenario, of a check of one, and of what experts decide about them."""

from django.urls import path

from apps.scenarios import scenario_check_views, scenario_sheet_views, scenario_views

_WORK = "p/<slug:slug>/work/<int:assignment_id>/scenario"

urlpatterns = [
    path(f"{_WORK}/", scenario_views.scenario, name="scenario"),
    path(f"{_WORK}/fits/", scenario_views.scenario_fits, name="scenario_fits"),
    path(f"{_WORK}/look-again/", scenario_views.scenario_look_again, name="scenario_look_again"),
    path(
        f"{_WORK}/contradiction/",
        scenario_views.scenario_contradiction,
        name="scenario_contradiction",
    ),
    path(f"{_WORK}/hints/", scenario_views.scenario_hints, name="scenario_hints"),
    path(f"{_WORK}/again/", scenario_views.scenario_again, name="scenario_again"),
    path(f"{_WORK}/return/", scenario_views.scenario_return, name="scenario_return"),
    path(f"{_WORK}-check/", scenario_check_views.scenario_check, name="scenario_check"),
    path("p/<slug:slug>/scenarios/", scenario_sheet_views.scenario_list, name="scenario_list"),
    path(
        "p/<slug:slug>/scenarios/<int:scenario_id>/",
        scenario_sheet_views.scenario_sheet,
        name="scenario_sheet",
    ),
    path(
        "p/<slug:slug>/scenarios/<int:scenario_id>/send-back/",
        scenario_sheet_views.scenario_send_back,
        name="scenario_send_back",
    ),
    path(
        "p/<slug:slug>/contradictions/<int:contradiction_id>/settle/",
        scenario_sheet_views.contradiction_settle,
        name="contradiction_settle",
    ),
]
