"""What was changed in a text, word by word."""

from hypothesis import given
from hypothesis import strategies as st

from apps.snippets.domain import differences
from apps.snippets.domain.differences import Change, Kind, changes, offset_before_changes

texts = st.text(alphabet="ab \n日本.", max_size=40)


def test_words_that_went_and_came_stand_in_their_place():
    assert list(changes("You can claim now.", "You may claim.")) == [
        Change(Kind.SAME, "You "),
        Change(Kind.REMOVED, "can"),
        Change(Kind.ADDED, "may"),
        Change(Kind.SAME, " "),
        Change(Kind.REMOVED, "claim now."),
        Change(Kind.ADDED, "claim."),
    ]


def test_texts_without_spaces_are_compared_letter_by_letter():
    assert list(changes("十八歳以上", "二十歳以上")) == [
        Change(Kind.ADDED, "二"),
        Change(Kind.SAME, "十"),
        Change(Kind.REMOVED, "八"),
        Change(Kind.SAME, "歳以上"),
    ]


@given(texts, texts)
def test_the_changes_give_both_texts_back(before, after):
    found = list(changes(before, after))
    assert "".join(one.text for one in found if one.kind != Kind.ADDED) == before
    assert "".join(one.text for one in found if one.kind != Kind.REMOVED) == after


def test_long_texts_are_compared_line_by_line(monkeypatch):
    monkeypatch.setattr(differences, "MOST_WORDS", 4)
    assert list(changes("one two three\nfour", "one two 3\nfour")) == [
        Change(Kind.REMOVED, "one two three"),
        Change(Kind.ADDED, "one two 3"),
        Change(Kind.SAME, "\nfour"),
    ]


def test_an_offset_finds_its_word_in_the_text_before():
    before, after = "You can claim it", "You may well claim it"
    assert offset_before_changes(before, after, after.index("claim")) == before.index("claim")
    assert offset_before_changes(before, after, after.index("it") + 1) == before.index("it") + 1
    assert offset_before_changes(before, after, after.index("well")) == before.index("can")
    assert offset_before_changes(before, after, len(after)) == len(before)


@given(texts, st.integers(0, 40))
def test_in_an_unchanged_text_an_offset_is_itself(text, offset):
    assert offset_before_changes(text, text, min(offset, len(text))) == min(offset, len(text))
