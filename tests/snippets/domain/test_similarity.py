from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from apps.snippets.domain.folding import fold
from apps.snippets.domain.similarity import near_among_few, near_duplicates, terms

pytestmark = pytest.mark.once  # no database

some_words = st.lists(
    st.sampled_from(["you", "may", "claim", "if", "over", "18", "日本に住む方", "方は", "…"]),
    max_size=6,
)
some_texts = st.lists(some_words.map(" ".join), max_size=8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You’re OVER 18!", ["you", "re", "over", "18"]),
        ("日本に住む。方", ["日本", "本に", "に住", "住む", "方"]),
        ("… –", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_equal_texts_have_a_cosine_of_1() -> None:
    texts = ["You may claim.", "Dogs must be chipped.", "you MAY claim", "Cats too."]
    assert [(i, j, round(cosine, 6)) for i, j, cosine in near_duplicates(texts, 0.9)] == [(0, 2, 1)]


def test_near_duplicates_without_spaces() -> None:
    texts = [
        "十八歳以上の方は申請できます。",
        "犬の輸入について",
        "十八歳以上の方は申請することができます。",
    ]
    assert [(i, j) for i, j, _ in near_duplicates(texts, 0.5)] == [(0, 2)]


def test_texts_without_a_word_are_like_no_other() -> None:
    assert list(near_duplicates(["…", "…", ""], 0.1)) == []
    assert list(near_duplicates([], 0.1)) == []
    assert list(near_duplicates(["…", "one", "…"], 0.1)) == []


@pytest.mark.parametrize("threshold", [0, -0.5])
def test_a_threshold_is_over_0(threshold: float) -> None:
    with pytest.raises(ValueError, match="every pair"):
        list(near_duplicates(["a", "b"], threshold))


@settings(max_examples=50)
@given(some_texts, st.floats(0.1, 1), st.integers(1, 30))
def test_the_same_pairs_as_all_at_once(texts: list[str], threshold: float, most: int) -> None:
    found = list(near_duplicates(texts, threshold, most_at_once=most))
    if not any(map(fold, texts)):
        assert found == []
        return
    vectors = TfidfVectorizer(analyzer=terms, sublinear_tf=True).fit_transform(texts)
    cosines = cosine_similarity(vectors)
    expected: list[Any] = [
        (i, j, pytest.approx(min(1.0, cosines[i, j])))
        for i in range(len(texts))
        for j in range(i + 1, len(texts))
        if cosines[i, j] >= threshold - 1e-9
    ]
    assert found == expected


@settings(max_examples=50)
@given(some_texts, st.floats(1e-6, 1))
def test_few_texts_give_the_same_pairs_without_scikit_learn(
    texts: list[str], threshold: float
) -> None:
    expected: list[Any] = [
        (i, j, pytest.approx(cosine)) for i, j, cosine in near_duplicates(texts, threshold)
    ]
    assert list(near_among_few(texts, threshold)) == expected
