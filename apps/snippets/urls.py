"""Addresses of documents, the snippet bench and the question bench."""

from django.urls import URLPattern

app_name = "snippets"
urlpatterns: list[URLPattern] = []
