"""ShARC's file format: what is written is read again, and byte for byte."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.exports.formats.json_items import MAX_VALUE, JsonError, read_items
from apps.exports.formats.sharc import (
    Record,
    SharcError,
    read_ids,
    read_records,
    to_json,
    write_records,
)
from apps.trees.domain.tree import Answer, Turn
from tests.exports.records import bus_pass

ids = st.text("0123456789abcdef", min_size=40, max_size=40)
texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=30
).filter(lambda text: any(map(str.isalnum, text)))
questions = texts.map(lambda text: text + "?")
# No question stands twice in a history, so none contradicts another.
histories = st.lists(st.sampled_from(Answer), max_size=5).map(
    lambda answers: tuple(
        Turn(f"Is it number {number} \u2028 “é” 👩‍👧?", answer)
        for number, answer in enumerate(answers)
    )
)
records = st.builds(
    Record,
    utterance_id=ids,
    tree_id=ids,
    source_url=texts,
    snippet=texts,
    question=texts,
    scenario=st.just("") | texts,
    answer=st.sampled_from(["Yes", "No", "Irrelevant"]) | questions,
    history=histories,
    evidence=histories,
)


def written(some: list[Record]) -> bytes:
    pieces: list[str] = []
    assert write_records(some, pieces.append) == len(some)
    return "".join(pieces).encode("ascii")


def read(data: bytes) -> list[Record]:
    return list(read_records(io.BytesIO(data), file="f.json"))


@given(st.lists(records, min_size=1, max_size=5))
def test_what_is_written_is_read_again(some):
    assert read(written(some)) == some


@given(st.lists(records, min_size=1, max_size=5))
def test_the_file_is_what_json_dump_writes(some):
    data = written(some)
    assert json.dumps(json.loads(data)).encode() == data


def test_no_records_are_an_empty_array():
    assert written([]) == b"[]"


@given(st.lists(records, min_size=1, max_size=3), st.integers(min_value=1))
def test_a_truncated_file_is_never_taken_for_a_whole_one(some, cut):
    data = written(some)
    with pytest.raises(SharcError):
        read(data[: cut % len(data)])


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader_in_any_other_way(data):
    with pytest.raises(SharcError):
        read(data)


def test_fields_that_the_format_does_not_have_come_back():
    odd = {"note": 3, **bus_pass()[0]}
    (one,) = read(json.dumps([odd]).encode())
    assert json.loads(to_json(one)) == odd
    assert to_json(one) == json.dumps(odd)


def test_items_and_lines_are_numbered_from_one():
    assert list(read_items(io.BytesIO(b"[1, {}]"))) == [("item 1", 1), ("item 2", {})]
    assert list(read_items(io.BytesIO(b'\n"a"\n\n"b"\n'))) == [("line 2", "a"), ("line 4", "b")]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"[1 2]", "item 2: not JSON: ',' was expected, not '2'"),
        (b"[1,]", "item 2: not JSON: expecting value"),
        (b'["' + b"9" * 10, "item 1: the file ends in the middle"),
        (b"[" + b"9" * 5000 + b"]", "item 1: not JSON that we can read"),
    ],
)
def test_what_is_not_json_is_named_with_its_place(data, said):
    with pytest.raises(JsonError) as refusal:
        list(read_items(io.BytesIO(data)))
    assert str(refusal.value).startswith(said)


def test_a_value_without_an_end_is_refused_before_it_fills_the_memory():
    class Endless(io.BytesIO):
        """A text that goes on and on, like a disk image that was taken for JSON."""

        given = 0

        def read(self, size: int | None = -1) -> bytes:
            wanted = 1 if size is None or size < 0 else size
            Endless.given += wanted
            return b'["' + b"a" * wanted if Endless.given == wanted else b"a" * wanted

    with pytest.raises(JsonError, match="longer than 16,777,216 characters"):
        list(read_items(Endless()))
    assert Endless.given < 5 * MAX_VALUE


def test_a_list_of_ids_is_read_with_any_line_ends():
    assert read_ids(io.BytesIO(b"\xef\xbb\xbf" + b"a" * 40 + b"\r\n"), file="x") == {"a" * 40}
    with pytest.raises(SharcError, match="the list is not UTF-8"):
        read_ids(io.BytesIO(b"\xff"), file="x")
