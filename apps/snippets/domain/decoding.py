"""From bytes to text: by byte order mark, then by declaration, then by detection."""

import codecs
import re
from dataclasses import dataclass
from enum import StrEnum

import charset_normalizer


class UnreadableError(ValueError):
    """The bytes are no text; the message says in one sentence what they are."""


class How(StrEnum):
    MARK = "byte order mark"
    DECLARED = "declaration"
    DETECTED = "detection"


@dataclass(frozen=True, slots=True)
class Decoded:
    text: str
    encoding: str
    how: How


_BINARIES = {
    b"%PDF-": "a PDF file",
    b"PK\x03\x04": "a zip archive or an office document",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"\x1f\x8b": "a gzip archive",
    b"\xd0\xcf\x11\xe0": "an old office document",
    b"{\\rtf": "an RTF file",
}
# The longer marks first: UTF-32's begins with UTF-16's.
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_DECLARATION = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})"
    rb"|<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})",
    re.IGNORECASE,
)
_DECLARED_WITHIN = 4096
# What browsers read these names as, https://encoding.spec.whatwg.org/#names-and-labels. A
# declaration that could be read is not in UTF-16, whatever it says.
_READ_AS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "utf-16": "utf-8",
    "utf-16-le": "utf-8",
    "utf-16-be": "utf-8",
}
_ENCODING_OF_TEXT = re.compile(
    r"utf-8|(?:cp|iso8859-|koi8-|mac-|tis-)\w+|iso2022_\w+|euc_\w+|shift_jis\w*|big5\w*|gb18030"
)
"""Python has more codecs, such as UTF-7 and escapes, that no page may ask for."""
# Those that documents are written in; without the list, a short text is taken for Mac Roman.
_LIKELY = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "iso8859_2",
    "iso8859_5", "iso8859_7", "koi8_r", "cp874", "cp932", "euc_jp", "iso2022_jp", "gb18030", "big5",
    "cp949",
]  # fmt: skip

_USUAL = "cp1252"
_HARDLY_LESS = 0.03
"""In the share of the letters that a language uses often; Turkish and Baltic differ by more."""


def decode(data: bytes) -> Decoded:
    """The text of a document. Raises `UnreadableError` for what is no text."""
    for beginning, what in _BINARIES.items():
        if data.startswith(beginning):
            raise UnreadableError(f"This is {what}: save it as HTML, Markdown or plain text first.")
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            return _checked(data[len(mark) :].decode(encoding, "replace"), encoding, How.MARK)
    if b"\0" in data:
        raise UnreadableError(
            "This is a binary file, or UTF-16 without a byte order mark: it has NUL bytes."
        )
    return _declared(data) or _detected(data)


def _declared(data: bytes) -> Decoded | None:
    """None without a declaration, and when it does not hold."""
    found = _DECLARATION.search(data[:_DECLARED_WITHIN])
    if not found:
        return None
    try:
        name = codecs.lookup((found[1] or found[2]).decode("ascii")).name
        encoding = _READ_AS.get(name, name)
        if not _ENCODING_OF_TEXT.fullmatch(encoding):
            return None
        return Decoded(data.decode(encoding), encoding, How.DECLARED)
    except (LookupError, UnicodeError):
        return None


def _detected(data: bytes) -> Decoded:
    try:
        return Decoded(data.decode("utf-8"), "utf-8", How.DETECTED)
    except UnicodeDecodeError:
        matches = charset_normalizer.from_bytes(data, cp_isolation=_LIKELY)
    best = matches.best()
    if best is None:
        raise UnreadableError("This is no text in any encoding that we know.")
    if any(_is_as_good(match, best) for match in matches):
        return Decoded(data.decode(_USUAL), _USUAL, How.DETECTED)
    return Decoded(str(best), best.encoding, How.DETECTED)


def _is_as_good(
    match: charset_normalizer.CharsetMatch, best: charset_normalizer.CharsetMatch
) -> bool:
    """Whether the usual encoding explains the bytes as well: a short text has no other evidence."""
    return (
        _USUAL in {match.encoding, *match.could_be_from_charset}
        and match.chaos <= best.chaos
        and match.coherence >= best.coherence - _HARDLY_LESS
    )


def _checked(text: str, encoding: str, how: How) -> Decoded:
    if "\0" in text:
        raise UnreadableError("This is a binary file: it has NUL characters.")
    return Decoded(text, encoding, how)
