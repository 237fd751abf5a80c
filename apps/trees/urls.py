from django.urls import URLPattern

app_name = "trees"
urlpatterns: list[URLPattern] = []
