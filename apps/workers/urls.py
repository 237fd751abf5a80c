from django.urls import path

from apps.workers import qualification_urls, views

app_name = "workers"
urlpatterns = [
    path("p/<slug:slug>/work/", views.mine, name="mine"),
    path("p/<slug:slug>/work/next/", views.take_next, name="next"),
    path("p/<slug:slug>/work/another/", views.take_one_more, name="another"),
    path("p/<slug:slug>/work/<int:assignment_id>/draft/", views.draft, name="draft"),
    path("p/<slug:slug>/work/<int:assignment_id>/return/", views.give_back, name="return"),
    path("p/<slug:slug>/work/<int:assignment_id>/release/", views.release, name="release"),
    path("p/<slug:slug>/leases/", views.leases, name="leases"),
    *qualification_urls.urlpatterns,
]
