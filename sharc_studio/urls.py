"""Every address of the studio. A project's pages lie under /p/SLUG/."""

from django.urls import include, path

urlpatterns = [
    path("accounts/", include("apps.accounts.urls")),
    path("", include("apps.projects.urls")),
    path("", include("apps.workers.urls")),
    path("", include("apps.snippets.urls")),
    path("", include("apps.trees.urls")),
    path("", include("apps.scenarios.urls")),
    path("", include("apps.exports.urls")),
    path("", include("apps.desk.urls")),
]
