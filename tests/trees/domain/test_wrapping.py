"""Lines of text in any script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.trees.domain.wrapping import base_direction, text_width, wrap

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=120)


def test_words_are_kept_whole():
    assert wrap("Do you live in the district?", width=90, max_lines=9) == (
        "Do you live",
        "in the",
        "district?",
    )


def test_japanese_breaks_anywhere_but_before_a_closing_mark():
    assert wrap("あなたは十八歳以上ですか？", width=60, max_lines=9) == (
        "あなたは",
        "十八歳以",
        "上です",
        "か？",
    )


def test_a_long_word_is_broken_between_characters():
    assert wrap("a" * 10, width=42, max_lines=9) == ("aaaaa", "aaaaa")


def test_joined_emoji_and_accents_are_never_torn_apart():
    family, accent = "👩\u200d👧", "e\u0301"
    assert wrap(family * 3 + accent * 3, width=16, max_lines=9) == (
        family,
        family,
        family,
        accent,
        accent,
        accent,
    )


def test_what_does_not_fit_ends_in_an_ellipsis():
    assert wrap("one two three four", width=50, max_lines=2) == ("one", "two…")


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("Can I?", "ltr"),
        ("هل يمكنني؟", "rtl"),
        ("האם אפשר?", "rtl"),
        ("18 (?)", "ltr"),
        ("(2) هل", "rtl"),
        ("できますか", "ltr"),
    ],
)
def test_the_first_letter_decides_the_direction(text, direction):
    assert base_direction(text) == direction


@given(any_text, st.integers(20, 300))
def test_wrapping_loses_and_adds_nothing_but_spaces(text, width):
    lines = wrap(text, width=width, max_lines=1000)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(any_text, st.integers(40, 300), st.integers(1, 4))
def test_lines_keep_to_the_width_and_to_their_number(text, width, max_lines):
    lines = wrap(text, width=width, max_lines=max_lines)
    assert len(lines) <= max_lines
    assert all(text_width(line) <= width for line in lines)
