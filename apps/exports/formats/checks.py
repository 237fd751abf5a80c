"""Strict models of JSON values, small enough to say which field is wrong.

A check is a function of a value and the name of its field; it raises FieldError.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from apps.scenarios.domain.turns import TURN_KEYS, turns_from_json
from apps.trees.domain.tree import Path

Check = Callable[[Any, str], None]

_HEX40 = re.compile(r"[0-9a-f]{40}")
_URL = re.compile(r"^(https?|wss?|ftp)://")


class FormatError(Exception):
    """A file that is not what its format says: file, place, field, and what is wrong there."""

    def __init__(self, file: str, where: str, what: str) -> None:
        # Quoted texts have line breaks; the message has none.
        parts = (file, where, " ".join(what.split()))
        super().__init__(": ".join(part for part in parts if part))


class FieldError(Exception):
    """The field and what is wrong with it."""

    def __init__(self, field: str, what: str) -> None:
        super().__init__(f"{field}: {what}" if field else what)


def parse_json(text: str) -> Any:
    """A JSON value. Raises FieldError, also where a key stands twice in one object."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise FieldError("", "nested too deep") from None
    except json.JSONDecodeError as error:
        raise FieldError("", f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except ValueError as error:
        raise FieldError("", f"not JSON: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return made


def any_text(value: Any, field: str) -> None:
    if not isinstance(value, str):
        raise FieldError(field, f"must be a text, not {type_name(value)}")


def text(value: Any, field: str) -> None:
    any_text(value, field)
    if not value:
        raise FieldError(field, "empty")


def hex40(value: Any, field: str) -> None:
    any_text(value, field)
    if not _HEX40.fullmatch(value):
        raise FieldError(field, "not 40 hex digits")


def url(value: Any, field: str) -> None:
    any_text(value, field)
    if not is_url(value):
        raise FieldError(field, "does not begin with https://, http://, wss://, ws:// or ftp://")


def is_url(text: str) -> bool:
    return bool(_URL.match(text))


def number(value: Any, field: str) -> None:
    """A whole number from 0 on."""
    if type(value) is not int:
        raise FieldError(field, f"must be a whole number, not {type_name(value)}")
    if value < 0:
        raise FieldError(field, "below 0")


def boolean(value: Any, field: str) -> None:
    if not isinstance(value, bool):
        raise FieldError(field, f"must be true or false, not {type_name(value)}")


def one_of(*allowed: Any) -> Check:
    def check(value: Any, field: str) -> None:
        if not any(value == one and type(value) is type(one) for one in allowed):
            raise FieldError(field, f"must be {' or '.join(map(_quoted, allowed))}, "
                             f"not {_quoted(value)}")  # fmt: skip

    return check


def matching(pattern: str, what: str) -> Check:
    compiled = re.compile(pattern)

    def check(value: Any, field: str) -> None:
        any_text(value, field)
        if not compiled.fullmatch(value):
            raise FieldError(field, f"must be {what}, not {_quoted(value)}")

    return check


def list_of(item: Check) -> Check:
    def check(value: Any, field: str) -> None:
        if not isinstance(value, list):
            raise FieldError(field, f"must be a list, not {type_name(value)}")
        for index, one in enumerate(value):
            item(one, f"{field}[{index}]")

    return check


def object_of(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """An object with these keys and no others."""
    checks = {**required, **(optional or {})}

    def check(value: Any, field: str) -> None:
        if not isinstance(value, dict):
            raise FieldError(field, f"must be an object, not {type_name(value)}")
        for key in required:
            if key not in value:
                raise FieldError(_inside(field, key), "missing")
        for key, part in value.items():
            if key not in checks:
                raise FieldError(_inside(field, key), "the format has no such field")
            checks[key](part, _inside(field, key))

    return check


def json_text(inner: Check) -> Check:
    """A text that is JSON."""

    def check(value: Any, field: str) -> None:
        any_text(value, field)
        try:
            parsed = parse_json(value)
        except FieldError as error:
            raise FieldError(field, str(error)) from None
        inner(parsed, field)

    return check


turn = object_of({TURN_KEYS[0]: text, TURN_KEYS[1]: one_of("Yes", "No")})
turns = list_of(turn)


def path_of(value: Iterable[Mapping[str, str]]) -> Path:
    return turns_from_json(value)


def type_name(value: Any) -> str:
    names: list[tuple[type, str]] = [
        (bool, "true or false"), (str, "a text"), (dict, "an object"), (list, "a list"),
        (type(None), "null"), (float, "a fraction"),
    ]  # fmt: skip
    return next((name for kind, name in names if isinstance(value, kind)), "a number")


def same(found: Any, expected: Any, field: str) -> None:
    """Refuses a value that does not follow from the others."""
    if found != expected:
        raise FieldError(field, f"must be {_quoted(expected)}, not {_quoted(found)}")


class Increasing:
    """Refuses keys that are not sorted, or stand twice."""

    def __init__(self, field: str) -> None:
        self._field = field
        self._last: Any = None

    def check(self, key: Any) -> None:
        if self._last is not None and key == self._last:
            raise FieldError(self._field, f"stands twice: {_quoted(key)}")
        if self._last is not None and key < self._last:
            raise FieldError(self._field, f"not sorted: {_quoted(key)} after {_quoted(self._last)}")
        self._last = key


def _quoted(value: Any) -> str:
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return f"“{shown[:60]}”"


def _inside(field: str, key: str) -> str:
    return f"{field}.{key}" if field else key
