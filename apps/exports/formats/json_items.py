"""The values of a JSON array or of JSON Lines, one by one, from a stream of any length.

The standard library's decoder does the work. (A streaming parser was tried first: it turned half
of a surrogate pair into a question mark without a word, and took all memory on deep nesting.)
"""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

CHUNK = 1 << 20
MAX_VALUE = 16 << 20
"""Most characters of one value: what a stream without an end may cost in memory."""

_SPACE = re.compile(r"[ \t\r\n]*")


class JsonError(Exception):
    """What is wrong, and `where`: `item 3`, `line 3`, or nothing when it is the file as a whole."""

    def __init__(self, what: str, where: str = "") -> None:
        self.what = what
        self.where = where
        super().__init__(f"{where}: {what}" if where else what)


def read_items(stream: BinaryIO) -> Iterator[tuple[str, Any]]:
    """Each value with where it stands: `item N` of an array, or `line N`; both from 1.

    UTF-8 with or without a byte order mark. Raises JsonError.
    """
    head = stream.read(4)
    if head[:2] in {b"\xff\xfe", b"\xfe\xff"} or b"\x00" in head:
        raise JsonError("the file is UTF-16, UTF-32 or no text at all; save it as UTF-8")
    stream.seek(0)
    scanner = _Scanner(_utf8(stream))
    try:
        if scanner.peek() == "[":
            yield from _array(scanner)
        else:
            yield from _lines(scanner)
    except UnicodeDecodeError as error:
        raise JsonError("the file is not UTF-8", scanner.where) from error


def _utf8(stream: BinaryIO) -> codecs.StreamReader:
    # Not `io.TextIOWrapper`: closing it closes the caller's stream.
    return codecs.getreader("utf-8-sig")(stream)


def _array(scanner: "_Scanner") -> Iterator[tuple[str, Any]]:
    scanner.skip("[")
    number = 0
    while scanner.peek() != "]":
        number += 1
        scanner.where = f"item {number}"
        if number > 1:
            scanner.skip(",")
        yield scanner.where, scanner.value()
    scanner.skip("]")
    if scanner.peek():
        raise JsonError("more text follows the end of the array")


def _lines(scanner: "_Scanner") -> Iterator[tuple[str, Any]]:
    while scanner.peek():
        scanner.where = f"line {scanner.line}"
        yield scanner.where, scanner.value()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; of a key that stands in it twice, JSON's readers lose one value silently."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return made


class _Scanner:
    """A window on the text, as far as it is needed."""

    def __init__(self, stream: codecs.StreamReader) -> None:
        self._stream = stream
        self._decode = json.JSONDecoder(object_pairs_hook=_object).raw_decode
        self._text = ""
        self._at = 0
        self.line = 1
        self.where = ""

    def peek(self) -> str:
        """The next character that is not white space; empty at the end of the text."""
        while True:
            self._go_to(_SPACE.match(self._text, self._at).end())  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read_more():
                return ""

    def skip(self, expected: str) -> None:
        found = self.peek()
        if not found:
            raise JsonError("the file ends in the middle", self.where)
        if found != expected:
            raise JsonError(f"not JSON: {expected!r} was expected, not {found!r}", self.where)
        self._go_to(self._at + 1)

    def value(self) -> Any:
        self.peek()
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except json.JSONDecodeError as error:
                broken = self._broken(error)  # now: reading on moves the window
                if not self._read_more():
                    raise broken from None
            except RecursionError:
                raise JsonError("nested too deep", self.where) from None
            except ValueError as error:  # a number of thousands of digits
                raise JsonError(f"not JSON that we can read: {error}", self.where) from None
            else:
                self._go_to(end)
                return value

    def _broken(self, error: json.JSONDecodeError) -> JsonError:
        if error.pos >= len(self._text) or "Unterminated" in error.msg:
            return JsonError("the file ends in the middle", self.where)
        return JsonError(f"not JSON: {error.msg[0].lower()}{error.msg[1:]}", self.where)

    def _go_to(self, position: int) -> None:
        self.line += self._text.count("\n", self._at, position)
        self._at = position

    def _read_more(self) -> bool:
        kept = self._text[self._at :]
        if len(kept) > MAX_VALUE:
            raise JsonError(f"longer than {MAX_VALUE:,} characters, or not JSON", self.where)
        # As much again as is there: a long value is decoded a few times, not once per chunk.
        more = self._stream.read(max(CHUNK, len(kept)))
        self._text, self._at = kept + more, 0
        return bool(more)
