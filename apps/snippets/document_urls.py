"""Addresses of documents and their snippets. Included by urls.py."""

from django.urls import path

from apps.snippets import licence_views, loading_views, views

DOCUMENTS = "p/<slug:slug>/documents/"

urlpatterns = [
    path(DOCUMENTS, views.document_list, name="documents"),
    path(f"{DOCUMENTS}upload/", loading_views.upload, name="upload"),
    path(f"{DOCUMENTS}paste/", loading_views.paste, name="paste"),
    path(f"{DOCUMENTS}fetch/", loading_views.fetch, name="fetch"),
    path(f"{DOCUMENTS}numbers/", views.numbers, name="numbers"),
    path(f"{DOCUMENTS}segmentation/", loading_views.segmentation, name="segmentation"),
    path(f"{DOCUMENTS}licences/", licence_views.licences, name="licences"),
    path(f"{DOCUMENTS}licences/set/", licence_views.set_licence, name="set_licence"),
    path(f"{DOCUMENTS}<int:document_id>/", views.document_detail, name="document"),
    path(f"{DOCUMENTS}<int:document_id>/details/", views.document_details, name="document_details"),
    path("p/<slug:slug>/snippets/", views.snippet_list, name="snippets"),
]
