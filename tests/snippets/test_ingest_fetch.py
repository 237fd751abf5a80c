"""Fetching by URL: from hosts that are named, at public addresses, within limits."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from apps.snippets.domain.extraction import Format
from apps.snippets.errors import DocumentRefusedError
from apps.snippets.services import ingest_fetch
from apps.snippets.services.ingest_fetch import INTERNET, Network, fetch, is_public

PUBLIC, OTHER_PUBLIC = "93.184.216.34", "2606:2800:220:1::1"
PAGE = b"<p>You can apply.</p>"


class Handler(BaseHTTPRequestHandler):
    """Answers by the path; `server.seen` has what was asked."""

    server: "Server"
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.seen.append(f"{self.headers['Host']}{self.path}")
        page, _, rest = self.path.lstrip("/").partition("?")
        getattr(self, f"answer_{page or 'page'}")(rest)

    def send(self, data: bytes = PAGE, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content_Type": "text/html", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def answer_page(self, _: str) -> None:
        self.send()

    def answer_to(self, location: str) -> None:
        self.send(b"", 302, Location=location)

    def answer_hops(self, left: str) -> None:
        number = int(left)
        self.send(b"", 301, Location=f"/hops?{number - 1}" if number else "/page")

    def answer_as(self, media: str) -> None:
        self.send(Content_Type=media)

    def answer_missing(self, _: str) -> None:
        self.send(status=404)

    def answer_packed(self, _: str) -> None:
        self.send(Content_Encoding="gzip")

    def answer_large(self, size: str) -> None:
        self.send(b"x" * int(size))

    def answer_endless(self, _: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        while not self.server.is_over.wait(0.02):
            try:
                self.wfile.write(b"x")
            except OSError:
                return

    def answer_junk(self, _: str) -> None:
        self.wfile.write(b"SSH-2.0-OpenSSH\r\n\r\n")
        self.close_connection = True

    def answer_cut(self, _: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(PAGE)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[str] = []
        self.is_over = threading.Event()


@dataclass
class World:
    """A name server and a network: every public address leads to the one local server."""

    server: Server
    names: dict[str, list[str]]
    later: dict[str, list[str]] = field(default_factory=dict)  # from the second answer on
    connected: list[tuple[str, int]] = field(default_factory=list)

    def resolve(self, host: str, port: int) -> list[str]:
        if host not in self.names:
            raise socket.gaierror
        answers = self.names[host]
        self.names[host] = self.later.get(host, answers)
        return answers

    def connect(self, address: str, port: int, timeout: float) -> socket.socket:
        self.connected.append((address, port))
        return socket.create_connection(self.server.server_address, timeout)  # type: ignore[arg-type]

    def fetch(self, url: str) -> tuple[bytes, Format]:
        return fetch(url, Network(self.resolve, self.connect))

    def refusal(self, url: str) -> str:
        with pytest.raises(DocumentRefusedError) as caught:
            self.fetch(url)
        return str(caught.value)


@contextmanager
def running() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.is_over.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def world(settings):
    settings.FETCH_ALLOWED_HOSTS = ["a.example", "b.example", ".wide.example"]
    with running() as server:
        yield World(server, {"a.example": [PUBLIC], "b.example": [OTHER_PUBLIC]})


def test_a_page_is_fetched_from_the_address_that_was_checked(world):
    assert world.fetch("http://a.example/page?x=ä%20ö") == (PAGE, Format.HTML)
    assert world.connected == [(PUBLIC, 80)]
    assert world.server.seen == ["a.example/page?x=%C3%A4%20%C3%B6"]


def test_a_redirect_is_followed_to_another_host_that_is_named(world):
    assert world.fetch("http://a.example/to?http://b.example/page") == (PAGE, Format.HTML)
    assert world.connected == [(PUBLIC, 80), (OTHER_PUBLIC, 80)]


def test_the_name_is_asked_once_and_another_answer_later_gains_nothing(world):
    world.later["a.example"] = ["127.0.0.1"]
    assert world.fetch("http://a.example/page") == (PAGE, Format.HTML)
    assert world.connected == [(PUBLIC, 80)]
    world.names["a.example"] = [PUBLIC]
    assert world.refusal("http://a.example/to?/page") == (
        "The host a.example has an address that is not public."
    )
    assert world.connected == [(PUBLIC, 80)] * 2


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.1", "::",
     "100.64.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::1", "fe80::1", "fe80::1%eth0",
     "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::", "2002:a00:1::",
     "64:ff9b::7f00:1", "64:ff9b:1::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "192.0.2.1",
     "2001:db8::1", "198.18.0.1", "not an address"],
)  # fmt: skip
def test_addresses_inside_are_not_public(world, address):
    assert not is_public(address)
    world.names["a.example"] = [address]
    assert world.refusal("http://a.example/") == (
        "The host a.example has an address that is not public."
    )
    world.names["a.example"] = [PUBLIC, address]
    assert world.refusal("http://a.example/").endswith("an address that is not public.")
    assert world.connected == []


def test_public_addresses_are():
    assert [is_public(one) for one in (PUBLIC, OTHER_PUBLIC, "::ffff:93.184.216.34")] == [True] * 3


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://c.example/", "c.example is none of the hosts that may be fetched from "
         "(a.example, b.example, .wide.example)."),
        ("http://wide.example/", "wide.example is none of the hosts that may be fetched from "
         "(a.example, b.example, .wide.example)."),
        ("http://notwide.example/", "notwide.example is none of the hosts that may be fetched from "
         "(a.example, b.example, .wide.example)."),
        ("http://93.184.216.34/", "93.184.216.34 is none of the hosts that may be fetched from "
         "(a.example, b.example, .wide.example)."),
        ("http://a.example@c.example/", "Its URL holds a user name."),
        ("http://a.example:8000/", "Its URL names a port of its own."),
        ("http://a.example:443/", "Its URL names a port of its own."),
        ("http://a.example:x/", "Its URL names a port of its own."),
        ("file:///etc/passwd", "Only http and https are fetched, and not file."),
        ("ftp://a.example/", "'ftp://a.example/' is no source URL: it begins with http:// or "
         "https:// and names a host."),
    ],
)  # fmt: skip
def test_other_hosts_ports_and_schemes_are_refused_also_after_a_redirect(world, url, said):
    assert world.refusal(url) == said
    assert world.connected == []
    assert world.refusal(f"http://a.example/to?{url}") == said
    assert world.connected == [(PUBLIC, 80)]


def test_hosts_below_a_named_one_may_be_fetched(world):
    world.names["x.wide.example"] = [PUBLIC]
    assert world.fetch("http://X.wide.example/page") == (PAGE, Format.HTML)


def test_a_redirect_to_an_address_inside_is_refused(world):
    world.names["b.example"] = ["169.254.169.254"]
    assert world.refusal("http://a.example/to?http://b.example/latest/meta-data") == (
        "The host b.example has an address that is not public."
    )
    assert world.server.seen == ["a.example/to?http://b.example/latest/meta-data"]


def test_five_redirects_are_followed_and_a_sixth_is_not(world):
    assert world.fetch("http://a.example/hops?4") == (PAGE, Format.HTML)
    assert world.refusal("http://a.example/hops?5") == "It was redirected more than 5 times."


@pytest.mark.parametrize(
    ("media", "text_format"),
    [
        ("text/html; charset=utf-8", Format.HTML),
        ("application/xhtml+xml", Format.HTML),
        ("text/plain", Format.TEXT),
        ("text/markdown", Format.MARKDOWN),
    ],
)
def test_the_format_is_what_the_server_says(world, media, text_format):
    assert world.fetch(f"http://a.example/as?{media.replace(' ', '')}")[1] == text_format


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("as?image/png", "It is image/png: neither HTML, Markdown nor plain text."),
        ("missing", "a.example answered 404."),
        ("packed", "a.example sent it packed, which was not asked for."),
        ("junk", "a.example did not answer as a web server does."),
        ("cut", "The connection to a.example broke off."),
    ],
)
def test_what_is_no_document_is_refused(world, path, said):
    assert world.refusal(f"http://a.example/{path}") == said


def test_a_host_without_an_address_is_refused(world):
    assert world.refusal("http://b.x.wide.example/") == "The host b.x.wide.example was not found."


def test_a_large_page_is_not_read_to_its_end(world, settings):
    settings.DOCUMENT_MAX_BYTES = 1000
    assert len(world.fetch("http://a.example/large?1000")[0]) == 1000
    assert world.refusal("http://a.example/large?1001").startswith("It has 1,001 bytes; at most")


def test_a_page_that_never_ends_is_given_up_in_time(world, settings):
    settings.FETCH_TIMEOUT_SECONDS = 1
    begin = time.monotonic()
    said = world.refusal("http://a.example/endless")
    assert said == "It took longer than 1 seconds."
    assert time.monotonic() - begin < 5


def test_https_asks_for_a_certificate_that_holds(world):
    assert world.refusal("https://a.example/").startswith("a.example has no certificate that holds")
    assert world.connected == [(PUBLIC, 443)]


def test_the_real_doors_lead_to_this_machine_where_they_are_asked_to():
    with running() as server:
        port = server.server_port
        assert INTERNET.resolve("127.0.0.1", port) == ["127.0.0.1"]
        with INTERNET.connect("127.0.0.1", port, 5) as connected:
            assert connected.getpeername() == ("127.0.0.1", port)


def test_without_named_hosts_nothing_may_be_fetched(settings):
    assert not ingest_fetch.can_fetch()
    settings.FETCH_ALLOWED_HOSTS = ["a.example"]
    assert ingest_fetch.can_fetch()
