"""ShARC records of our own making, as the files have them."""

import json
from pathlib import Path
from typing import Any

from apps.trees.domain.identifiers import tree_id
from tests.factories import sha1

RULE = "# Bus pass\n\nYou get a pass if you are:\n\n* over 60\n* a student"
ASK = "Can I get a pass?"
OVER_60 = "Are you over 60?"
STUDENT = "Are you a student?"


def turn(question: str, answer: str) -> dict[str, str]:
    return {"follow_up_question": question, "follow_up_answer": answer}


def record(answer: str, history: list[Any] | None = None, **fields: Any) -> dict[str, Any]:
    """An utterance of the tree "over 60, or else a student"."""
    base = {
        "utterance_id": "",
        "tree_id": tree_id(RULE, ASK),
        "source_url": "https://buses.example/pass",
        "snippet": RULE,
        "question": ASK,
        "scenario": "",
        "answer": answer,
        "history": history or [],
        "evidence": [],
    }
    made = {**base, **fields}
    return {**made, "utterance_id": made["utterance_id"] or sha1(json.dumps(made))}


def bus_pass() -> list[dict[str, Any]]:
    """The five nodes of the tree, one scenario with one fact, and two negatives."""
    elder, younger = [turn(OVER_60, "Yes")], [turn(OVER_60, "No")]
    mine: dict[str, Any] = {"scenario": "I turned 70 in May."}
    return [
        record(OVER_60),
        record("Yes", elder),
        record(STUDENT, younger),
        record("Yes", [*younger, turn(STUDENT, "Yes")]),
        record("No", [*younger, turn(STUDENT, "No")]),
        record("Yes", **mine, evidence=elder),
        record("Yes", elder, **mine),
        record("Irrelevant", question="Can I keep bees?"),
        record(OVER_60, scenario="My bees are calm."),
    ]


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(sorted(records, key=lambda one: str(one.get("utterance_id")))))
    return path
