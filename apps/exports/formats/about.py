"""What a dataset card says beside what is counted in the files: numbers of people, no names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

VERSION = "1.0.0"


@dataclass(frozen=True)
class Measured:
    """A figure of the audit: a share from 0 to 1 (None: nothing to measure), `hits` of `of`.

    `most` is what the release may reach, `waiver` why it may pass that.
    """

    label: str
    value: float | None
    hits: int | None = None
    of: int | None = None
    most: float | None = None
    waiver: str = ""

    @property
    def is_over(self) -> bool:
        return self.value is not None and self.most is not None and self.value > self.most


@dataclass(frozen=True)
class About:
    """How a dataset came about. Plain values throughout: as JSON and back it is the same.

    `licences` has how many documents are under which licence, "" where none is stated; `languages`
    are theirs (tags), `people` has how many did which work; `agreement` is in sentences. What was
    not measured is empty. Where unverified utterances were let through, `held_back` are those of
    dev and test, `unverified` those among them.
    """

    description: str = ""
    url: str = ""
    licence: str = ""
    creators: Sequence[str] = ()
    citation: str = ""
    version: str = VERSION
    published_on: str = "1970-01-01"
    pay: str = ""
    hosts: int = 0
    documents: int = 0
    licences: Mapping[str, int] | None = None
    languages: Sequence[str] = ()
    trees: int = 0
    imported_trees: int = 0
    people: Mapping[str, int] | None = None
    verified: Mapping[str, int] | None = None
    held_back: int = 0
    unverified: int = 0
    agreement: Sequence[str] = ()
    audit: Sequence[Measured] = ()
    audited: int = 0
    inconsistent: int = 0
    waived: int = 0

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> About:
        """Of `dataclasses.asdict`, also after a trip through JSON."""
        known = {field.name: value[field.name] for field in fields(cls) if field.name in value}
        known["audit"] = tuple(Measured(**one) for one in known.get("audit", ()))
        for name in ("creators", "languages", "agreement"):
            known[name] = tuple(known.get(name, ()))
        return cls(**known)

    @property
    def has_collected(self) -> bool:
        return self.trees > self.imported_trees
