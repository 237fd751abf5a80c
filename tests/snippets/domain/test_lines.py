import pytest

from apps.snippets.domain.blocks import Block, bullet, numbered, paragraph
from apps.snippets.domain.extraction import Format, extract
from apps.snippets.domain.lines import after_break, joined, line_blocks

pytestmark = pytest.mark.once  # no database


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You can apply\r\nif you\r\rare old.", ["You can apply if you", "are old."]),
        ("日本に\n住む方", ["日本に住む方"]),
        ("日本の\nBRP カード", ["日本の BRP カード"]),
        (
            "A long line. " * 10 + "\nAnother\nThird",
            ["A long line. " * 9 + "A long line.", "Another", "Third"],
        ),
        ("# no [heading](here)", ["# no [heading](here)"]),
        ("…\n\n \n", []),
    ],
)
def test_paragraphs_of_plain_text(text: str, expected: list[str]) -> None:
    assert extract(text, Format.TEXT).blocks == tuple(map(paragraph, expected))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            ["You must:", "• pay", "now", "•sign"],
            [paragraph("You must:"), bullet("pay now"), bullet("sign")],
        ),
        (["- one", "– two", "— three"], [bullet("one"), bullet("two"), bullet("three")]),
        (["-5 degrees"], [paragraph("-5 degrees")]),
        (["* Negligible"], [paragraph("* Negligible")]),
        (["* one", "* two"], [bullet("one"), bullet("two")]),
        (["1. One"], [paragraph("1. One")]),
        (["First:", "1. One", "2) Two"], [paragraph("First:"), numbered("One"), numbered("Two")]),
    ],
)
def test_items_in_lines(lines: list[str], expected: list[Block]) -> None:
    assert list(line_blocks(lines, lambda above, below: " ")) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            ["Tax Office", "1 High Road", "Sheffield", "S3 8WA"],
            "Tax Office, 1 High Road, Sheffield, S3 8WA",
        ),
        (
            ["You may apply", "if you are old.", "It is free."],
            "You may apply if you are old. It is free.",
        ),
        (["申請は", "無料です"], "申請は無料です"),
    ],
)
def test_broken_lines(lines: list[str], expected: str) -> None:
    assert joined(lines, after_break) == expected


def test_no_lines_are_nothing() -> None:
    assert joined([], after_break) == ""
