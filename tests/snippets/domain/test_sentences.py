from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.snippets.domain.sentences import fitting_pieces, sentences
from apps.snippets.domain.words import count_words
from tests.snippets.domain.bodies import lines

pytestmark = pytest.mark.once  # no database


def parts(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def pieces(text: str, limit: int) -> list[str]:
    return [text[start:end] for start, end in fitting_pieces(text, limit)]


@pytest.mark.parametrize(
    "expected",
    [
        ["You can apply.", "It takes 20 minutes.", "Is it free?", "Yes!"],
        ["He said: “Apply now.”", "Then he left (at 5 p.m.).", "All went."],
        ["The fee is £536.", "Pay by 13 July 2015.", "It is 0.7% of GDP."],
        ["Dr. Smith of the U.S. Treasury, No. 5, may apply, e.g. online.", "Others may not."],
        ["It is small, i.e. under 5 ha. in all."],
        ["1. A person may not apply.", "Others may."],
        ["申請できます。", "料金は無料です！", "「はい。」", "本当ですか？"],
        ["هل أنت مؤهل؟", "نعم."],
        ["क्या आप पात्र हैं?", "हाँ।", "ठीक।"],
        ["No end at all"],
        ["Wait… what?", "Nothing"],
    ],
)
def test_sentences(expected: list[str]) -> None:
    separator = "" if expected[0][0] in "申" else " "
    assert parts(separator.join(expected)) == expected


def test_nothing_has_no_sentences() -> None:
    assert parts("") == parts("  ") == []
    assert parts(" One  ") == ["One"]


def test_whole_sentences_where_they_fit() -> None:
    assert pieces("One two three. Four five. Six.", 5) == ["One two three.", "Four five. Six."]


def test_pieces_of_about_the_same_length() -> None:
    sentence = "One two three four five."
    assert pieces(" ".join([sentence] * 7), 30) == [
        " ".join([sentence] * 4),
        " ".join([sentence] * 3),
    ]


def test_a_long_sentence_is_cut_at_clauses_and_stays_alone() -> None:
    text = "Yes. You may apply, if you are old; or young: you may not. No."
    assert pieces(text, 4) == [
        "Yes.",
        "You may apply,",
        "if you are old;",
        "or young:",
        "you may not.",
        "No.",
    ]


def test_a_long_clause_is_cut_at_words() -> None:
    assert pieces("one two three four five six seven", 3) == [
        "one two three",
        "four five six",
        "seven",
    ]


def test_without_spaces_it_is_cut_at_letters() -> None:
    assert pieces("申請することができます", 4) == ["申請する", "ことがで", "きます"]


def test_punctuation_stays_with_the_words_before() -> None:
    assert pieces("- one | - two", 1) == ["- one | -", "two"]


def test_a_piece_has_a_word() -> None:
    assert pieces("… - one, two three four.", 2) == ["- one,", "two three", "four."]
    assert pieces("... !", 3) == []


@given(lines, st.integers(1, 12))
def test_pieces_have_all_words_in_order_and_are_within_the_limit(text: str, limit: int) -> None:
    found = pieces(text, limit)
    assert all(1 <= count_words(piece) <= limit for piece in found)
    assert all(piece == piece.strip() for piece in found)
    assert sum(map(count_words, found)) == count_words(text)
    spans = fitting_pieces(text, limit)
    assert all(above[1] <= below[0] for above, below in pairwise(spans))
