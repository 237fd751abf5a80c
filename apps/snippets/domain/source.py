"""Where a document comes from."""

from datetime import date
from urllib.parse import urlsplit


def host(source_url: str) -> str:
    """The document's domain: the host of its source URL in lower case, or nothing."""
    try:
        return urlsplit(source_url).hostname or ""
    except ValueError:  # such as an unclosed bracket
        return ""


def credit_of(title: str, source_url: str, retrieved_on: date | None) -> str:
    """What to write beside a text that is taken from it: title, place and day, as far as known."""
    day = f"retrieved on {retrieved_on.isoformat()}" if retrieved_on else ""
    name = f"“{' '.join(title.split())}”" if title.strip() else ""
    return ", ".join(part for part in (name, source_url, day) if part)
