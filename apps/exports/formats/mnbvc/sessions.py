"""Conversations of a tree: maximal chains of histories, each utterance a step of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha1

from apps.exports.formats.rows import UtteranceRow
from apps.trees.domain.tree import Path

Step = tuple[Path, str]
"""What was said before, and what the system says then."""


@dataclass(frozen=True)
class Session:
    """What is said from the first question to where no utterance goes on.

    `steps` has, for each of the system's turns, the utterances that ask for it, sorted by id: none
    where the chain has a gap, several where they differ in nothing that is said.
    """

    last: UtteranceRow
    steps: tuple[tuple[UtteranceRow, ...], ...]

    @property
    def number(self) -> int:
        content = f"session:{self.last.utterance_id}".encode()
        return int(sha1(content, usedforsecurity=False).hexdigest()[:12], 16)

    @property
    def user_turns(self) -> list[str]:
        return [self.last.question, *(turn.follow_up_answer for turn in self.last.history)]

    @property
    def system_turns(self) -> list[str]:
        return [*(turn.follow_up_question for turn in self.last.history), self.last.answer]


def sessions(utterances: Iterable[UtteranceRow]) -> list[Session]:
    """The sessions of one tree's utterances, sorted by the id of the last."""
    groups: dict[tuple[str, str, Path], list[UtteranceRow]] = defaultdict(list)
    for row in utterances:
        groups[row.question, row.scenario, row.evidence].append(row)
    found = [session for group in groups.values() for session in _sessions_of(group)]
    return sorted(found, key=lambda session: session.last.utterance_id)


def _sessions_of(group: list[UtteranceRow]) -> list[Session]:
    steps: dict[Step, list[UtteranceRow]] = defaultdict(list)
    for row in sorted(group, key=lambda row: row.utterance_id):
        steps[row.history, row.answer].append(row)
    continued = {step for history, _ in steps for step in _steps_to(history)}
    return [
        Session(rows[0], tuple(tuple(steps.get(step, ())) for step in (*_steps_to(end[0]), end)))
        for end, rows in list(steps.items())
        if end not in continued
    ]


def _steps_to(history: Path) -> list[Step]:
    return [(history[:index], turn.follow_up_question) for index, turn in enumerate(history)]
