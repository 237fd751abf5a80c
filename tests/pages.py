"""What a person reads on a page."""

import html
import re

_INLINE = re.compile(r"</?(?:bdi|time|a)\b[^>]*>")
_TAG = re.compile(r"<[^>]+>")


def words(markup: str) -> str:
    """The text of the markup, in one line."""
    return " ".join(html.unescape(_TAG.sub(" ", _INLINE.sub("", markup))).split())


def words_of_main(page: str) -> str:
    """The text of a page's main region, without header and footer."""
    return words(page.partition("<main")[2].partition("</main>")[0].partition(">")[2])
