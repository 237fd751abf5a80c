"""Merging and splitting rule texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.snippets.domain.reshaping import (
    EmptyHalfError,
    Repeat,
    RuleText,
    count_items,
    merge,
    places_to_split,
    split,
)

BODY = "## Grants\n\nYou can apply if:\n\n* you are over 18\n* you live here\n* you are a carer"


def spans(*words: str) -> tuple[tuple[int, int], ...]:
    return tuple((BODY.index(one), BODY.index(one) + len(one)) for one in words)


ITEMS = ("you are over 18", "you live here", "you are a carer")
WHOLE = RuleText(BODY, BODY, spans("Grants", "You can apply if:", *ITEMS))


def rule(text: str, *pieces: str) -> RuleText:
    return RuleText(text, text, spans(*pieces))


# Merging


def test_what_is_merged_stands_below_without_the_heading_and_lead_in_that_it_repeats():
    first = rule("## Grants\n\nYou can apply if:\n\n* you are over 18", "Grants",
                 "You can apply if:", ITEMS[0])  # fmt: skip
    second = rule("## Grants\n\nYou can apply if:\n\n* you live here\n* you are a carer", "Grants",
                  "You can apply if:", *ITEMS[1:])  # fmt: skip
    assert merge(first, second) == WHOLE


def test_a_paragraph_below_a_list_is_one_again():
    merged = merge(rule("* you live here"), rule("## Grants\n\nApply now."))
    assert merged.text == "* you live here\n\n## Grants\n\nApply now."


def test_a_repeated_list_item_is_no_heading_and_stays():
    merged = merge(rule("# A\n\n* yes\n* no"), rule("# A\n\n* yes\n* maybe"))
    assert merged.text == "# A\n\n* yes\n* no\n* yes\n* maybe"


def test_a_heading_and_a_lead_in_that_others_follow_are_not_left_out():
    above = rule("# A\n\nIf:\n\n* one\n\nBut not:\n\n* two\n\n# B\n\nThree.")
    assert merge(above, rule("# A\n\nFour.")).text == f"{above.text}\n\n# A\n\nFour."
    above = rule("If:\n\n* one\n\nBut not:\n\n* two")
    assert merge(above, rule("If:\n\n* three")).text == f"{above.text}\n\nIf:\n\n* three"


def test_the_same_text_twice_is_the_text():
    assert merge(rule("# A\n\nApply now."), rule("# A\n\nApply now.")).text == "# A\n\nApply now."


def test_the_texts_before_editing_are_merged_too():
    first, second = RuleText("New.", "Old.", ()), RuleText("Newer.", "Older.", ())
    assert merge(first, second) == RuleText("New.\n\nNewer.", "Old.\n\nOlder.", ())
    assert merge(RuleText("New.", "", ()), second).cut_text == "Older."


# Splitting


def cut(text: str, at: int, repeat: Repeat = Repeat.NOTHING) -> list[str]:
    whole = RuleText(text, text, ())
    return [half.text for half in split(whole, body="", at=at, repeat=repeat)]


def test_within_a_list_the_second_half_takes_heading_and_lead_in_along():
    first, second = split(
        WHOLE, body=BODY, at=BODY.index("* you live"), repeat=Repeat.CONTEXT
    )  # fmt: skip
    assert first == rule("## Grants\n\nYou can apply if:\n\n* you are over 18", "Grants",
                         "You can apply if:", ITEMS[0])  # fmt: skip
    assert second == rule("## Grants\n\nYou can apply if:\n\n* you live here\n* you are a carer",
                          "Grants", "You can apply if:", *ITEMS[1:])  # fmt: skip
    assert merge(first, second) == WHOLE


def test_the_second_half_takes_nothing_along_when_nothing_is_to_be_repeated():
    halves = split(WHOLE, body=BODY, at=BODY.index("* you live"), repeat=Repeat.NOTHING)
    assert halves[1] == rule("* you live here\n* you are a carer", *ITEMS[1:])


def test_before_a_list_only_the_heading_is_taken_along():
    assert cut(BODY, BODY.index("* you are over"), Repeat.CONTEXT) == [
        "## Grants\n\nYou can apply if:",
        "## Grants\n\n* you are over 18\n* you live here\n* you are a carer",
    ]


def test_a_second_half_with_a_heading_of_its_own_takes_nothing_along():
    text = "# A\n\nOne.\n\n# B\n\nTwo."
    assert cut(text, text.index("# B"), Repeat.CONTEXT) == ["# A\n\nOne.", "# B\n\nTwo."]


def test_a_list_right_under_its_heading_has_no_lead_in():
    text = "# A\n\n* one\n* two"
    assert cut(text, text.index("* two"), Repeat.CONTEXT) == ["# A\n\n* one", "# A\n\n* two"]


def test_a_list_without_anything_above_takes_nothing_along():
    assert cut("* one\n* two", 6, Repeat.CONTEXT) == ["* one", "* two"]


def test_a_tight_list_stays_tight():
    text = "If:\n* one\n* two"
    assert cut(text, text.index("* two"), Repeat.CONTEXT) == ["If:\n* one", "If:\n* two"]


def test_an_item_that_is_cut_makes_two():
    text = "* you are over 18 or live here"
    assert cut(text, text.index("or")) == ["* you are over 18", "* or live here"]


def test_a_cut_in_the_mark_of_an_item_is_made_before_it():
    assert cut("* one\n* two", 7) == ["* one", "* two"]


def test_a_cut_within_an_escape_is_made_before_it():
    assert cut("Write \\# here.", 7) == ["Write", "\\# here."]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("One.", 0), ("One.", 4), ("One. !", 4), ("# A\n\nOne.", 3), ("# A\n\nOne.", 5),
        ("One.\n\n# A", 5), ("# One two\n\nThree.", 5),
    ],
)  # fmt: skip
def test_no_half_is_empty_or_only_a_heading(text, at):
    with pytest.raises(EmptyHalfError):
        cut(text, at)


def test_a_piece_is_cut_where_its_words_are():
    body = "* One sentence. Another one."
    whole = RuleText("One sentence. Another one.", "", ((2, 28),))
    first, second = split(whole, body=body, at=13, repeat=Repeat.NOTHING)
    assert [body[slice(*first.pieces[0])], body[slice(*second.pieces[0])]] == [
        "One sentence.", "Another one.",
    ]  # fmt: skip
    assert (len(first.pieces), len(second.pieces)) == (1, 1)


def test_pieces_that_were_edited_away_stay_with_what_stands_before_them():
    text = "## Grants\n\nWrite to us.\n\n* you live here\n* others"
    whole = RuleText(text, BODY, WHOLE.pieces)
    first, second = split(whole, body=BODY, at=text.index("* you"), repeat=Repeat.NOTHING)
    assert first.pieces == spans("Grants", "You can apply if:", ITEMS[0])
    assert second.pieces == spans(*ITEMS[1:])


def test_halves_that_are_written_anew_share_the_place_that_they_come_from():
    whole = RuleText("One. Two.", BODY, spans("Grants", ITEMS[0]))
    first, second = split(whole, body=BODY, at=4, repeat=Repeat.NOTHING)
    assert (first.pieces, second.pieces) == (whole.pieces, whole.pieces[-1:])
    assert split(RuleText("One. Two.", "", ()), body="", at=4, repeat=Repeat.NOTHING)[1] == (
        RuleText("Two.", "", ())
    )


def test_the_text_before_editing_is_split_at_the_same_words():
    whole = RuleText("You may apply. Call us.", "You can apply. Call us.", ())
    first, second = split(whole, body="", at=14, repeat=Repeat.NOTHING)
    assert first == RuleText("You may apply.", "You can apply.", ())
    assert second == RuleText("Call us.", "Call us.", ())


def test_a_text_before_editing_that_is_all_on_one_side_stays_whole():
    whole = RuleText("Apply. Call us.", "Apply.", ())
    first, second = split(whole, body="", at=6, repeat=Repeat.NOTHING)
    assert (first.cut_text, second.cut_text) == ("Apply.", "")


# Places


def test_a_text_can_be_split_at_its_sentences_and_items():
    text = "# A\n\nOne here. Two here.\n\n* three\n* four ..."
    assert [text[place : place + 5] for place in places_to_split(text)] == [
        "Two h", "* thr", "* fou",
    ]  # fmt: skip


def test_a_text_of_one_sentence_has_no_place():
    assert places_to_split("# A\n\nOne here.") == []


def test_items_are_lines_with_a_mark():
    assert count_items("# A\n\nIf:\n* one\n** two\n\n*three* four") == 2


# Properties

words = st.sampled_from(["one", "two", "三つ", "\\# four", "(five)."])
lines = st.lists(words, min_size=1, max_size=4).map(" ".join)


@st.composite
def rule_texts(draw: st.DrawFn) -> str:
    heading = draw(st.none() | lines)
    paragraphs = draw(st.lists(lines, min_size=1, max_size=2))
    items = draw(st.lists(lines, max_size=3))
    parts = [*([f"## {heading}"] if heading else []), *paragraphs]
    return "\n\n".join([*parts, *(["\n".join(f"* {item}" for item in items)] if items else [])])


def words_of(*texts: str) -> list[str]:
    return sorted(word for text in texts for word in text.split() if word not in {"*", "##"})


@given(rule_texts(), st.data())
def test_a_split_loses_and_adds_no_word(text, data):
    at = data.draw(st.integers(0, len(text)))
    try:
        halves = cut(text, at)
    except EmptyHalfError:
        halves = [text]
    assert letters(*halves) == letters(text)


def letters(*texts: str) -> str:
    """Everything but marks and white space, in order."""
    return "".join("".join(texts).replace("*", "").replace("##", "").split())


@given(rule_texts(), rule_texts())
def test_a_merge_loses_no_line(above, below):
    merged = merge(RuleText(above, "", ()), RuleText(below, "", ())).text.splitlines()
    assert [line for line in above.splitlines() if line not in merged] == []
    assert [line for line in below.splitlines() if line and line not in merged] == []


@given(rule_texts())
def test_every_place_offered_can_be_split_and_merged_back(text):
    for place in places_to_split(text):
        first, second = cut(text, place)
        assert words_of(first, second) == words_of(text)
