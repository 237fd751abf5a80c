"""What the segmentation decides where the rules leave it open."""

import pytest

from apps.snippets.domain.blocks import Block, Body, body_text, bullet, heading, paragraph
from apps.snippets.domain.extraction import Format, extract
from apps.snippets.domain.segmentation import Limits, LongLists, Piece, Role, Segment, segment

pytestmark = pytest.mark.once  # no database


def segments(markdown: str, limits: Limits | None = None) -> list[Segment]:
    return list(segment(extract(markdown, Format.MARKDOWN), limits or Limits()))


def texts(markdown: str, limits: Limits | None = None) -> list[str]:
    return [one.text for one in segments(markdown, limits)]


def words(count: int, word: str = "word") -> str:
    return " ".join([word.capitalize(), *[word] * (count - 2), f"{word}."])


def test_heading_paragraph_and_list_are_one_snippet() -> None:
    text = "## Who\n\nYou can claim if you:\n\n* are over 18\n* live here"
    assert segments(text) == [
        Segment(
            text=text,
            pieces=(
                Piece(3, 6, Role.HEADING),
                Piece(8, 29, Role.LEAD_IN),
                Piece(33, 44, Role.ITEM),
                Piece(47, 56, Role.ITEM),
            ),
            kind="heading+paragraph+list",
            words=11,
            items=2,
        )
    ]


def test_each_paragraph_repeats_the_heading() -> None:
    found = segments("# H\n\nOne.\n\nTwo.")
    assert [(one.text, one.kind, one.words, one.items) for one in found] == [
        ("# H\n\nOne.", "heading+paragraph", 2, 0),
        ("# H\n\nTwo.", "heading+paragraph", 2, 0),
    ]
    assert [one.pieces for one in found] == [
        (Piece(2, 3, Role.HEADING), Piece(5, 9, Role.PARAGRAPH)),
        (Piece(2, 3, Role.HEADING, is_repeat=True), Piece(11, 15, Role.PARAGRAPH)),
    ]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("Text only.", ["Text only."]),
        ("* a list\n* without a lead-in", ["* a list\n* without a lead-in"]),
        ("## H\n\n* a", ["## H\n\n* a"]),
        ("# A\n\n## B\n\nText", ["## B\n\nText"]),
        ("# A\n\nText\n\n# B", ["# A\n\nText"]),
        ("# Only a heading", []),
        ("One\n\nTwo:\n\n* a\n\nThree", ["One", "Two:\n\n* a", "Three"]),
        ("Lead:\n\n* a\n\n1. b\n2. c", ["Lead:\n\n* a\n* b\n* c"]),
        ("# H\n\n* a\n\nText", ["# H\n\n* a", "# H\n\nText"]),
        ("", []),
    ],
)
def test_what_belongs_together(markdown: str, expected: list[str]) -> None:
    assert texts(markdown) == expected


def test_blocks_without_a_word_are_passed_over() -> None:
    body = Body("", "", (heading("§", 2), paragraph("You must:"), paragraph("—"), bullet("pay")))
    assert [one.text for one in segment(body, Limits())] == ["You must:\n\n* pay"]


def test_a_long_list_is_split_into_parts_of_about_the_same_length() -> None:
    found = segments("# H\n\nYou must:\n\n" + "\n".join(f"* do {number}" for number in range(13)))
    assert [one.items for one in found] == [4, 3, 3, 3]
    assert found[1].text == "# H\n\nYou must:\n\n* do 4\n* do 5\n* do 6"
    assert [piece.is_repeat for piece in found[1].pieces] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("long_lists", "expected"),
    [
        (LongLists.SPLIT, ["L:\n\n* a\n* b", "L:\n\n* c", "T", "U\n\n* d"]),
        (LongLists.KEEP, ["L:\n\n* a\n* b\n* c", "T", "U\n\n* d"]),
        (LongLists.SKIP, ["T", "U\n\n* d"]),
    ],
)
def test_what_becomes_of_long_lists(long_lists: LongLists, expected: list[str]) -> None:
    limits = Limits(max_list_items=2, long_lists=long_lists)
    assert texts("L:\n\n* a\n* b\n* c\n\nT\n\nU\n\n* d", limits) == expected


def test_a_kept_list_is_still_within_the_words() -> None:
    limits = Limits(max_list_items=1, max_words=5, long_lists=LongLists.KEEP)
    assert texts("L:\n\n* a b\n* c d\n* e", limits) == ["L:\n\n* a b\n* c d", "L:\n\n* e"]


def test_a_list_with_few_and_long_items_is_split_by_words() -> None:
    markdown = f"You must:\n\n* {words(80)}\n* {words(80)}\n* {words(10)}"
    assert [(one.words, one.items) for one in segments(markdown)] == [(82, 1), (92, 2)]


def test_a_long_paragraph_is_split_at_its_sentences() -> None:
    markdown = f"# Title\n\n{' '.join([words(20)] * 9)}"
    assert [(one.words, one.kind) for one in segments(markdown)] == [
        (101, "heading+paragraph"),
        (81, "heading+paragraph"),
    ]


def test_a_long_item_is_split_like_a_paragraph() -> None:
    assert texts(f"L:\n\n* {words(100)} {words(100, 'other')}") == [
        f"L:\n\n* {words(100)}",
        f"L:\n\n* {words(100, 'other')}",
    ]


def test_a_lead_in_is_repeated_whole_up_to_a_third_of_the_room() -> None:
    items = "\n".join(["* a"] * 5)
    assert texts(f"{words(50)}\n\n{items}")[1] == f"{words(50)}\n\n* a\n* a"


def test_of_a_longer_lead_in_the_last_sentence_is_repeated() -> None:
    items = "\n".join(["* a"] * 5)
    assert texts(f"{words(60)} You must:\n\n{items}") == [
        words(60),
        "You must:\n\n* a\n* a\n* a",
        "You must:\n\n* a\n* a",
    ]


def test_a_sentence_without_a_word_before_a_lead_in_is_no_snippet() -> None:
    body = Body("", "", (paragraph("。If:"), bullet("here"), bullet("there")))
    found = segment(body, Limits(max_list_items=1, max_words=2))
    assert [one.text for one in found] == ["If:\n\n* here", "If:\n\n* there"]


@pytest.mark.parametrize("sentence", [words(90), f"One. {words(90)}"])
def test_a_lead_in_without_a_short_end_is_a_paragraph(sentence: str) -> None:
    found = texts(f"{sentence}\n\n" + "\n".join(["* a"] * 5))
    assert found == [sentence, "* a\n* a\n* a", "* a\n* a"]


def test_what_fits_is_never_cut() -> None:
    text = f"{words(100)}\n\n* {words(49)}"
    assert texts(text) == [text]


def test_a_heading_with_more_than_half_of_the_words_is_a_paragraph() -> None:
    assert texts(f"# {words(75)}\n\nText") == [f"# {words(75)}\n\nText"]
    assert texts(f"# H\n\n## {words(76)}\n\nText") == [f"# H\n\n{words(76)}", "# H\n\nText"]


def test_a_piece_that_looks_like_markdown_is_escaped() -> None:
    body = Body("", "", (paragraph("One two. - three four. # five six. [a](b)"),))
    found = list(segment(body, Limits(max_words=2)))
    assert [one.text for one in found] == [
        "One two.",
        "\\- three four.",
        "\\# five six.",
        "[a\\](b)",
    ]
    text = body_text(body)
    assert [text[one.pieces[0].start : one.pieces[0].end] for one in found] == [
        "One two.",
        "- three four.",
        "# five six.",
        "[a\\](b)",
    ]


def test_a_tight_list_stays_tight() -> None:
    assert texts("L:\n* a\n* b\n* c", Limits(max_list_items=2)) == ["L:\n* a\n* b", "L:\n\n* c"]


def test_japanese_counts_letters_and_is_split_at_its_full_stops() -> None:
    found = segments("# 対象\n\n" + "次の方は申請できます。" * 30)
    assert [one.words for one in found] == [102, 102, 102]
    assert all(one.text.endswith("。") for one in found)


def test_texts_from_right_to_left() -> None:
    sentence = "هل أنت مؤهل للتقديم؟"
    assert texts(f"{sentence} {sentence}", Limits(max_words=4)) == [sentence, sentence]


@pytest.mark.parametrize("numbers", [(0, 150), (4, 0), (-1, 150)])
def test_limits_leave_room_for_something(numbers: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="one list item and one word"):
        Limits(*numbers)


@pytest.mark.parametrize(
    ("block", "snippets", "most"),
    [
        (paragraph("This is a sentence of it. " * 12_000 + "End."), 481, 150),
        (paragraph("word " * 60_000 + "end"), 401, 150),
        (paragraph("規則" * 150_000), 2000, 150),
        (paragraph("a" * 300_000), 40, 150),
        (bullet("This is a sentence of it. " * 12_000 + "End."), 481, 150),
    ],
    ids=["sentences", "words", "japanese", "letters", "item"],
)
def test_300_000_characters(block: Block, snippets: int, most: int) -> None:
    found = list(segment(Body("", "", (block,)), Limits()))
    assert len(found) == snippets
    assert max(one.words for one in found) <= most
    assert sum(one.words for one in found) > 0


def test_10_000_list_items() -> None:
    body = Body("", "", (paragraph("L:"), *(bullet(f"do {number}") for number in range(10_000))))
    found = list(segment(body, Limits()))
    assert len(found) == 2_500
    assert {one.items for one in found} == {4}
