"""TFRecord files of `tf.train.Example`, written and read without TensorFlow.

A record is: length (64 bits), its masked checksum, the data, its masked checksum (CRC-32C). The
data are a protocol buffer, Example{features{feature: map of name to bytes_list of one text}};
names sorted, so that one example always has the same bytes.
"""

import struct
from collections.abc import Iterator, Mapping
from typing import BinaryIO

import google_crc32c

from apps.exports.formats.checks import FieldError

_MASK = 0xA282EAD8
_LIMIT = 1 << 28


def write_record(stream: BinaryIO, data: bytes) -> None:
    length = struct.pack("<Q", len(data))
    stream.write(length + _checksum(length) + data + _checksum(data))


def _checksum(data: bytes) -> bytes:
    crc: int = google_crc32c.value(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + _MASK) & 0xFFFFFFFF)


def read_records(stream: BinaryIO) -> Iterator[bytes]:
    """The data of each record. Raises FieldError on anything that is not whole."""
    while head := stream.read(12):
        if len(head) < 12 or head[8:] != _checksum(head[:8]):
            raise FieldError("length", "cut off, or not what its checksum says")
        (length,) = struct.unpack("<Q", head[:8])
        if length > _LIMIT:
            raise FieldError("length", f"{length:,} bytes; at most {_LIMIT:,}")
        data, checksum = stream.read(length), stream.read(4)
        if len(data) < length or checksum != _checksum(data):
            raise FieldError("data", "cut off, or not what its checksum says")
        yield data


def to_example(features: Mapping[str, str]) -> bytes:
    entries = (
        _part(1, _part(1, name.encode()) + _part(2, _part(1, _part(1, features[name].encode()))))
        for name in sorted(features)
    )
    return _part(1, b"".join(entries))


def _part(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def from_example(data: bytes) -> dict[str, str]:
    """Features of one text each. Raises FieldError."""
    features: dict[str, str] = {}
    (block,) = _parts(data, 1, "features", most=1)
    for entry in _parts(block, 1, "feature", most=None):
        name, feature = _entry(entry)
        if name in features:
            raise FieldError(name, "stands twice")
        features[name] = _text(feature, name)
    if list(features) != sorted(features):
        raise FieldError("feature", "names are not sorted")
    return features


def _entry(data: bytes) -> tuple[str, bytes]:
    (name, at), feature = _one(data, 0, 1, "feature"), None
    feature, end = _one(data, at, 2, "feature")
    if end != len(data):
        raise FieldError("feature", "more bytes than name and value")
    return _utf8(name, "feature"), feature


def _text(feature: bytes, name: str) -> str:
    (listed,) = _parts(feature, 1, name, most=1)
    (value,) = _parts(listed, 1, name, most=1)
    return _utf8(value, name)


def _parts(data: bytes, number: int, field: str, *, most: int | None) -> list[bytes]:
    parts, at = [], 0
    while at < len(data):
        part, at = _one(data, at, number, field)
        parts.append(part)
    if most and len(parts) != most:
        raise FieldError(field, f"must be {most} bytes_list value, not {len(parts)}")
    return parts


def _one(data: bytes, at: int, number: int, field: str) -> tuple[bytes, int]:
    """The length-delimited part with this number that begins at `at`, and where it ends."""
    if at >= len(data) or data[at] != number << 3 | 2:
        raise FieldError(field, "not a tf.train.Example of texts")
    length = shift = 0
    for position in range(at + 1, min(at + 6, len(data))):
        length |= (data[position] & 0x7F) << shift
        shift += 7
        if data[position] < 0x80:
            end = position + 1 + length
            if end <= len(data):
                return data[position + 1 : end], end
            break
    raise FieldError(field, "cut off")


def _utf8(data: bytes, field: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise FieldError(field, "not UTF-8") from None
