"""HTML pages as bodies, without the page's furniture."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.snippets.domain.blocks import Block, Body, bullet, heading, numbered, paragraph
from apps.snippets.domain.extraction import Format, extract, format_of

pytestmark = pytest.mark.once  # no database

LONG = "You can claim the grant if you live in the area and have paid council tax for two years."


def blocks(html: str) -> list[Block]:
    return list(extract(html, Format.HTML).blocks)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("page.HTML", Format.HTML),
        ("page.xhtml", Format.HTML),
        ("notes.md", Format.MARKDOWN),
        ("a.b.txt", Format.TEXT),
        ("report.pdf", None),
        ("html", None),
    ],
)
def test_the_format_by_name(name: str, expected: Format | None) -> None:
    assert format_of(name) == expected


@pytest.mark.parametrize(
    ("text", "text_format", "expected"),
    [
        (
            '<html lang=" cy "><title>A <b>title\n</title><svg><title>no</title></svg><p>Text',
            Format.HTML,
            Body("A <b>title", "cy", (paragraph("Text"),)),
        ),
        ("<p>Text", Format.HTML, Body("", "", (paragraph("Text"),))),
        (
            "# Title\n\nText",
            Format.MARKDOWN,
            Body("Title", "", (heading("Title", 1), paragraph("Text"))),
        ),
        ("Text\n\n# Late", Format.MARKDOWN, Body("", "", (paragraph("Text"), heading("Late", 1)))),
        ("# Text", Format.TEXT, Body("", "", (paragraph("# Text"),))),
    ],
)
def test_title_and_language(text: str, text_format: Format, expected: Body) -> None:
    assert extract(text, text_format) == expected


@pytest.mark.parametrize("text_format", Format)
@pytest.mark.parametrize("text", ["", " \n\t", "\0", "---"])
def test_nothing_gives_nothing(text: str, text_format: Format) -> None:
    assert extract(text, text_format) == Body("", "", ())


def test_an_xml_declaration_is_no_text() -> None:
    assert blocks('<?xml version="1.0" encoding="utf-8"?>\n<p>é') == [paragraph("é")]


def test_headings_and_paragraphs() -> None:
    html = """<h1>One <em>two</em><br>three</h1> loose <b>te</b>xt <!-- not --> goes on
        <p>A\u00a0b\u00adc<p>Second<hr>third<h6>Six</h6><p>—</p><pre>Line
        line</pre>"""
    assert blocks(html) == [
        heading("One two three", 1),
        paragraph("loose text goes on"),
        paragraph("A bc"),
        paragraph("Second"),
        paragraph("third"),
        heading("Six", 6),
        paragraph("Line line"),
    ]


def test_nested_lists_are_flattened_in_order() -> None:
    html = """<p>You must:<ul><li>one<ul><li>a</li><li>b<ol><li><p>deep</p></li></ol></li></ul>after
        </li><li><p>two</p><p>more</p></li>loose</ul><li>outside"""
    assert blocks(html) == [
        paragraph("You must:"),
        bullet("one"),
        bullet("a", 2),
        bullet("b", 2),
        numbered("deep", 3),
        bullet("after"),
        bullet("two more"),
        paragraph("loose"),
        bullet("outside"),
    ]


def test_bullets_inside_an_item_are_items() -> None:
    assert blocks("<ul><li>One:<br>• a<br>• b</li></ul>") == [
        bullet("One:"),
        bullet("a"),
        bullet("b"),
    ]


def test_definition_lists_are_items() -> None:
    html = """<dl><dt>Age:<dd>Over 18<dd>or 17<dt>Alone
        <dt><b>Place</b><dd><p>Here</p><p>or there</p><dt>List<dd><ul><li>x</ul><dt>Last</dl>"""
    assert blocks(html) == [
        bullet("Age: Over 18"),
        bullet("or 17"),
        bullet("Alone"),
        bullet("Place: Here or there"),
        bullet("List"),
        bullet("x"),
        bullet("Last"),
    ]


def test_rows_of_tables_are_items() -> None:
    html = """<table><caption>By <b>age</b></caption><thead><tr><th>Age<th>Fee</thead>
        <tbody><tr><td>3 to 4<td> </tr><tr><td><p>5<br>to 6</p><td><a href=/x>free</a></tbody>
        <tr><td colspan=2>All<tr><td rowspan=x>7<td>-</table>"""
    assert blocks(html) == [
        paragraph("By age"),
        bullet("Age: 3 to 4"),
        bullet("Age: 5 to 6 | Fee: free"),
        bullet("All"),
        bullet("Age: 7"),
    ]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<table><tr><td>One<tr><td>Two</table>", [paragraph("One"), paragraph("Two")]),
        (
            "<table><tr><td>Menu<td><h2>Head</h2>Text</table>",
            [paragraph("Menu"), heading("Head", 2), paragraph("Text")],
        ),
        (
            "<table><tr><td>You must:<td><ul><li>pay</ul></table>",
            [paragraph("You must:"), bullet("pay")],
        ),
        (
            "<table><tr><td>Out<td><table><tr><td>a<td>b</table></table>",
            [paragraph("Out"), bullet("a | b")],
        ),
    ],
)
def test_a_table_for_the_looks_is_read_through(html: str, expected: list[Block]) -> None:
    assert blocks(html) == expected


def test_br_soup() -> None:
    html = """<div>You can apply if you<br>are old.<br><br>You must:<br>- pay<br/>- sign<br>&nbsp;
        <br><b>Office</b><br>1 High Road<br>Sheffield</div>"""
    assert blocks(html) == [
        paragraph("You can apply if you are old."),
        paragraph("You must:"),
        bullet("pay"),
        bullet("sign"),
        paragraph("Office, 1 High Road, Sheffield"),
    ]


def test_malformed_markup() -> None:
    html = (
        "<div><p>one<p>two <ul><li>a<li>b</div></ul></b><h2>Head<p>three</h2><table><td>c</table>&"
    )
    assert (
        blocks(html)
        == [
            paragraph("one"),
            paragraph("two"),
            bullet("a"),
            bullet("b"),
            heading("Head", 2),
            paragraph("three"),
            paragraph("c"),
            paragraph("&"),
        ][:-1]
    )


FURNITURE = """
    {0}<nav><ul><li><a href=/x>Menu</a></ul></nav>
    <div role=search>Search</div><div hidden>Hidden</div><p style="Display: none">Unseen</p>
    <div class="cookie-banner"><p>We use cookies to make this page work better for all.</p></div>
    <aside><h2>Related content</h2><ul><li><a href=/r>Find a grant</a></ul></aside>
    <script>var a = 1;</script><form><label>E-mail</label><input><button>Send</button></form>
    <div class="box gem-c-feedback"><h2>Is this page useful?</h2><p>Tell us what you think.</div>
    <p><a href="#top">Back to top</a></p><footer>All rights reserved</footer>
"""


@pytest.mark.parametrize(
    "page",
    ["<main>{0}</main>", "<article>{0}</article>", "<div>{0}</div>", "<div role=main>{0}</div>"],
)
@pytest.mark.parametrize("around", [f"<header>Logo</header>{FURNITURE}", "<div>{0}</div>"])
@pytest.mark.parametrize("within", [FURNITURE, "{0}"])
def test_furniture_is_left_out(page: str, around: str, within: str) -> None:
    items = "<ul><li><a href=/a>pay</a><li>sign</ul>"
    text = f"<h2>Who</h2><p>{LONG}</p><p>You must:</p>{items}<p>{LONG}</p>"
    assert blocks(around.format(page.format(within.format(text)))) == [
        heading("Who", 2),
        paragraph(LONG),
        paragraph("You must:"),
        bullet("pay"),
        bullet("sign"),
        paragraph(LONG),
    ]


def test_a_region_of_the_page_is_the_body() -> None:
    """A menu without any sign of one stands outside of what holds the text."""
    menu = "".join(f"<li><a href=/{name}>{name}</a>" for name in ("Births", "Business", "Crime"))
    html = (
        f"<div><ul>{menu}</ul></div><div><h1>Title</h1><div><p>{LONG}<p>{LONG} Or not.</div></div>"
    )
    assert blocks(html) == [heading("Title", 1), paragraph(LONG), paragraph(f"{LONG} Or not.")]


def test_lists_of_links_in_the_body_are_kept() -> None:
    items = "<ul><li><a href=/a>Form A</a><li><a href=/b>Form B</a></ul>"
    html = f"<main><h2>Forms</h2>{items}<p>{LONG}</main>"
    assert blocks(html) == [
        heading("Forms", 2),
        bullet("Form A"),
        bullet("Form B"),
        paragraph(LONG),
    ]


def test_classes_of_furniture_do_not_matter_where_the_text_is() -> None:
    html = f"<main><div class='related navigation'><p>{LONG}</p><p>{LONG} Or not.</p></div></main>"
    assert blocks(html) == [paragraph(LONG), paragraph(f"{LONG} Or not.")]


def test_ids_that_repeat_a_heading_are_no_sign_of_furniture() -> None:
    html = f"<main><h2 id=earnings-related-payments>Earnings related payments</h2><p>{LONG}</main>"
    assert blocks(html) == [heading("Earnings related payments", 2), paragraph(LONG)]


def test_the_header_of_an_article_is_a_part_of_it() -> None:
    html = f"<header>Site</header><article><header><h1>Title</h1></header><p>{LONG}</article>"
    assert blocks(html) == [heading("Title", 1), paragraph(LONG)]


def test_what_opens_on_a_search_is_text() -> None:
    assert blocks(f"<p>{LONG}</p><div hidden=until-found>Fold</div>")[1] == paragraph("Fold")


def test_what_stands_after_the_end_of_the_page_is_read() -> None:
    page = f"<html lang=en><head><title>T</title></head><body><main><p>{LONG}</main></body></html>"
    found = extract(page * 2, Format.HTML)
    assert found == Body("T", "en", (paragraph(LONG), paragraph(LONG)))


def test_two_main_parts_are_both_read() -> None:
    assert blocks(f"<main><p>{LONG}</main><main><p>Two {LONG}</main>") == [
        paragraph(LONG),
        paragraph(f"Two {LONG}"),
    ]


def test_notes_and_what_leads_to_them_are_left_out() -> None:
    html = f"""<p>{LONG}<sup><a href=#fn1>1</a></sup> 5 m<sup>2</sup> <a href="#x">more</a>
        x<sup>a</sup>
        <div class="box footnotes"><ol><li id=fn1>Note <a href=#ref1>↩</a></ol></div>"""
    assert blocks(html) == [paragraph(f"{LONG} 5 m2 more xa")]


def test_a_table_of_contents_is_left_out() -> None:
    html = f"<ul><li><a href=#a>A</a><li><a href=#b>B</a> <li>x <a href=#c>C</a></ul><p>{LONG}"
    assert blocks(html) == [bullet("x C"), paragraph(LONG)]


def test_a_picture_goes_with_its_caption() -> None:
    html = f"""<h2>Head</h2><h4>Chart 1</h4> <figure><img src=x alt=y><figcaption>Chart</figcaption>
        </figure><p>{LONG}</p>text<figure><img></figure><figure><p>Kept</p></figure>
        <h2>Two</h2>words<figure><svg/></figure>end"""
    assert blocks(html) == [
        heading("Head", 2),
        paragraph(LONG),
        paragraph("text"),
        paragraph("Kept"),
        heading("Two", 2),
        paragraph("wordsend"),
    ]


@pytest.mark.parametrize(
    "html",
    [
        "<div>x" * 5000,
        "<ul><li>x" * 5000,
        "<b><i><span>x" * 5000,
        "<table><tr><td>x" * 3000,
        "<blockquote>x" * 2500 + "</blockquote>" * 2500,
    ],
    ids=["divs", "lists", "inline", "tables", "quotes"],
)
def test_deep_nesting_loses_nothing(html: str) -> None:
    found = "".join(block.text for block in blocks(html))
    assert found.count("x") == html.count("x")


def test_10_000_list_items() -> None:
    html = "<p>You must:<ul>" + "".join(f"<li>do {number}</li>" for number in range(10_000))
    found = blocks(html)
    assert found[-1] == bullet("do 9999")
    assert len(found) == 10_001


def test_300_000_characters_between_br() -> None:
    (block,) = blocks("<p>" + "Line of text here,<br>" * 15_000)
    assert block == paragraph(" ".join(["Line of text here,"] * 15_000))


def test_languages_without_spaces_and_from_right_to_left() -> None:
    assert blocks(
        "<h2>対象者</h2><p>次に該当する<br>方は申請できます。<ul><li>十八歳以上の方</ul>"
    ) == [
        heading("対象者", 2),
        paragraph("次に該当する方は申請できます。"),
        bullet("十八歳以上の方"),
    ]
    assert blocks("<main dir=rtl><h2>من؟</h2><p>يمكنك إذا:<ul><li>كنت مقيماً</ul></main>") == [
        heading("من؟", 2),
        paragraph("يمكنك إذا:"),
        bullet("كنت مقيماً"),
    ]


TAGS = ["p", "div", "ul", "li", "h2", "table", "tr", "td", "br", "b", "dl", "dt", "dd", "main", "a"]
PIECES = st.one_of(
    st.sampled_from(TAGS).map("<{}>".format),
    st.sampled_from(TAGS).map("</{}>".format),
    st.sampled_from(["<!--", "-->", "<", "&amp;", "word", "•x", "1. y", "日本。", "\xa0", "<pre>"]),
)


@given(st.lists(PIECES, max_size=40).map(" ".join))
def test_any_markup_can_be_read(html: str) -> None:
    for block in blocks(html):
        assert "<p>" not in block.text
