"""Sources of questions, marked in rendered rule texts. Offsets are code points."""

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from apps.projects.markdown import render
from apps.trees.domain.spans import Span, mark_positions, mark_spans


def mark(html: str, source: str, *found: str) -> str:
    """Marks the first occurrence of each text, as slots a, b, c."""
    spans = [
        Span(slot, source.index(text), source.index(text) + len(text))
        for slot, text in zip("abc", found, strict=False)
    ]
    return mark_spans(html, source, spans)


def marked(slots: str, text: str) -> str:
    return f'<mark class="source" data-slots="{slots}">{text}</mark>'


def test_a_span_of_a_list_item_is_marked_in_the_item():
    source = "# Grant\n\nYou can if:\n\n* you are over 18\n* you live here"
    html = (
        "<h3>Grant</h3>\n<p>You can if:</p>\n<ul>\n<li>you are over 18</li>\n"
        "<li>you live here</li>\n</ul>\n"
    )
    assert mark(html, source, "you live here") == html.replace(
        "you live here", marked("a", "you live here")
    )


def test_a_span_over_two_items_has_a_mark_in_each():
    source = "* one\n* two"
    html = "<ul>\n<li>one</li>\n<li>two</li>\n</ul>"
    assert mark_spans(html, source, [Span("a", 2, 11)]) == (
        f"<ul>\n<li>{marked('a', 'one')}</li>\n<li>{marked('a', 'two')}</li>\n</ul>"
    )


def test_overlapping_spans_share_a_mark_where_they_overlap():
    assert mark("<p>one two three</p>", "one two three", "one two", "two three") == (
        f"<p>{marked('a', 'one ')}{marked('a b', 'two')}{marked('b', ' three')}</p>"
    )


def test_emoji_count_as_their_code_points():
    source = "👩\u200d👧 é: a child under 5"
    assert mark(f"<p>{source}</p>", source, "a child") == (
        f"<p>👩\u200d👧 é: {marked('a', 'a child')} under 5</p>"
    )


def test_arabic_is_marked_where_it_stands():
    source = "# منحة\n\nيمكنك ذلك إذا كان عمرك فوق 18 سنة."
    html = "<h3>منحة</h3>\n<p>يمكنك ذلك إذا كان عمرك فوق 18 سنة.</p>"
    assert mark(html, source, "عمرك فوق 18 سنة") == html.replace(
        "عمرك فوق 18 سنة", marked("a", "عمرك فوق 18 سنة")
    )


def test_marks_survive_emphasis_entities_and_numbered_items():
    source = "1. **10** hours & more\n2. 20 hours"
    html = "<ol>\n<li><strong>10</strong> hours &amp; more</li>\n<li>20 hours</li>\n</ol>"
    assert mark(html, source, "**10** hours & more", "20") == (
        f"<ol>\n<li><strong>{marked('a', '10')}</strong>{marked('a', ' hours &amp; more')}</li>\n"
        f"<li>{marked('b', '20')} hours</li>\n</ol>"
    )


def test_what_looks_like_markdown_and_is_text_stays_aligned():
    source = "Ages:\n2. and 2 more"
    assert mark("<p>Ages:\n2. and 2 more</p>", source, "2.") == (
        f"<p>Ages:\n{marked('a', '2.')} and 2 more</p>"
    )


def test_a_line_break_stays_between_the_marked_lines():
    assert mark("<p>one<br />\ntwo</p>", "one  \ntwo", "one  \ntwo") == (
        f"<p>{marked('a', 'one')}<br />{marked('a', chr(10) + 'two')}</p>"
    )


def test_a_span_beyond_the_text_marks_what_there_is():
    assert mark_spans("<p>one</p>", "one", [Span("a", 1, 99), Span("b", 50, 60)]) == (
        f"<p>o{marked('a', 'ne')}</p>"
    )


@given(
    st.text("ab*# 1.\n&<é👩", max_size=40),
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=3),
)
def test_marking_adds_marks_and_changes_nothing_else(text, ends):
    html = "<p>" + text.replace("&", "&amp;").replace("<", "&lt;") + "</p>"
    spans = [Span(str(index), *sorted(pair)) for index, pair in enumerate(ends)]
    assert re.sub(r"</?mark[^>]*>", "", mark_spans(html, text, spans)) == html


# Positions, for a browser that must say what was selected ---------------------------------------


def runs_of(markup: str) -> list[tuple[int, str]]:
    found = re.findall(r'<span data-at="(\d+)">([^<]*)</span>', markup)
    return [(int(at), unescape(text)) for at, text in found]


def test_each_run_says_where_it_begins_in_the_source():
    source = "# Grant\n\nYou *can* & may if:\n\n* you are\n  over 18"
    markup = (
        '<h3>Grant</h3>\n<p dir="auto">You <em>can</em> &amp; may if:</p>\n<ul>\n<li>you are\n'
        "over 18</li>\n</ul>\n"
    )
    placed = mark_positions(markup, source)
    assert placed == (
        '<h3><span data-at="2">Grant</span></h3>\n<p dir="auto"><span data-at="9">You </span><em>'
        '<span data-at="14">can</span></em> <span data-at="19">&amp; may if:</span></p>\n<ul>\n<li>'
        '<span data-at="32">you are\n</span><span data-at="42">over 18</span></li>\n</ul>\n'
    )


def test_positions_count_code_points_behind_an_emoji():
    source = "* 👩\u200d👧 é lives\n* مرحبا"
    runs = runs_of(mark_positions(str(render(source)), source))
    assert runs == [(2, "👩\u200d👧 é lives"), (16, "مرحبا")]


@given(st.text(st.sampled_from("ab é👩\u200d*#_`&<>\n-1.|"), max_size=60))
def test_a_run_stands_in_the_source_as_it_is_shown(source):
    for at, text in runs_of(mark_positions(str(render(source)), source)):
        shown = source[at : at + len(text)]
        assert [one for one in shown if not one.isspace()] == [
            one for one in text if not one.isspace()
        ]
        assert len(shown) == len(text)
