"""Cutting what kept snippets leave: nothing of theirs again, nothing else lost."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from apps.snippets.domain.blocks import Body, Kind, body_text, bullet, heading, paragraph, placed
from apps.snippets.domain.recut import segment_uncovered
from apps.snippets.domain.segmentation import Limits, LongLists, Role, Segment, segment
from tests.snippets.domain.bodies import bodies_of_words, limits, splitting_limits
from tests.snippets.domain.properties import (
    assert_each_snippet_is_its_own_segmentation,
    assert_offsets_find_the_words,
    assert_within_limits,
)

LIMITS = Limits()


def body(*blocks) -> Body:
    return Body("", "", blocks)


def spans(segments: list[Segment]) -> list[tuple[int, int]]:
    return [(piece.start, piece.end) for one in segments for piece in one.pieces]


def content(segments: list[Segment]) -> list[tuple[int, int]]:
    return [
        (piece.start, piece.end)
        for one in segments
        for piece in one.pieces
        if piece.role in {Role.PARAGRAPH, Role.ITEM}
    ]


def places(text: str, found: list[tuple[int, int]]) -> set[int]:
    """Where letters and digits stand in `found`."""
    return {place for start, end in found for place in range(start, end) if text[place].isalnum()}


def places_outside_headings(cut: Body) -> set[int]:
    text = body_text(cut)
    begins = [*placed(cut)]
    ends = [*(offset for _, offset in begins), len(text)][1:]
    blocks = [
        (offset, end)
        for (block, offset), end in zip(begins, ends, strict=True)
        if block.kind != Kind.HEADING
    ]
    return places(text, blocks)


def texts(cut: Body, covered: list[tuple[int, int]], using: Limits = LIMITS) -> list[str]:
    return [one.text for one in segment_uncovered(cut, covered, using)]


@given(bodies_of_words, limits)
def test_where_nothing_is_kept_it_is_the_segmentation(cut, using):
    assert list(segment_uncovered(cut, [], using)) == list(segment(cut, using))


@given(bodies_of_words, splitting_limits, splitting_limits, st.data())
def test_no_word_is_in_two_snippets_and_none_is_lost(cut, before, after, data):
    proposed = list(segment(cut, before))
    kept = [one for one in proposed if data.draw(st.booleans())]
    new = list(segment_uncovered(cut, spans(kept), after))
    text = body_text(cut)

    assert content(new) == sorted(content(new))
    both = sorted(content(kept) + content(new))
    assert all(left[1] <= right[0] for left, right in pairwise(both))
    lost = places(text, content(proposed)) - places(text, spans(kept) + spans(new))
    assert lost & places_outside_headings(cut) == set()


@given(bodies_of_words, limits, limits, st.data())
def test_offsets_find_the_words_and_nothing_is_over_the_limits(cut, before, after, data):
    kept = [one for one in segment(cut, before) if data.draw(st.booleans())]
    new = list(segment_uncovered(cut, spans(kept), after))
    assert_offsets_find_the_words(cut, new)
    assert_within_limits(new, after)
    assert_each_snippet_is_its_own_segmentation(new, after)


RULES = body(
    heading("Who can apply", 2),
    paragraph("You can apply if:"),
    bullet("you are over 18", is_tight=True),
    bullet("you live here"),
    bullet("you own a bike"),
    bullet("you pay tax"),
    paragraph("It is free. It takes a week."),
)


def test_a_list_that_is_kept_in_part_is_proposed_for_the_rest_with_its_lead_in():
    first, *_ = segment(RULES, Limits(max_list_items=2))
    assert first.items == 2
    assert texts(RULES, spans([first])) == [
        "## Who can apply\n\nYou can apply if:\n* you own a bike\n* you pay tax",
        "## Who can apply\n\nIt is free. It takes a week.",
    ]


def test_of_a_paragraph_that_is_kept_in_part_the_rest_is_proposed():
    text = body_text(RULES)
    start = text.index("It is free.")
    assert texts(RULES, [(0, start + len("It is free."))]) == [
        "## Who can apply\n\nIt takes a week."
    ]


def test_a_lead_in_whose_list_is_kept_whole_is_not_proposed():
    first, last = segment(RULES, LIMITS)
    assert texts(RULES, spans([first])) == [last.text]
    assert texts(RULES, spans([last])) == [first.text]
    assert texts(RULES, spans([first, last])) == []


def test_a_long_lead_in_is_repeated_by_its_last_sentence_only():
    long = body(
        paragraph(f"{'Some words here. ' * 10}You must be one of:"),
        bullet("an owner"),
        bullet("a tenant"),
    )
    using = Limits(max_list_items=1, max_words=20)
    proposed = list(segment(long, using))
    kept = proposed[:-1]
    assert proposed[-1].text == "You must be one of:\n\n* a tenant"
    assert texts(long, spans(kept), using) == [proposed[-1].text]


def test_pieces_point_into_the_whole_body_past_backslashes():
    odd = body(paragraph("# not a heading **x** first. Second **y** and [z](u) end."))
    text = body_text(odd)
    end = text.index("Second")
    (rest,) = segment_uncovered(odd, [(0, end)], LIMITS)
    (piece,) = rest.pieces
    assert text[piece.start : piece.end] == text[end:]
    assert text[end:] == "Second \\*\\*y\\*\\* and [z\\](u) end."
    assert rest.text == text[end:]


def test_what_has_no_word_is_neither_left_nor_proposed_with_what_was_kept():
    long = body(
        paragraph("First some words here. # Second the same again; you must be one of: #"),
        bullet("an owner"),
        bullet("a tenant"),
    )
    proposed = list(segment(long, Limits(max_list_items=1, max_words=6)))
    kept = [one for one in proposed if one.items == 0] + proposed[-1:]
    assert texts(long, spans(kept), Limits(max_words=6)) == ["* an owner"]


def test_a_long_heading_is_a_paragraph_and_so_is_what_is_left_of_it():
    odd = body(heading("> 1 is one. # Two is two.", 2), paragraph("It is free."))
    using = Limits(max_words=4)
    first, second, last = segment(odd, using)
    assert [first.text, second.text] == ["\\> 1 is one.", "\\# Two is two."]
    assert list(segment_uncovered(odd, spans([first]), using)) == [second, last]
    assert list(segment_uncovered(odd, spans([second]), using)) == [first, last]


def test_lists_that_are_left_out_stay_left_out():
    skip = Limits(max_list_items=2, long_lists=LongLists.SKIP)
    _first, last = segment(RULES, LIMITS)
    assert texts(RULES, [], skip) == [last.text]
    assert texts(RULES, spans([last]), skip) == []
