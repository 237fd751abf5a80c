"""As much of S3 as the studio speaks, as a real HTTP server in a thread of its own.

It keeps objects and multipart uploads in memory, compares MD5s as S3 does, and does not look at
signatures. `before_part` is called when a part has come, before it is kept.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass
class Bucket:
    address: str = ""
    objects: dict[str, bytes] = field(default_factory=dict)
    etags: dict[str, str] = field(default_factory=dict)
    uploads: dict[str, tuple[str, dict[int, bytes]]] = field(default_factory=dict)
    sent: list[tuple[str, str, int]] = field(default_factory=list)
    """Of each PUT: method, key, and number of the part; 0 for a whole object."""
    is_full: bool = False
    before_part: Callable[[int], None] = lambda number: None


def etag(data: bytes) -> str:
    return f'"{md5(data).hexdigest()}"'


@contextmanager
def running_s3() -> Iterator[Bucket]:
    bucket = Bucket()

    class Handler(_Handler):
        pass

    Handler.bucket = bucket
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    bucket.address = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield bucket
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bucket: Bucket

    def _asked(self) -> tuple[str, dict[str, str]]:
        """Key and query; the path's first part is the bucket."""
        parts = urlsplit(self.path)
        key = unquote(parts.path).lstrip("/").partition("/")[2]
        query = parse_qs(parts.query, keep_blank_values=True)
        return key, {name: values[0] for name, values in query.items()}

    def do_PUT(self) -> None:
        key, query = self._asked()
        data = self.rfile.read(int(self.headers["Content-Length"]))
        number = int(query.get("partNumber", 0))
        self.bucket.sent.append(("PUT", key, number))
        given = self.headers["Content-MD5"]
        if self.bucket.is_full:
            self._answer(403, _error("AccessDenied"))
        elif given != b64encode(md5(data).digest()).decode():
            self._answer(400, _error("BadDigest"))
        elif number:
            self.bucket.before_part(number)
            self.bucket.uploads[query["uploadId"]][1][number] = data
            self._answer(200, headers={"ETag": etag(data)})
        else:
            self.bucket.objects[key], self.bucket.etags[key] = data, etag(data)
            self._answer(200, headers={"ETag": etag(data)})

    def do_POST(self) -> None:
        key, query = self._asked()
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        if "uploads" in query:
            upload = f"upload-{len(self.bucket.uploads) + 1}"
            self.bucket.uploads[upload] = (key, {})
            self._answer(200, f"<R><UploadId>{upload}</UploadId></R>")
            return
        _, parts = self.bucket.uploads.pop(query["uploadId"], (key, {}))
        numbers = [int(one) for one in re.findall(r"<PartNumber>(\d+)</PartNumber>", body)]
        if not parts or not set(numbers) <= set(parts):
            self._answer(404, _error("NoSuchUpload"))
            return
        wanted = [parts[number] for number in numbers]
        self.bucket.objects[key] = b"".join(wanted)
        whole = md5(b"".join(md5(part).digest() for part in wanted)).hexdigest()
        self.bucket.etags[key] = f'"{whole}-{len(wanted)}"'
        self._answer(200, f"<R><ETag>{self.bucket.etags[key]}</ETag></R>")

    def do_GET(self) -> None:
        key, query = self._asked()
        if "uploadId" in query:
            self._answer(200, self._parts(query["uploadId"]))
        elif "uploads" in query:
            self._answer(200, self._uploads(query.get("prefix", "")))
        elif "list-type" in query:
            found = sorted(key for key in self.bucket.objects if key.startswith(query["prefix"]))
            listed = "".join(f"<Contents><Key>{one}</Key></Contents>" for one in found)
            self._answer(200, f"<R><IsTruncated>false</IsTruncated>{listed}</R>")
        elif key in self.bucket.objects:
            shown = {"Content-Disposition": query.get("response-content-disposition", "")}
            self._answer(200, self.bucket.objects[key], headers=shown)
        else:
            self._answer(404, _error("NoSuchKey"))

    def do_HEAD(self) -> None:
        key, _ = self._asked()
        there = key in self.bucket.objects
        self._answer(200 if there else 404, headers={"ETag": self.bucket.etags.get(key, "")})

    def do_DELETE(self) -> None:
        key, query = self._asked()
        if "uploadId" in query:
            self.bucket.uploads.pop(query["uploadId"])
        else:
            self.bucket.objects.pop(key)
        self._answer(204)

    def _uploads(self, prefix: str) -> str:
        listed = "".join(
            f"<Upload><Key>{key}</Key><UploadId>{upload}</UploadId>"
            "<Initiated>2026-01-01T00:00:00.000Z</Initiated></Upload>"
            for upload, (key, _) in self.bucket.uploads.items() if key.startswith(prefix)
        )  # fmt: skip
        return f"<R><IsTruncated>false</IsTruncated>{listed}</R>"

    def _parts(self, upload: str) -> str:
        listed = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{etag(data)}</ETag></Part>"
            for number, data in sorted(self.bucket.uploads[upload][1].items())
        )
        return f"<R><IsTruncated>false</IsTruncated>{listed}</R>"

    def _answer(
        self, status: int, body: bytes | str = b"", headers: dict[str, str] | None = None
    ) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Tests say what went wrong."""


def _error(code: str) -> str:
    return f"<Error><Code>{code}</Code><Message>{code}</Message></Error>"
