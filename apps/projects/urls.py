from django.urls import URLPattern

app_name = "projects"
urlpatterns: list[URLPattern] = []
