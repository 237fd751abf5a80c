"""Markdown that people wrote, as HTML that is safe to show: rule texts and guidelines."""

from collections.abc import Iterable

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

# Under the page's own h1 and a section's h2, so that the outline of the page stays right.
_HIGHEST_HEADING = 3
_LOWEST_HEADING = 6

_TAGS = {
    "p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code",
    "em", "strong", "s", "a", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "*": {"dir"}}

_parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_parser.disable("image")


def render(text: str) -> SafeString:
    """Safe HTML of `text`. HTML inside the text is shown as text.

    Headings begin at level 3 and leave no level out, whatever levels the text uses. Each block
    takes its own direction from its first letter, so that Arabic and English can stand together.
    """
    tokens = _parser.parse(text)
    _renumber_headings(tokens)
    for token in tokens:
        # Not inside lists: the list must find its direction in its items' letters.
        if token.level == 0 and token.nesting == 1:
            token.attrSet("dir", "auto")
    html = _parser.renderer.render(tokens, _parser.options, {})
    clean = nh3.clean(
        html, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"http", "https", "mailto"}
    )
    return mark_safe(clean)  # noqa: S308 - nh3 has just cleaned it.


def _renumber_headings(tokens: Iterable[Token]) -> None:
    above: list[str] = []  # the headings that the current one stands under, "h1" to "h6"
    for token in tokens:
        if token.type == "heading_open":
            above = [*(tag for tag in above if tag < token.tag), token.tag]
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(_HIGHEST_HEADING + len(above) - 1, _LOWEST_HEADING)}"
