import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.snippets.domain.words import count_words, has_words, is_english, tokens
from tests.snippets.domain.bodies import lines

pytestmark = pytest.mark.once  # no database


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("You must be over 18.", 5),
        ("it’s low-income – or £5,000", 4),
        ("* - – | … 。", 0),
        ("日本に住む", 5),
        ("「はい」。", 2),
        ("BRPカード 2枚", 6),
        ("ขอทุนได้", 6),  # the vowel signs count with the letters that carry them
        ("هل أنت مؤهل؟", 3),
        ("क्या आप पात्र हैं?", 4),
        ("हाँ।ठीक", 2),
        ("자격이 있습니까?", 2),
        ("a" * 50, 1),
        ("a" * 51, 2),
    ],
)
def test_counts(text: str, words: int) -> None:
    assert count_words(text) == words


@given(lines)
def test_words_add_up_wherever_a_token_begins(text: str) -> None:
    for token in tokens(text):
        cut = token.start()
        assert count_words(text[:cut]) + count_words(text[cut:]) == count_words(text)


@given(lines, lines)
def test_words_of_two_lines_add_up(one: str, two: str) -> None:
    assert count_words(f"{one} {two}") == count_words(one) + count_words(two)


@given(st.text())
def test_a_text_has_words_when_it_has_one_at_least(text: str) -> None:
    assert has_words(text) == (count_words(text) > 0)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Are you 18?", "en-GB", True), ("Bist du 18?", "de", False), ("Are you?", "", False),
        ("هل عمرك 18 عامًا؟", "en", False), ("18?", "en", True), ("Do you like 寿司?", "en", True),
    ],
)  # fmt: skip
def test_what_is_in_another_script_is_no_english(text: str, language: str, expected: bool) -> None:
    """Whatever the language of the project is: its rule texts have their own."""
    assert is_english(text, language) is expected
