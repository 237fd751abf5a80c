"""Markdown that people wrote, as HTML that is safe to show: rule texts and guidelines."""

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

# Below the page's own h1 and a section's h2, so that the outline stays right.
_HIGHEST_HEADING = 3
_LOWEST_HEADING = 6

_TAGS = {
    "p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code",
    "em", "strong", "s", "a", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}

_parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_parser.disable("image")


def render(text: str) -> SafeString:
    """Safe HTML of `text`; headings begin at level 3. HTML inside the text is shown as text."""
    tokens = _parser.parse(text)
    for token in tokens:
        _lower_heading(token)
    html = _parser.renderer.render(tokens, _parser.options, {})
    clean = nh3.clean(
        html, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"http", "https", "mailto"}
    )
    return mark_safe(clean)  # noqa: S308 - nh3 has just cleaned it.


def _lower_heading(token: Token) -> None:
    if token.type in {"heading_open", "heading_close"}:
        level = int(token.tag.removeprefix("h")) + _HIGHEST_HEADING - 1
        token.tag = f"h{min(level, _LOWEST_HEADING)}"
