"""Markdown of rule texts and guidelines: what it becomes, and what it can never become."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.projects.markdown import render

KNOWN = {
    "p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em",
    "strong", "s", "a", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip


def _elements(html: str) -> list[tuple[str, dict[str, str]]]:
    """Every start tag with its attributes, as a browser would read them."""
    found: list[tuple[str, dict[str, str]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.append((tag, {name: value or "" for name, value in attrs}))

    reader = Reader()
    reader.feed(html)
    reader.close()
    return found


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Plain.", '<p dir="auto">Plain.</p>\n'),
        ("# Grants", '<h3 dir="auto">Grants</h3>\n'),
        (
            "You can claim if:\n\n* you are over 18\n* you live here",
            '<p dir="auto">You can claim if:</p>\n'
            '<ul dir="auto">\n<li>you are over 18</li>\n<li>you live here</li>\n</ul>\n',
        ),
        ("3. third", '<ol start="3" dir="auto">\n<li>third</li>\n</ol>\n'),
        ("**a** *b* ~~c~~", '<p dir="auto"><strong>a</strong> <em>b</em> <s>c</s></p>\n'),
        ("", ""),
        ("a & b < c", '<p dir="auto">a &amp; b &lt; c</p>\n'),
        ("مرحبا\n\nHello", '<p dir="auto">مرحبا</p>\n<p dir="auto">Hello</p>\n'),
        ("👩‍👧 é", '<p dir="auto">👩‍👧 é</p>\n'),
    ],
)
def test_markdown_becomes_html(text, html):
    assert render(text) == html


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("# a\n\n## b\n\n# c", ["h3", "h4", "h3"]),
        ("## a", ["h3"]),
        ("###### a\n\n# b", ["h3", "h3"]),
        ("# a\n\n#### b\n\n## c", ["h3", "h4", "h4"]),
        ("# a\n## b\n### c\n#### d\n##### e", ["h3", "h4", "h5", "h6", "h6"]),
    ],
)
def test_headings_stand_below_those_of_the_page_and_leave_no_level_out(text, levels):
    assert [tag for tag, _ in _elements(render(text)) if tag[0] == "h"] == levels


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](&#106;avascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:msgbox)",
        "![x](https://elsewhere.example/pixel.png)",
        '[x](https://a.example "\\" onmouseover=alert(1) x=\\"")',
        "<javascript:alert(1)>",
        "[x]: javascript:alert(1)\n\n[x]",
        "<iframe src='https://elsewhere.example'></iframe>",
        "<style>body{display:none}</style>",
        '<a href="x" style="position:fixed">x</a>',
        "<!-- --><b onclick=x>",
        "```html\n<script>alert(1)</script>\n```",
    ],
)
def test_nothing_in_a_text_runs_or_loads(text):
    for tag, attributes in _elements(render(text)):
        assert tag in {"p", "a", "pre", "code"}
        assert set(attributes) <= {"dir", "href", "title", "rel"}
        assert attributes.get("href", "https:").startswith("https:")


def test_links_say_that_they_lead_away():
    assert render("[x](https://a.example)") == (
        '<p dir="auto"><a href="https://a.example" rel="noopener noreferrer">x</a></p>\n'
    )


@pytest.mark.parametrize("unit", ["[", "*a ", "> ", "`", "* ", "![", "~~a", "&", "<", "_a*"])
def test_a_hostile_text_is_rendered_too(unit):
    assert render(unit * (20_000 // len(unit))).startswith("<")


@given(st.text())
def test_any_text_becomes_elements_that_we_know(text):
    elements = _elements(render(text))

    assert {tag for tag, _ in elements} <= KNOWN
    assert {name for _, attributes in elements for name in attributes} <= {
        "dir", "href", "title", "rel", "start",
    }  # fmt: skip
