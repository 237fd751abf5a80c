"""Addresses of the negatives."""

from django.urls import path

from apps.scenarios import negative_views

_ALL = "p/<slug:slug>/negatives"
_ONE = f"{_ALL}/<slug:kind>/<int:negative_id>"

urlpatterns = [
    path(f"{_ALL}/", negative_views.negatives, name="negatives"),
    path(f"{_ALL}/mine/", negative_views.negatives_mine, name="negatives_mine"),
    path(f"{_ALL}/similarities/", negative_views.similarities, name="similarities"),
    path(
        f"{_ALL}/similarities/measure/",
        negative_views.similarities_measure,
        name="similarities_measure",
    ),
    path(
        f"{_ALL}/similarities/threshold/",
        negative_views.similarities_threshold,
        name="similarities_threshold",
    ),
    path(f"{_ONE}/", negative_views.negative, name="negative"),
    path(f"{_ONE}/drop/", negative_views.negative_drop, name="negative_drop"),
    path(f"{_ONE}/replace/", negative_views.negative_replace, name="negative_replace"),
    path(f"{_ONE}/restore/", negative_views.negative_restore, name="negative_restore"),
]
