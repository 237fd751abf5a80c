"""Documents and experts for tests of the snippet bench."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.urls import reverse

from apps.accounts.models import User
from apps.projects.models import Project
from apps.snippets.models import Document, Snippet
from apps.snippets.services.bench_leases import take
from tests.factories import make_document, make_snippet

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=61)
COLUMNS = [field.attname for field in Snippet._meta.concrete_fields]


def make_bench(project: Project, *texts: str, **fields: object) -> Document:
    """A document of these snippets, each text once in its body, all proposed."""
    document = make_document(project, body="\n\n".join(texts), **fields)
    at = 0
    for number, text in enumerate(texts, 1):
        make_snippet(
            document, position=number * 1000, text=text, cut_text=text, words=len(text.split()),
            items=0, pieces=[[at, at + len(text)]], state=Snippet.State.PROPOSED,
        )  # fmt: skip
        at += len(text) + 2
    return document


def take_now(document: Document, expert: User) -> None:
    take(document, expert=expert, now=NOW)


def rows(document: Document) -> list[tuple]:
    """All columns of all snippets of the document."""
    return list(document.snippets.order_by("position").values_list(*COLUMNS))


def texts(document: Document) -> list[str]:
    return list(document.snippets.on_bench().values_list("text", flat=True))


def address(name: str, document: Document, snippet: Snippet | None = None) -> str:
    keys = [document.project.slug, document.pk, *([snippet.pk] if snippet else [])]
    return reverse(f"snippets:{name}", args=keys)


def nth(document: Document, number: int) -> Snippet:
    return document.snippets.on_bench()[number - 1]


def do(client: Any, action: str, snippet: Snippet, *, seen: str = "", **sent: Any) -> Any:
    """The step's form, sent as the page has it."""
    headers = sent.pop("headers", {})
    prefix = f"{snippet.pk}-" if action == "edit" else ""
    data = {f"{prefix}{name}": value for name, value in sent.items()}
    data[f"{prefix}seen"] = seen or snippet.fingerprint
    return client.post(
        address(f"bench_{action}", snippet.document, snippet), data, headers=headers
    )  # fmt: skip


def page_of(client: Any, document: Document, **query: Any) -> str:
    return str(client.get(address("bench", document), query).content.decode())
