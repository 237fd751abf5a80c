"""Who is logged out is asked to log in, and comes back to a page; what they had typed is shown."""

from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme

from apps.accounts.forms import LogInForm
from apps.accounts.typed import typed_texts


class LogInFirst(LoginRequiredMiddleware):
    def handle_no_permission(  # type: ignore[override]  # Django itself takes any answer
        self, request: HttpRequest, view_func: Any
    ) -> HttpResponseBase:
        if request.method != "POST":
            return super().handle_no_permission(request, view_func)
        back = page_of_form(request)
        typed = typed_texts(request.POST)
        if not typed or _keeps_its_text(request):
            return redirect_to_login(back)
        context = {"form": LogInForm(request), "next": back, "typed": typed}
        return render(request, "accounts/login.html", context, status=403)


def page_of_form(request: HttpRequest) -> str:
    """The page that the form stood on: many addresses of forms show nothing by themselves."""
    page = request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(page, request.get_host(), require_https=request.is_secure()):
        parts = urlsplit(page)
        return parts.path + (f"?{parts.query}" if parts.query else "")
    here = request.resolver_match
    slug = here.kwargs.get("slug") if here else None
    return resolve_url("desk:project", slug) if slug else resolve_url("desk:home")


def _keeps_its_text(request: HttpRequest) -> bool:
    """A script sent it, and the page with the text stays; or drafts.js says that the browser has a
    copy, which is in the form again after the log-in."""
    mode = request.headers.get("Sec-Fetch-Mode", "navigate")
    return "HX-Request" in request.headers or mode != "navigate" or "kept" in request.POST
