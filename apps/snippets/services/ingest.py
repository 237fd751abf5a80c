"""Takes a document into a project: decodes it, finds its body, and cuts it into snippets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from hashlib import sha1
from urllib.parse import unquote, urlsplit

import structlog
from django.conf import settings
from django.db import transaction

from apps.accounts.models import User
from apps.projects.models import Job, Project
from apps.projects.services import audit
from apps.snippets.domain.blocks import Body, Kind, body_text
from apps.snippets.domain.decoding import Decoded, UnreadableError, decode
from apps.snippets.domain.extraction import Format, extract
from apps.snippets.domain.segmentation import Limits, Segment, segment
from apps.snippets.domain.source import host
from apps.snippets.errors import DocumentRefusedError
from apps.snippets.models import POSITION_GAP, Document, Snippet
from apps.snippets.services.segmenting import BATCH, limits_of, snippet_row

log = structlog.get_logger(__name__)

MAX_URL, MAX_HOST, MAX_TITLE, MAX_LICENCE, MAX_ATTRIBUTION = 2000, 255, 500, 200, 500
_LONGEST = {"title": MAX_TITLE, "licence": MAX_LICENCE, "attribution": MAX_ATTRIBUTION}
_LANGUAGE = re.compile(r"(?=.{1,35}\Z)[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_UNWANTED_IN_URL = re.compile(r"[\s\x00-\x1f\x7f\\]")


@dataclass(frozen=True, slots=True)
class Details:
    """What is known about a document beside its content; empty where it is not."""

    source_url: str = ""
    title: str = ""
    language: str = ""
    licence: str = ""
    attribution: str = ""
    retrieved_on: date | None = None


class Outcome(StrEnum):
    CREATED = "created"
    NEW_VERSION = "new version"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Ingested:
    document: Document
    outcome: Outcome
    snippets: int


def ingest_document(
    project: Project, *, data: bytes, text_format: Format, details: Details,
    author: User | None, job: Job | None = None,
) -> Ingested:  # fmt: skip
    """The document, unless its latest version has this content already. The same at any time,
    by any number of people at once.

    Raises DocumentRefusedError, which says what is wrong; then nothing was written.
    """
    refuse_unlikely(details)
    refuse_size(len(data))
    digest = sha1(data, usedforsecurity=False).hexdigest()
    if here := _here_already(project, details, digest, job):
        return here
    reading = _read(data, text_format, limits_of(project))
    with transaction.atomic():
        # One at a time in a project: two would both find this version missing.
        locked = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if here := _here_already(project, details, digest, job):
            return here
        row = Document(project=project, content_sha1=digest, media=text_format, job=job,
                       created_by=author)  # fmt: skip
        _describe(row, details, reading, latest=_latest(project, details))
        return _write(row, reading.within(limits_of(locked)))


# Refusing -----------------------------------------------------------------------------------


def refuse_unlikely(details: Details) -> None:
    """Raises DocumentRefusedError for what cannot be so, or would not fit the database."""
    refuse_url(details.source_url)
    for name, limit in _LONGEST.items():
        if len(getattr(details, name)) > limit:
            raise DocumentRefusedError(f"Its {name} is longer than {limit} characters.")
    if details.language and not _LANGUAGE.fullmatch(details.language):
        raise DocumentRefusedError(
            f"{details.language!r} is no language tag, such as en, ja or pt-BR."
        )
    if not all(_is_storable(getattr(details, name)) for name in _LONGEST):
        raise DocumentRefusedError("Its title or licence has characters that are no text.")


def refuse_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme == "file" or (parts.scheme in {"http", "https"} and host(url))
    except ValueError:
        is_whole = False
    if not is_whole or _UNWANTED_IN_URL.search(url) or not _is_storable(url):
        raise DocumentRefusedError(
            f"{url!r} is no source URL: it begins with http:// or https:// and names a host."
        )
    if len(url) > MAX_URL or len(host(url)) > MAX_HOST:
        raise DocumentRefusedError(f"Its source URL is longer than {MAX_URL:,} characters.")


def refuse_size(size: int) -> None:
    if size > settings.DOCUMENT_MAX_BYTES:
        raise DocumentRefusedError(
            f"It has {size:,} bytes; at most {settings.DOCUMENT_MAX_BYTES:,} are read. Split it, "
            "or ask who runs the studio to raise DOCUMENT_MAX_MEGABYTES."
        )


def _is_storable(text: str) -> bool:
    """No database has NUL characters and halves of surrogate pairs in its texts."""
    return "\0" not in text and not re.search("[\ud800-\udfff]", text)


# Reading ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was found in a file, cut by some limits."""

    decoded: Decoded
    body: Body
    limits: Limits
    segments: Sequence[Segment]

    def within(self, limits: Limits) -> _Reading:
        """Cut anew if somebody has just changed the limits."""
        if limits == self.limits:
            return self
        return replace(self, limits=limits, segments=list(segment(self.body, limits)))


def _read(data: bytes, text_format: Format, limits: Limits) -> _Reading:
    try:
        decoded = decode(data)
        body = extract(decoded.text, text_format)
        segments = list(segment(body, limits))
    except UnreadableError as error:
        raise DocumentRefusedError(str(error)) from error
    except Exception as error:  # whatever a page does to the readers, the others must go on
        log.exception("document_unreadable", format=text_format, bytes=len(data))
        raise DocumentRefusedError(
            "Reading it failed inside the studio. The log of the server says more."
        ) from error
    if not body.blocks:
        raise DocumentRefusedError("There is no text in its body.")
    return _Reading(decoded, body, limits, segments)


# Writing ------------------------------------------------------------------------------------


def _latest(project: Project, details: Details) -> Document | None:
    versions = Document.objects.filter(project=project, source_url=details.source_url)
    return versions.without_texts().order_by("-version").first()


def _here_already(
    project: Project, details: Details, digest: str, job: Job | None
) -> Ingested | None:
    latest = _latest(project, details)
    if latest is None or latest.content_sha1 != digest:
        return None
    outcome = Outcome.SAME
    if job is not None and latest.job_id == job.pk:  # by an attempt that was killed later
        outcome = Outcome.CREATED if latest.version == 1 else Outcome.NEW_VERSION
    return Ingested(latest, outcome, latest.snippets.count())


def _describe(
    row: Document, details: Details, reading: _Reading, *, latest: Document | None
) -> None:
    body = reading.body
    language = body.language if _LANGUAGE.fullmatch(body.language) else ""
    row.source_url = details.source_url
    row.domain = host(details.source_url)
    row.title = (details.title or body.title or _first_heading(body))[:MAX_TITLE]
    row.language = details.language or language or row.project.language
    row.licence, row.attribution = details.licence, details.attribution
    row.retrieved_on = details.retrieved_on
    row.encoding = reading.decoded.encoding
    row.source = reading.decoded.text
    row.body = body_text(body)
    if latest is not None:
        # All versions of a page are one source document, in one split.
        row.version, row.split = latest.version + 1, latest.split
        row.is_split_pinned = latest.is_split_pinned
        row.licence = details.licence or latest.licence
        row.attribution = details.attribution or latest.attribution
    row.title = row.title or (latest.title if latest else "") or _name_in(details.source_url)


def _first_heading(body: Body) -> str:
    return next((block.text for block in body.blocks if block.kind == Kind.HEADING), "")


def _name_in(url: str) -> str:
    return unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])[:MAX_TITLE]


def _write(row: Document, reading: _Reading) -> Ingested:
    row.save()
    made = {"created_by": row.created_by, "created_at": row.created_at, "job": row.job}
    snippets = Snippet.objects.bulk_create(
        (
            snippet_row(row, found, position=number * POSITION_GAP, **made)
            for number, found in enumerate(reading.segments, start=1)
        ),
        batch_size=BATCH,
    )
    audit.record(
        row.created_by, "load", row, project=row.project,
        version=row.version, snippets=len(snippets),
    )  # fmt: skip
    outcome = Outcome.CREATED if row.version == 1 else Outcome.NEW_VERSION
    return Ingested(row, outcome, len(snippets))
