from django.urls import path

from apps.scenarios import views

app_name = "scenarios"
urlpatterns = [
    path("p/<slug:slug>/utterances/", views.utterance_list, name="utterances"),
    path("p/<slug:slug>/utterances/<slug:utterance_id>/", views.utterance_detail, name="utterance"),
]
