from django.urls import path

from apps.trees import path_urls, review_urls, views

app_name = "trees"
urlpatterns = [
    *path_urls.urlpatterns,
    *review_urls.urlpatterns,
    path("p/<slug:slug>/trees/", views.tree_list, name="list"),
    path("p/<slug:slug>/trees/<slug:tree_id>/", views.tree_detail, name="detail"),
]
