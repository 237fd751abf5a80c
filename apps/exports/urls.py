from django.urls import path

from apps.exports import views

app_name = "exports"
urlpatterns = [
    path("p/<slug:slug>/exports/", views.exports, name="list"),
    path("p/<slug:slug>/import/", views.import_files, name="import"),
    path("p/<slug:slug>/exports/<int:job_id>/download/", views.download, name="download"),
]
