from django.urls import path

from apps.desk import views

app_name = "desk"
urlpatterns = [
    path("", views.home, name="home"),
    path("p/<slug:slug>/", views.project, name="project"),
    path("p/<slug:slug>/people/workers/", views.workers, name="workers"),
]
