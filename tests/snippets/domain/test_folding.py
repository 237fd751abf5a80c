import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.snippets.domain.folding import fold
from tests.strategies import texts

# Plain drawing rarely meets the characters that change their neighbours.
JOINING = st.text("eE\u0301\u030cJΣσİßẞ가\ufe0f\u00ad\u200d\u200c\u200bक्षمی'?_ \n", max_size=12)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Are you over 65?", "are you over 65"),
        ("  They’re -- not_entitled ", "they re not entitled"),
        ("they're NOT entitled", "they re not entitled"),
        ("Cafe\u0301", "café"),
        ("हिन्दी में?", "हिन्दी में"),
        ("هل أنتَ مؤهَّل؟", "هل أنتَ مؤهَّل"),
        ("日本に住んでいますか。", "日本に住んでいますか"),
        ("bene\u00adfit", "benefit"),
        ("می\u200cخواهم", "میخواهم"),
        ("one\u200btwo", "one two"),
        ("ΟΔΟΣ'Α", "οδος α"),
        ("葛\U000e0100", "葛"),
        ("is it ok ❤\ufe0f?", "is it ok"),
        ("?!", ""),
        ("1 \N{NOT EQUAL TO} 2", "1 2"),
        ("1 =\u0338 2", "1 2"),
        ("", ""),
    ],
)
def test_folds(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.one_of(texts, JOINING))
@example("J\u030c")
@example("e\ufe0f\u0301")
@example("İ")
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.one_of(texts, JOINING))
def test_folded_text_is_words_with_single_spaces(text: str) -> None:
    assert " ".join(fold(text).split()) == fold(text)


@given(texts, st.sampled_from(["?", " ", "…", "\n\t", "_", "\u200b"]))
def test_punctuation_around_a_text_is_not_compared(text: str, around: str) -> None:
    assert fold(f"{around}{text}{around}") == fold(text)


@given(st.lists(texts), st.sampled_from(["?", "'", ". ", "…"]))
def test_it_does_not_matter_what_separates_words(words: list[str], separator: str) -> None:
    assert fold(separator.join(words)) == fold(" ".join(words))


@given(texts, texts)
def test_words_stay_apart(one: str, two: str) -> None:
    assert fold(f"{one} - {two}").split() == fold(one).split() + fold(two).split()
