"""Addresses of a worker's path, and of a check of one turn."""

from django.urls import path

from apps.trees import node_check_views, path_views

_WORK = "p/<slug:slug>/work/<int:assignment_id>/"

urlpatterns = [
    path(f"{_WORK}path/", path_views.path, name="path"),
    path(f"{_WORK}path/agree/", path_views.path_agree, name="path_agree"),
    path(f"{_WORK}path/reject/", path_views.path_reject, name="path_reject"),
    path(f"{_WORK}path/ask/", path_views.path_ask, name="path_ask"),
    path(f"{_WORK}path/answer/", path_views.path_answer, name="path_answer"),
    path(f"{_WORK}path/undo/", path_views.path_undo, name="path_undo"),
    path(f"{_WORK}path/again/", path_views.path_again, name="path_again"),
    path(f"{_WORK}path/return/", path_views.path_return, name="path_return"),
    path(f"{_WORK}path/hints/", path_views.path_hints, name="path_hints"),
    path(f"{_WORK}check/", node_check_views.node_check, name="node_check"),
    path(f"{_WORK}check/reject/", node_check_views.node_check_reject, name="node_check_reject"),
]
