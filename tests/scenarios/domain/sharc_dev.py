"""The official ShARC dev set as values of the domain, its known faults of form repaired."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path as FilePath

from apps.trees.domain.rebuild import PlainUtterance, RebuiltTree, rebuild_tree
from apps.trees.domain.tree import Answer, Path, Turn

REPAIRED = {"yes": "Yes", "Noe": "No"}


@dataclass(frozen=True)
class Utterance:
    utterance_id: str
    tree_id: str
    rule_text: str
    question: str
    scenario: str
    history: Path
    evidence: Path
    answer: str


@dataclass(frozen=True)
class DevSet:
    plain: list[Utterance]
    with_scenario: list[Utterance]
    with_negative_scenario: list[Utterance]
    irrelevant: list[Utterance]

    @property
    def all(self) -> list[Utterance]:
        return self.plain + self.with_scenario + self.with_negative_scenario + self.irrelevant

    def trees(self) -> dict[str, RebuiltTree]:
        """By tree id."""
        nodes: dict[str, list[PlainUtterance]] = defaultdict(list)
        for one in self.plain:
            nodes[one.tree_id].append(PlainUtterance(one.utterance_id, one.history, one.answer))
        return {tree_id: rebuild_tree(found) for tree_id, found in nodes.items()}


@cache
def read_dev_set(folder: FilePath) -> DevSet:
    dev = DevSet([], [], [], [])
    negative_scenarios = set(_ids(folder / "sharc_negative_scenario_utterance_ids.txt"))
    for row in json.loads((folder / "sharc_dev.json").read_text("utf-8")):
        _kind(dev, row, negative_scenarios).append(_utterance(row))
    return dev


def _ids(file: FilePath) -> list[str]:
    return file.read_text("utf-8").split()


def _kind(dev: DevSet, row: dict, negative_scenarios: set[str]) -> list[Utterance]:
    if row["answer"] == "Irrelevant":
        return dev.irrelevant
    if row["utterance_id"] in negative_scenarios:
        return dev.with_negative_scenario
    return dev.with_scenario if row["scenario"] else dev.plain


def _utterance(row: dict) -> Utterance:
    return Utterance(
        utterance_id=row["utterance_id"],
        tree_id=row["tree_id"],
        rule_text=row["snippet"],
        question=row["question"],
        scenario=row["scenario"],
        history=_turns(row["history"]),
        evidence=_turns(row["evidence"]),
        answer=row["answer"],
    )


def _turns(turns: Iterable[dict[str, str]]) -> Path:
    return tuple(_turn(*turn.values()) for turn in turns)


def _turn(question: str, answer: str) -> Turn:
    """The keys are not looked at: one item of evidence has misspelt ones, in the same order."""
    return Turn(question, Answer(REPAIRED.get(answer, answer)))
