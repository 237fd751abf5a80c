"""Log-in, log-out, password, profile, and light or dark."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse_lazy
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.forms import LogInForm, ProfileForm
from apps.accounts.models import User
from apps.accounts.themes import COOKIE, COOKIE_AGE, Theme
from apps.accounts.typed import carried_texts


class LogIn(auth.LoginView):
    form_class = LogInForm
    template_name = "accounts/login.html"
    redirect_authenticated_user = True

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        return super().get_context_data(typed=carried_texts(self.request.POST), **more)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        answer = super().form_valid(form)
        if typed := carried_texts(self.request.POST):
            context = {"typed": typed, "next": self.get_success_url()}
            return render(self.request, "accounts/typed.html", context)
        return answer


class LogOut(auth.LogoutView):
    http_method_names = ["post", "options"]


class ChangePassword(auth.PasswordChangeView):
    template_name = "accounts/password.html"
    success_url = reverse_lazy("accounts:profile")

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        messages.success(self.request, "Your password is changed. Other devices are logged out.")
        return super().form_valid(form)


@require_http_methods(["GET", "POST"])
def profile(request: HttpRequest) -> HttpResponse:
    form = ProfileForm(request.POST or None, instance=_person(request))
    if form.is_valid():
        form.save()
        messages.success(request, "Your profile is saved.")
        return redirect("accounts:profile")
    return render(request, "accounts/profile.html", {"form": form})


@login_not_required
@require_POST
def choose_theme(request: HttpRequest) -> HttpResponse:
    """Sets the cookie and goes back to the page that asked, if it is one of ours."""
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, request.get_host()):
        back = resolve_url("desk:home")
    response = redirect(back)
    theme = request.POST.get("theme")
    if theme in Theme.values:
        response.set_cookie(
            COOKIE, theme, max_age=COOKIE_AGE, httponly=True, samesite="Lax",
            secure=request.is_secure(),
        )  # fmt: skip
    return response


def _person(request: HttpRequest) -> User:
    # A row of its own: a refused form must not change the name that the header shows.
    return User.objects.get(username=request.user.get_username())
