from django.urls import path

from apps.accounts import views

app_name = "accounts"
urlpatterns = [
    path("log-in/", views.LogIn.as_view(), name="login"),
    path("log-out/", views.LogOut.as_view(), name="logout"),
    path("password/", views.ChangePassword.as_view(), name="password"),
    path("profile/", views.profile, name="profile"),
    path("theme/", views.choose_theme, name="theme"),
]
