"""Where finished exports are kept: in a folder of this machine, or in an S3 bucket.

Whoever takes a job up after its worker was killed keeps the export again: what is there already is
not sent a second time, and nothing can be fetched that is not whole.
"""

from __future__ import annotations

import shutil
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path
from typing import Any, Protocol

from django.conf import settings
from django.core import signing
from django.urls import reverse

from apps.exports.errors import ExportStorageError

Told = Callable[[int], None]
"""Called with how many more bytes are kept."""

FOLDER = "files"
SALT = "exports.storage.link"
PART_BYTES = 16 << 20
MOST_PARTS = 10_000  # that S3 puts together


class Storage(Protocol):
    KIND: str

    def keep_export(self, folder: Path, archive: Path, name: str, told: Told) -> None:
        """Keeps the archive under the name, and the folder's files under FOLDER beside it."""

    def link(self, name: str, *, called: str) -> str:
        """An address at which whoever has it can fetch the file, for EXPORT_LINK_SECONDS."""

    def forget(self, prefix: str) -> None:
        """Deletes all below it, also what was sent half."""


class LocalStorage:
    """Below MEDIA_ROOT, which web servers and workers share. Names change, nothing is copied."""

    KIND = "local"

    def keep_export(self, folder: Path, archive: Path, name: str, told: Told) -> None:
        target = self.path(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        for path, place in ((folder, target.parent / FOLDER), (archive, target)):
            if path.exists():
                if place.is_dir():
                    shutil.rmtree(place)
                path.replace(place)

    def link(self, name: str, *, called: str) -> str:
        return reverse("exports:file", args=[signing.dumps([name, called], salt=SALT)])

    def linked(self, token: str) -> tuple[str, str]:
        """Name and file name of a link. Raises BadSignature where it is none, or ran out."""
        name, called = signing.loads(token, salt=SALT, max_age=settings.EXPORT_LINK_SECONDS)
        return name, called

    def forget(self, prefix: str) -> None:
        shutil.rmtree(self.path(prefix), ignore_errors=True)

    def path(self, name: str) -> Path:
        return Path(settings.MEDIA_ROOT) / name


class S3Storage:
    """A bucket of S3, or of anything that speaks it. Credentials come from the environment.

    Large files go in parts. S3 names each part, and the whole, by MD5: so what is there is known
    without being fetched. A bucket that encrypts with keys of KMS has other names; there everything
    is sent again.
    """

    KIND = "s3"

    def __init__(self, bucket: str, endpoint: str = "", part_bytes: int = PART_BYTES) -> None:
        self._bucket, self._part_bytes = bucket, part_bytes
        self._client = _client(endpoint)

    def keep_export(self, folder: Path, archive: Path, name: str, told: Told) -> None:
        beside = name.rpartition("/")[0]
        with _refusing(self._bucket):
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                inside = path.relative_to(folder).as_posix()
                self._keep(path, f"{beside}/{FOLDER}/{inside}", told)
            self._keep(archive, name, told)

    def _keep(self, path: Path, key: str, told: Told) -> None:
        parts = list(_parts(path, self._part_bytes))
        if self._etag(key) == _etag_of(parts):
            told(path.stat().st_size)
        elif len(parts) == 1:
            self._client.put_object(Bucket=self._bucket, Key=key, **_body(path, parts[0]))
            told(parts[0].size)
        else:
            self._keep_in_parts(path, key, parts, told)

    def _keep_in_parts(self, path: Path, key: str, parts: list[_Part], told: Told) -> None:
        upload, there = self._begun(key)
        where = {"Bucket": self._bucket, "Key": key, "UploadId": upload}
        for part in parts:
            if there.get(part.number) != part.etag:
                self._client.upload_part(**where, PartNumber=part.number, **_body(path, part))
            told(part.size)
        listed = [{"PartNumber": part.number, "ETag": part.etag} for part in parts]
        self._client.complete_multipart_upload(**where, MultipartUpload={"Parts": listed})

    def _begun(self, key: str) -> tuple[str, dict[int, str]]:
        """The upload of the file that was begun last, and the ETags of its parts; or a new one."""
        begun = [one for one in self._uploads(key) if one["Key"] == key]
        if not begun:
            created = self._client.create_multipart_upload(Bucket=self._bucket, Key=key)
            return created["UploadId"], {}
        upload = max(begun, key=lambda one: one["Initiated"])["UploadId"]
        pages = self._client.get_paginator("list_parts").paginate(
            Bucket=self._bucket, Key=key, UploadId=upload
        )
        parts = (part for page in pages for part in page.get("Parts", []))
        return upload, {part["PartNumber"]: part["ETag"] for part in parts}

    def _uploads(self, prefix: str) -> Iterator[dict[str, Any]]:
        pages = self._client.get_paginator("list_multipart_uploads").paginate(
            Bucket=self._bucket, Prefix=prefix
        )
        for page in pages:
            yield from page.get("Uploads", [])

    def _etag(self, key: str) -> str | None:
        try:
            found: str = self._client.head_object(Bucket=self._bucket, Key=key)["ETag"]
        except self._client.exceptions.ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
                return None
            raise
        return found

    def link(self, name: str, *, called: str) -> str:
        shown = f'attachment; filename="{called}"'
        asked = {"Bucket": self._bucket, "Key": name, "ResponseContentDisposition": shown}
        link: str = self._client.generate_presigned_url(
            "get_object", Params=asked, ExpiresIn=settings.EXPORT_LINK_SECONDS
        )
        return link

    def forget(self, prefix: str) -> None:
        with _refusing(self._bucket):
            for one in list(self._uploads(prefix)):
                self._client.abort_multipart_upload(
                    Bucket=self._bucket, Key=one["Key"], UploadId=one["UploadId"]
                )
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=prefix
            )
            for page in pages:
                for one in page.get("Contents", []):
                    self._client.delete_object(Bucket=self._bucket, Key=one["Key"])


@dataclass(frozen=True)
class _Part:
    number: int
    offset: int
    size: int
    digest: bytes

    @property
    def etag(self) -> str:
        return f'"{self.digest.hex()}"'


def _parts(path: Path, part_bytes: int) -> Iterator[_Part]:
    """At least one, also of an empty file."""
    each = max(part_bytes, -(-path.stat().st_size // MOST_PARTS))
    number = offset = 0
    with path.open("rb") as stream:
        while (block := stream.read(each)) or not number:
            number += 1
            digest = md5(block, usedforsecurity=False).digest()
            yield _Part(number, offset, len(block), digest)
            offset += len(block)


def _etag_of(parts: list[_Part]) -> str:
    if len(parts) == 1:
        return parts[0].etag
    digest = md5(b"".join(part.digest for part in parts), usedforsecurity=False)
    return f'"{digest.hexdigest()}-{len(parts)}"'


def _body(path: Path, part: _Part) -> dict[str, Any]:
    """S3 compares the MD5: what was garbled on the way is refused."""
    with path.open("rb") as stream:
        stream.seek(part.offset)
        return {"Body": stream.read(part.size), "ContentMD5": b64encode(part.digest).decode()}


def _client(endpoint: str) -> Any:
    """boto3 is loaded where it is used: it takes 30 MB of every process that has it."""
    import boto3  # noqa: PLC0415
    from botocore.config import Config  # noqa: PLC0415

    config = Config(
        signature_version="s3v4",
        retries={"mode": "standard", "max_attempts": 4},
        connect_timeout=10,
        read_timeout=60,
        # Others that speak S3 know neither the newer checksums nor buckets as host names.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        s3={"addressing_style": "path" if endpoint else "auto"},
    )
    region = settings.AWS_DEFAULT_REGION or None
    return boto3.client("s3", endpoint_url=endpoint or None, region_name=region, config=config)


@contextmanager
def _refusing(bucket: str) -> Iterator[None]:
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise ExportStorageError(
            f"The bucket {bucket} did not take the export: {' '.join(str(error).split())} What is "
            "there already stays for a day: try again, and it goes on from there."
        ) from error


def storage() -> Storage:
    """Where new exports go."""
    return storage_of(S3Storage.KIND if settings.EXPORT_BUCKET else LocalStorage.KIND)


def storage_of(kind: str) -> Storage:
    """Where an export is that was kept in such a one; a bucket may have come or gone since."""
    if kind != S3Storage.KIND:
        return LocalStorage()
    if not settings.EXPORT_BUCKET:
        raise ExportStorageError("It is in a bucket, and EXPORT_BUCKET no longer says in which.")
    return S3Storage(settings.EXPORT_BUCKET, settings.AWS_ENDPOINT_URL)
