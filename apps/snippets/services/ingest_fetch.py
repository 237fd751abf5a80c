"""Fetching pages by URL, without letting anybody look around in the network of the server.

Only http and https, only hosts that FETCH_ALLOWED_HOSTS names, only their usual ports, and only
addresses that are public: asked for once, checked, and then connected to, so that a name that
answers otherwise the next time gains nothing. Each redirect is checked like the first address.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from threading import Event, Timer
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from django.conf import settings

from apps.snippets.domain.extraction import Format, format_of
from apps.snippets.errors import DocumentRefusedError
from apps.snippets.services.ingest import Details, refuse_size, refuse_url
from apps.snippets.services.ingest_files import Incoming

MAX_REDIRECTS = 5
_PORTS = {"http": 80, "https": 443}
_REDIRECTS = {301, 302, 303, 307, 308}
_MEDIA = {
    "text/html": Format.HTML,
    "application/xhtml+xml": Format.HTML,
    "text/markdown": Format.MARKDOWN,
    "text/plain": Format.TEXT,
}
_EMBEDDING = [ipaddress.ip_network(net) for net in ("64:ff9b::/96", "64:ff9b:1::/48")]
"""IPv6 addresses with an IPv4 address inside that the network itself translates to."""


@dataclass(frozen=True, slots=True)
class Network:
    """The two doors to the outside, for tests to stand in."""

    resolve: Callable[[str, int], list[str]]
    connect: Callable[[str, int, float], socket.socket]


def _resolve(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _connect(address: str, port: int, timeout: float) -> socket.socket:
    return socket.create_connection((address, port), timeout)


INTERNET = Network(_resolve, _connect)


def allowed_hosts() -> list[str]:
    return [str(name).lower() for name in settings.FETCH_ALLOWED_HOSTS]


def can_fetch() -> bool:
    return bool(allowed_hosts())


def fetched(urls: Sequence[str], details: Details) -> list[Incoming]:
    """What the URLs lead to, fetched when it is read."""
    return [Incoming(url, replace(details, source_url=url), partial(fetch, url)) for url in urls]


def fetch(url: str, network: Network = INTERNET) -> tuple[bytes, Format]:
    """The page at `url`. Raises DocumentRefusedError with the reason."""
    for _ in range(MAX_REDIRECTS + 1):
        parts = _allowed(url)
        address = _public_address(parts, network)
        answer = _ask(parts, address, network)
        if isinstance(answer, str):
            url = urljoin(url, answer)
        else:
            return answer
    raise DocumentRefusedError(f"It was redirected more than {MAX_REDIRECTS} times.")


# What may be asked, and where ---------------------------------------------------------------


def _allowed(url: str) -> SplitResult:
    refuse_url(url)
    parts = urlsplit(url)
    if parts.scheme not in _PORTS:
        raise DocumentRefusedError(f"Only http and https are fetched, and not {parts.scheme}.")
    if "@" in parts.netloc:
        raise DocumentRefusedError("Its URL holds a user name.")
    if not is_allowed_host(parts.hostname or ""):
        raise DocumentRefusedError(
            f"{parts.hostname} is none of the hosts that may be fetched from "
            f"({', '.join(allowed_hosts())})."
        )
    if _port(parts) != _PORTS[parts.scheme]:
        raise DocumentRefusedError("Its URL names a port of its own.")
    return parts


def is_allowed_host(host: str) -> bool:
    """`.example.org` in the setting stands for all hosts below it."""
    return any(
        host.endswith(name) if name.startswith(".") else host == name for name in allowed_hosts()
    )


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port or _PORTS[parts.scheme]
    except ValueError:
        return None


def _public_address(parts: SplitResult, network: Network) -> str:
    host = parts.hostname or ""
    try:
        addresses = network.resolve(host, _PORTS[parts.scheme])
    except (OSError, UnicodeError) as error:
        raise DocumentRefusedError(f"The host {host} was not found.") from error
    if not addresses or not all(map(is_public, addresses)):
        raise DocumentRefusedError(f"The host {host} has an address that is not public.")
    return addresses[0]


def is_public(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:  # such as a scope: fe80::1%eth0
        return False
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        is_embedding = address.teredo or any(address in net for net in _EMBEDDING)
        if is_embedding or (inner is not None and not is_public(str(inner))):
            return False
    return address.is_global and not address.is_multicast


# Asking -------------------------------------------------------------------------------------


class _Connection(http.client.HTTPConnection):
    """Connects to the address that was checked, whatever its host's name says by now."""

    def __init__(self, parts: SplitResult, connected: socket.socket) -> None:
        super().__init__(parts.hostname or "", _PORTS[parts.scheme])
        self.sock = connected


def _ask(parts: SplitResult, address: str, network: Network) -> str | tuple[bytes, Format]:
    """Where it is redirected to, or what came."""
    limit = settings.FETCH_TIMEOUT_SECONDS
    try:
        with _connected(parts, address, network, limit) as connected:
            return _exchange(parts, connected)
    except TimeoutError as error:
        raise DocumentRefusedError(f"It took longer than {limit} seconds.") from error
    except ssl.SSLError as error:
        raise DocumentRefusedError(
            f"{parts.hostname} has no certificate that holds: {error.reason or error}."
        ) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise DocumentRefusedError(
            f"{parts.hostname} did not answer as a web server does."
        ) from error


@contextmanager
def _connected(
    parts: SplitResult, address: str, network: Network, limit: int
) -> Iterator[socket.socket]:
    """For `limit` seconds in all: a server that sends a byte now and then does not hold us.

    Raises TimeoutError after that, whatever was read meanwhile: it may break off anywhere.
    """
    connected = network.connect(address, _PORTS[parts.scheme], limit)
    is_over = Event()
    watch = Timer(limit, _hang_up, [connected, is_over])
    watch.daemon = True
    watch.start()
    try:
        if parts.scheme == "https":
            # The name in the certificate is still the host's.
            context = ssl.create_default_context()
            connected = context.wrap_socket(connected, server_hostname=parts.hostname)
        yield connected
    except (OSError, http.client.HTTPException):
        if not is_over.is_set():
            raise
    finally:
        watch.cancel()
        connected.close()
    if is_over.is_set():
        raise TimeoutError


def _hang_up(connected: socket.socket, is_over: Event) -> None:
    is_over.set()
    with suppress(OSError):  # it has just ended
        connected.shutdown(socket.SHUT_RDWR)


def _exchange(parts: SplitResult, connected: socket.socket) -> str | tuple[bytes, Format]:
    with closing(_Connection(parts, connected)) as connection:
        connection.request("GET", _target(parts), headers={
            "Host": parts.netloc, "Accept": ", ".join(_MEDIA), "Accept-Encoding": "identity",
            "User-Agent": "sharc-studio", "Connection": "close",
        })  # fmt: skip
        with connection.getresponse() as response:
            return _answer(response, parts)


def _target(parts: SplitResult) -> str:
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~?")
    return f"{path}?{query}" if query else path


def _answer(response: http.client.HTTPResponse, parts: SplitResult) -> str | tuple[bytes, Format]:
    if response.status in _REDIRECTS and (location := response.headers["Location"]):
        return location
    if response.status != 200:
        raise DocumentRefusedError(f"{parts.hostname} answered {response.status}.")
    if response.headers["Content-Encoding"] not in {None, "identity"}:
        raise DocumentRefusedError(f"{parts.hostname} sent it packed, which was not asked for.")
    text_format = _MEDIA.get(response.headers.get_content_type())
    if text_format is None:
        raise DocumentRefusedError(
            f"It is {response.headers.get_content_type()}: neither HTML, Markdown nor plain text."
        )
    if text_format == Format.TEXT and format_of(parts.path) == Format.MARKDOWN:
        text_format = Format.MARKDOWN
    refuse_size(response.length or 0)
    data = response.read(settings.DOCUMENT_MAX_BYTES + 1)
    refuse_size(len(data))
    if response.length:
        raise DocumentRefusedError(f"The connection to {parts.hostname} broke off.")
    return data, text_format
