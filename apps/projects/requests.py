"""Requests as the pages see them."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


class HtmxHttpRequest(HttpRequest):
    """With what htmx says about itself; every request has it, by the middleware."""

    htmx: HtmxDetails
