from django.urls import path

from apps.scenarios import audit_views, negative_urls, scenario_urls, verification_urls, views

app_name = "scenarios"
urlpatterns = [
    path("p/<slug:slug>/audit/", audit_views.audit, name="audit"),
    path("p/<slug:slug>/audit/start/", audit_views.audit_start, name="audit_start"),
    path("p/<slug:slug>/audit/by/<slug:part>/", audit_views.audit_parts, name="audit_parts"),
    path("p/<slug:slug>/audit/<slug:figure>/", audit_views.audit_limit, name="audit_limit"),
    *negative_urls.urlpatterns,
    *verification_urls.urlpatterns,
    *scenario_urls.urlpatterns,
    path("p/<slug:slug>/utterances/", views.utterance_list, name="utterances"),
    path("p/<slug:slug>/utterances/<slug:utterance_id>/", views.utterance_detail, name="utterance"),
]
