"""Where a document comes from."""

from urllib.parse import urlsplit


def host(source_url: str) -> str:
    """The document's domain: the host of its source URL in lower case, or nothing."""
    try:
        return urlsplit(source_url).hostname or ""
    except ValueError:  # such as an unclosed bracket
        return ""
