import pytest
from hypothesis import given

from apps.snippets.domain.blocks import (
    Block,
    Body,
    Kind,
    body_text,
    bullet,
    escaped,
    heading,
    numbered,
    paragraph,
    placed,
)
from apps.snippets.domain.markdown import markdown_blocks
from tests.snippets.domain.bodies import bodies

pytestmark = pytest.mark.once  # no database


def read(text: str) -> list[Block]:
    return list(markdown_blocks(text))


def written(*blocks: Block) -> str:
    return body_text(Body("", "", blocks))


def test_blocks_of_each_kind() -> None:
    text = """
# Grants #1

You can apply
if you are:

* over 18
- living here,
  or near
+ able to work

1. Write.
2. Sign.

Two  words.
"""
    assert read(text) == [
        heading("Grants #1", 1),
        paragraph("You can apply if you are:"),
        bullet("over 18"),
        bullet("living here, or near"),
        bullet("able to work"),
        numbered("Write."),
        numbered("Sign."),
        paragraph("Two  words."),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("##Who may apply?", [heading("Who may apply?", 2, "##")]),
        ("#  4. Tax", [heading("4. Tax", 1, "#  ")]),
        ("#1 in the list", [paragraph("#1 in the list")]),
        ("####### seven", [paragraph("####### seven")]),
        ("Title\n===", [heading("Title", 1)]),
        ("Two\nlines\n---", [heading("Two lines", 2)]),
        ("One\n\n---\n\nTwo\n***\nThree", [paragraph("One"), paragraph("Two"), paragraph("Three")]),
        ("* a\n---\n* b", [bullet("a"), bullet("b")]),
        ("##\n\n***\n\n…", []),
    ],
)
def test_headings_and_rules(text: str, expected: list[Block]) -> None:
    assert read(text) == expected


def test_a_list_right_under_its_lead_in_is_tight() -> None:
    assert read("3. A person may not:\n* smoke;\n*  drink\n** much") == [
        paragraph("3. A person may not:"),
        bullet("smoke;", is_tight=True),
        bullet("drink", mark="*  "),
        bullet("much", 2, mark="** "),
    ]


def test_nested_lists_keep_their_order_and_their_depth() -> None:
    text = "* a\n  * b\n    1. c\n\n      more c\n* d\n\n  e\n\nf"
    assert read(text) == [
        bullet("a"),
        bullet("b", 2),
        numbered("c more c", 3),
        bullet("d e"),
        paragraph("f"),
    ]


def test_numbers_between_blank_lines_are_numbered_paragraphs() -> None:
    assert read("1. One.\n\n2. Two.") == [paragraph("1. One."), paragraph("2. Two.")]


def test_quotes_and_fences_are_read_as_what_is_in_them() -> None:
    assert read("> You must\n> > pay:\n> * now\n\n```\nIn code\n```") == [
        paragraph("You must pay:"),
        bullet("now", is_tight=True),
        paragraph("In code"),
    ]


def test_tables() -> None:
    text = "By age:\n\n| Age | Fee |\n|:---|---:|\n| 3 \\| 4 | free |\n| | |\n| 5 |\n\nEnd | of it"
    assert read(text) == [
        paragraph("By age:"),
        bullet("Age: 3 | 4 | Fee: free"),
        bullet("Age: 5"),
        paragraph("End | of it"),
    ]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('Read [the guide](https://a.org/b_(c) "Guide") first.', "Read the guide first."),
        ("Read [**the** \\] guide](/a).", "Read the ] guide."),
        ("See ![a map](map.png) there", "See  there"),
        ("**Only** if **you [pay](x)**", "Only if you pay"),
        ("2 * 3 ** 4, a_b, `code`, <b>", "2 * 3 ** 4, a_b, `code`, <b>"),
        ("\\# no heading, \\a, [a](b", "# no heading, \\a, [a](b"),
        ("日本に\n住む", "日本に住む"),
        ("tab\there\u00a0and\u2028there", "tab    here and there"),
    ],
)
def test_markup_inside_a_line(text: str, plain: str) -> None:
    assert read(text) == [paragraph(plain)]


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (paragraph("# no heading"), "\\# no heading"),
        (paragraph("##no heading"), "\\##no heading"),
        (paragraph("#1"), "#1"),
        (paragraph("- no item"), "\\- no item"),
        (paragraph("> no quote"), "\\> no quote"),
        (paragraph("```"), "\\```"),
        (paragraph("** no item"), "\\*\\* no item"),
        (paragraph("1. as it is"), "1. as it is"),
        (paragraph("[a](b) \\* \\a"), "[a\\](b) \\\\* \\a"),
        (bullet("# as it is"), "* # as it is"),
        (heading("> **as** it is", 2), "## > \\*\\*as\\*\\* it is"),
    ],
)
def test_what_looks_like_markdown_is_escaped(block: Block, text: str) -> None:
    assert written(block) == text


def test_a_body_is_written_with_one_blank_line_between_all_but_items() -> None:
    body = (
        heading("H", 2),
        paragraph("P:"),
        bullet("a"),
        numbered("b"),
        paragraph("Q:"),
        bullet("c", is_tight=True),
        heading("I", 1),
        bullet("d", is_tight=True),
    )
    assert written(*body) == "## H\n\nP:\n\n* a\n* b\n\nQ:\n* c\n\n# I\n\n* d"


@given(bodies)
def test_blocks_are_where_it_is_said(body: Body) -> None:
    text = body_text(body)
    for block, offset in placed(body):
        assert text[:offset].endswith(block.mark)
        end = offset + len(escaped(block.text, block))
        assert read(block.mark + text[offset:end]) in ([], [_alone(block)])


def _alone(block: Block) -> Block:
    """What a reader knows of a block when it stands alone."""
    if block.kind == Kind.HEADING:
        return block
    return paragraph(block.text) if block.kind == Kind.PARAGRAPH else bullet(block.text)


@pytest.mark.parametrize("text", ["", " ", " a", "a ", "a\nb", "a\tb", "a\u2028b"])
def test_a_block_is_one_line(text: str) -> None:
    with pytest.raises(ValueError, match="one line"):
        paragraph(text)
