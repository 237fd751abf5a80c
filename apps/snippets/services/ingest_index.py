"""The list that says where files come from: JSON, an array of objects.

    [{"file": "pets.html", "source_url": "https://office.example/pets", "title": "Pets",
      "language": "en", "licence": "Open Government Licence v3.0", "retrieved_on": "2024-05-31"}]

Only "file" must be there; it counts from the folder of the list.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from typing import Any

from apps.snippets.errors import IndexRefusedError
from apps.snippets.services.ingest import Details

KEYS = ("file", *(one.name for one in fields(Details)))


@dataclass(frozen=True)
class Index:
    """What is known about files, by their names; `used` are those that were asked for."""

    details: Mapping[str, Details] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def of(self, *names: str) -> Details | None:
        """Of a file that may go by any of these names."""
        for name in names:
            if (found := self.details.get(name)) is not None:
                self.used.add(name)
                return found
        return None

    def unused(self) -> list[str]:
        return [name for name in self.details if name not in self.used]


def read_index(data: bytes, *, name: str) -> Index:
    """Raises IndexRefusedError, which says what is wrong where in the list called `name`."""
    try:
        entries = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise IndexRefusedError(f"{name}: it is not in UTF-8.") from error
    except json.JSONDecodeError as error:
        raise IndexRefusedError(f"{name}: line {error.lineno} is not JSON: {error.msg}.") from error
    except RecursionError as error:
        raise IndexRefusedError(f"{name}: it is nested too deeply.") from error
    if not isinstance(entries, list):
        raise IndexRefusedError(f"{name}: it must be an array of objects, one for each file.")
    found: dict[str, Details] = {}
    for number, entry in enumerate(entries, start=1):
        file, details = _entry(entry, where=f"{name}: entry {number}")
        if file in found:
            raise IndexRefusedError(f"{name}: entry {number}: {file!r} is in it twice.")
        found[file] = details
    return Index(found)


def _entry(entry: Any, *, where: str) -> tuple[str, Details]:
    if not isinstance(entry, dict):
        raise IndexRefusedError(f"{where} is no object.")
    for key, value in entry.items():
        if key not in KEYS:
            raise IndexRefusedError(f"{where}: {key!r} is not known; use {', '.join(KEYS)}.")
        if not isinstance(value, str) and not (value is None and key != "file"):
            raise IndexRefusedError(f"{where}: {key!r} is no text.")
    values = {key: value.strip() for key, value in entry.items() if value}
    if not values.get("file"):
        raise IndexRefusedError(f"{where}: the name of the file is missing.")
    file = posixpath.normpath(values.pop("file").replace("\\", "/"))
    if "retrieved_on" in values:
        values["retrieved_on"] = _day(values["retrieved_on"], where=where)
    return file, Details(**values)


def _day(text: str, *, where: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise IndexRefusedError(f"{where}: {text!r} is no date, such as 2024-05-31.") from error
