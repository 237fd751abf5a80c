"""English words and signs, cut as spaCy cuts them (its own answers, version 3.8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.exports.domain.english_tokens import tokens

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("", ""),
        ("?!", "? !"),
        ("(can't b.)", "( ca n't b. )"),
        ("You can't, and cannot.", "You ca n't , and can not ."),
        ("“Don’t” (isn't)", "“ Do n’t ” ( is n't )"),
        ("I'm, theyll well its", "I 'm , they ll well its"),
        ("Is it your wife’s?", "Is it your wife ’s ?"),
        ("the U.S. or UK. and b.", "the U.S. or UK . and b."),
        ("e.g. Dr. Who etc.", "e.g. Dr. Who etc ."),
        ("£1,000.50, 20€ or $5m?", "£ 1,000.50 , 20 € or $ 5 m ?"),
        ("from 6:00am to 10 pm, (9am)", "from 6:00am to 10 pm , ( 9 am )"),
        ("10MB, 5% of 3rd 20km/h", "10 MB , 5 % of 3rd 20 km/h"),
        (
            "self-employed 12-month 64-8 and/or a/b",
            "self - employed 12 - month 64 - 8 and/or a / b",
        ),
        ("wait...what tax,benefit end.Start 7(a)", "wait ... what tax , benefit end . Start 7(a )"),
        ("日本? é-ü", "日本 ? é - ü"),
    ],
)
def test_a_text_is_cut_at_words_and_signs(text, cut):
    assert list(tokens(text)) == cut.split()


@given(st.text())
def test_only_blanks_are_lost(text):
    assert "".join(tokens(text)) == "".join(text.split())
