"""Addresses of the snippet bench."""

from django.urls import path

from apps.snippets import bench_views

_ACTIONS = ("accept", "discard", "edit", "merge", "reopen", "split")
_DOCUMENT = "p/<slug:slug>/bench/<int:document_id>/"

urlpatterns = [
    path("p/<slug:slug>/bench/", bench_views.bench_list, name="bench_list"),
    path("p/<slug:slug>/bench/next/", bench_views.bench_next, name="bench_next"),
    path(_DOCUMENT, bench_views.bench, name="bench"),
    path(f"{_DOCUMENT}take/", bench_views.bench_take, name="bench_take"),
    path(f"{_DOCUMENT}leave/", bench_views.bench_leave, name="bench_leave"),
    path(f"{_DOCUMENT}undo/", bench_views.bench_undo, name="bench_undo"),
    path(f"{_DOCUMENT}accept-all/", bench_views.bench_accept_all, name="bench_accept_all"),
    *(
        path(
            f"{_DOCUMENT}snippets/<int:snippet_id>/{action}/",
            bench_views.bench_step,
            {"action": action},
            name=f"bench_{action}",
        )
        for action in _ACTIONS
    ),
]
