"""What holds for the snippets of any body (design, section 4.1)."""

from collections.abc import Iterable, Sequence

from apps.snippets.domain.blocks import Block, Body, Kind, body_text, placed
from apps.snippets.domain.extraction import Format, extract
from apps.snippets.domain.segmentation import Limits, LongLists, Role, Segment, segment
from apps.snippets.domain.words import count_words, has_words


def assert_all(body: Body, limits: Limits) -> list[Segment]:
    segments = list(segment(body, limits))
    assert_within_limits(segments, limits)
    assert_in_document_order_without_overlap(segments)
    assert_only_headings_and_lead_ins_are_repeated(segments)
    assert_offsets_find_the_words(body, segments)
    assert_each_snippet_is_its_own_segmentation(segments, limits)
    if limits.long_lists == LongLists.SPLIT:
        assert_no_word_lost(body, segments, limits)
    return segments


def assert_within_limits(segments: Iterable[Segment], limits: Limits) -> None:
    for one in segments:
        assert 1 <= one.words <= limits.max_words, one
        if limits.long_lists != LongLists.KEEP:
            assert one.items <= limits.max_list_items, one


def assert_in_document_order_without_overlap(segments: Sequence[Segment]) -> None:
    end = 0
    for start, stop in own_spans(segments):
        assert end <= start < stop
        end = stop


def assert_only_headings_and_lead_ins_are_repeated(segments: Iterable[Segment]) -> None:
    seen: set[tuple[int, int]] = set()
    for piece in (piece for one in segments for piece in one.pieces):
        assert piece.is_repeat == ((piece.start, piece.end) in seen)
        assert not piece.is_repeat or piece.role in {Role.HEADING, Role.LEAD_IN}
        seen.add((piece.start, piece.end))


def assert_offsets_find_the_words(body: Body, segments: Iterable[Segment]) -> None:
    text = body_text(body)
    for one in segments:
        assert letters(text[piece.start : piece.end] for piece in one.pieces) == letters([one.text])


def assert_each_snippet_is_its_own_segmentation(
    segments: Iterable[Segment], limits: Limits
) -> None:
    for one in segments:
        (again,) = segment(extract(one.text, Format.MARKDOWN), limits)
        assert (again.text, again.kind) == (one.text, one.kind)
        assert (again.words, again.items) == (one.words, one.items)


def assert_no_word_lost(body: Body, segments: Sequence[Segment], limits: Limits) -> None:
    text = body_text(body)
    used = {start for start, _ in own_spans(segments)}
    with_words = [pair for pair in placed(body) if has_words(pair[0].text)]
    expected = []
    for index, (block, offset) in enumerate(with_words):
        following = next((below for below, _ in with_words[index + 1 :]), None)
        if _is_heading(block, limits) and offset not in used:
            assert following is None or _is_heading(following, limits), "a heading with a body"
        else:
            expected.append(block.text)
    found = letters(text[start:end] for start, end in own_spans(segments))
    assert found == letters(expected)


def own_spans(segments: Iterable[Segment]) -> list[tuple[int, int]]:
    pieces = (piece for one in segments for piece in one.pieces)
    return [(piece.start, piece.end) for piece in pieces if not piece.is_repeat]


def letters(texts: Iterable[str]) -> str:
    return "".join(letter for text in texts for letter in text if letter.isalnum())


def _is_heading(block: Block, limits: Limits) -> bool:
    return block.kind == Kind.HEADING and count_words(block.text) <= limits.max_words // 2
