"""An utterance as the audit sees it."""

from __future__ import annotations

from dataclasses import dataclass

from apps.trees.domain.tree import Path

YES, NO, IRRELEVANT, MORE = CLASSES = ("yes", "no", "irrelevant", "more")


@dataclass(frozen=True, slots=True)
class Row:
    """`tree` groups the utterances of one tree; `label` is one of CLASSES."""

    utterance_id: str
    tree: str
    split: str
    question: str
    scenario: str
    history: Path
    evidence: Path
    answer: str
    label: str
    kind: str = "plain"

    @property
    def is_decided(self) -> bool:
        """Whether the answer is a final one."""
        return self.label in {YES, NO}


@dataclass(frozen=True)
class Share:
    """`hits` of `of`."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        """From 0 to 1; None where there is nothing to count."""
        return self.hits / self.of if self.of else None


def share(flags: list[bool]) -> Share:
    return Share(sum(flags), len(flags))
