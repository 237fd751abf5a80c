from django.urls import path

from apps.exports import card_views, split_views, views

app_name = "exports"
urlpatterns = [
    path("p/<slug:slug>/exports/card/", card_views.card, name="card"),
    path("p/<slug:slug>/splits/", split_views.splits, name="splits"),
    path("p/<slug:slug>/splits/make/", split_views.make, name="make_splits"),
    path("p/<slug:slug>/splits/freeze/", split_views.freeze, name="freeze_splits"),
    path("p/<slug:slug>/splits/thaw/", split_views.thaw, name="thaw_splits"),
    path("p/<slug:slug>/splits/leaks/", split_views.look_for_leaks, name="look_for_leaks"),
    path("p/<slug:slug>/splits/documents/", split_views.documents, name="split_documents"),
    path("p/<slug:slug>/splits/documents/<int:document_id>/pin/", split_views.pin, name="pin"),
    path("p/<slug:slug>/exports/", views.exports, name="list"),
    path("p/<slug:slug>/import/", views.import_files, name="import"),
    path("p/<slug:slug>/exports/<int:job_id>/download/", views.download, name="download"),
    path("p/<slug:slug>/exports/<int:job_id>/retry/", views.retry, name="retry"),
    path("exports/file/<str:token>/", views.file, name="file"),
]
