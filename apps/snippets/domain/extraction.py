"""From a file's text to its body, without what belongs to the page only."""

from enum import StrEnum
from pathlib import PurePath

from apps.snippets.domain.blocks import Body, Kind
from apps.snippets.domain.lines import text_blocks
from apps.snippets.domain.markdown import markdown_blocks
from apps.snippets.domain.page import html_body


class Format(StrEnum):
    HTML = "html"
    MARKDOWN = "markdown"
    TEXT = "text"


_BY_SUFFIX = {
    ".html": Format.HTML,
    ".htm": Format.HTML,
    ".xhtml": Format.HTML,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".txt": Format.TEXT,
    ".text": Format.TEXT,
}


def format_of(name: str) -> Format | None:
    """The format that a file's name promises, or None."""
    return _BY_SUFFIX.get(PurePath(name).suffix.lower())


def extract(text: str, text_format: Format) -> Body:
    """Title and language are empty where the document does not say them."""
    if text_format == Format.HTML:
        return html_body(text)
    if text_format == Format.MARKDOWN:
        return _with_title(Body("", "", tuple(markdown_blocks(text))))
    return Body("", "", tuple(text_blocks(text)))


def _with_title(body: Body) -> Body:
    """Titled by its first heading, where that stands above all else."""
    first = body.blocks[:1]
    title = first[0].text if first and first[0].kind == Kind.HEADING else ""
    return Body(title, body.language, body.blocks)
