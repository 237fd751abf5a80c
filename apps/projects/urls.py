from django.urls import path

from apps.projects import job_views, views

app_name = "projects"
urlpatterns = [
    path("new-project/", views.new, name="new"),
    path("deleted-projects/", views.deleted, name="deleted"),
    path("deleted-projects/<slug:slug>/restore/", views.restore, name="restore"),
    path("p/<slug:slug>/delete/", views.delete, name="delete"),
    path("p/<slug:slug>/settings/", views.settings, name="settings"),
    path("p/<slug:slug>/guidelines/", views.guidelines, name="guidelines"),
    path("p/<slug:slug>/guidelines/<slug:step>/", views.guideline, name="guideline"),
    path("p/<slug:slug>/people/", views.people, name="people"),
    path("p/<slug:slug>/people/new/", views.new_account, name="new_account"),
    path("p/<slug:slug>/people/<int:member>/role/", views.role, name="role"),
    path("p/<slug:slug>/people/<int:member>/remove/", views.remove, name="remove"),
    path("p/<slug:slug>/log/", views.log, name="log"),
    path("p/<slug:slug>/jobs/<int:job_id>/", job_views.job, name="job"),
    path("p/<slug:slug>/jobs/<int:job_id>/cancel/", job_views.cancel, name="cancel_job"),
]
