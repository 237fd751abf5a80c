"""The parts of an utterance that an expert may correct."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.scenarios.domain.turns import turns_as_json, turns_from_json
from apps.trees.domain.tree import Path


@dataclass(frozen=True)
class Parts:
    """`answer` is Yes, No, Irrelevant or a follow-up question; an empty scenario is none."""

    scenario: str
    history: Path
    evidence: Path
    answer: str

    def as_json(self) -> dict[str, Any]:
        """With the keys of the export."""
        return {
            "scenario": self.scenario,
            "history": turns_as_json(self.history),
            "evidence": turns_as_json(self.evidence),
            "answer": self.answer,
        }

    @classmethod
    def from_json(cls, parts: Mapping[str, Any]) -> "Parts":
        """The inverse of `as_json`."""
        return cls(
            parts["scenario"],
            turns_from_json(parts["history"]),
            turns_from_json(parts["evidence"]),
            parts["answer"],
        )
