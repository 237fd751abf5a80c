"""A browser without scripts: pages, their forms, cookies; and patience when a server restarts."""

import time
from http.client import HTTPException
from http.cookiejar import CookieJar
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import HTTPCookieProcessor, Request, build_opener

from lxml import html

PATIENCE = 60.0
"""Seconds in which a server that does not answer may come back."""
TIMEOUT = 60.0
PAUSE = 0.3


def does_answer(site: str) -> bool:
    """Whether there is a server, whatever it says."""
    try:
        with build_opener().open(site, timeout=TIMEOUT):
            return True
    except HTTPError:
        return True
    except (URLError, OSError, HTTPException, ValueError):
        return False


class ErrorPageError(Exception):
    """A page that nobody should ever see."""

    def __init__(self, status: int, address: str, text: str) -> None:
        super().__init__(f"{status} at {address}\n{text[:2000]}")


class Page:
    """What a request came to, after redirects."""

    def __init__(self, address: str, text: str) -> None:
        self.address = address
        self.path = urlsplit(address).path
        self.text = text
        self.root = html.fromstring(text, base_url=address)

    def form(self, ending: str) -> Any | None:
        """The first form whose address ends so."""
        return next((form for form in self.root.forms if _path_of(form).endswith(ending)), None)

    def link(self, *endings: str) -> str | None:
        """The first link to an address that ends in one of these ways."""
        for _, _, address, _ in self.root.iterlinks():
            if urlsplit(address).path.endswith(endings):
                return str(address)
        return None

    def select(self, xpath: str) -> list[Any]:
        return list(self.root.xpath(xpath))

    def words(self, xpath: str) -> str:
        return " ".join(" ".join(part.text_content().split()) for part in self.select(xpath))


def _path_of(form: Any) -> str:
    return str(urlsplit(form.action or form.base_url or "").path)


class Browser:
    def __init__(self, site: str) -> None:
        self.site = site.rstrip("/") + "/"
        self.opener = build_opener(HTTPCookieProcessor(CookieJar()))

    def open(self, address: str) -> Page:
        return self._request(urljoin(self.site, address), None)

    def send(self, page: Page, form: Any, **values: str) -> Page:
        """Sends the form as it stands, with these values."""
        fields = {name: value for name, value in form.form_values() if value is not None}
        address = urljoin(page.address, form.action or page.address)
        return self._request(address, urlencode({**fields, **values}).encode())

    def _request(self, address: str, data: bytes | None) -> Page:
        """Again and again while nobody answers: each form of the studio may be sent twice."""
        last = time.monotonic() + PATIENCE
        while True:
            try:
                return self._try(address, data)
            except HTTPError as error:
                text = error.read().decode(errors="replace")
                raise ErrorPageError(error.code, address, text) from error
            except (URLError, OSError, HTTPException):
                if time.monotonic() > last:
                    raise
                time.sleep(PAUSE)

    def _try(self, address: str, data: bytes | None) -> Page:
        request = Request(address, data=data)  # noqa: S310 - the command takes http and https only
        with self.opener.open(request, timeout=TIMEOUT) as answer:
            return Page(answer.geturl(), answer.read().decode())
