"""A follow-up question is worded anew: what tells of it by its text goes along."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from apps.scenarios.domain.corrections import Parts
from apps.scenarios.domain.facts import fault_of
from apps.snippets.domain.folding import fold
from apps.trees.domain.tree import Path, Tree, Turn, questions


@dataclass(frozen=True)
class Rewording:
    """A question was worded `before`, and is worded `text` now."""

    before: str
    text: str

    def of_text(self, text: str) -> str:
        """The new wording for the one before, compared after folding; any other text as it is."""
        return self.text if fold(text) == fold(self.before) else text

    def of_turns(self, turns: Iterable[Turn]) -> Path:
        return tuple(
            replace(turn, follow_up_question=self.of_text(turn.follow_up_question))
            for turn in turns
        )

    def of_parts(self, parts: Parts) -> Parts:
        return replace(
            parts, history=self.of_turns(parts.history), evidence=self.of_turns(parts.evidence),
            answer=self.of_text(parts.answer),
        )  # fmt: skip

    def of_facts(self, tree: Tree, facts: Iterable[Turn]) -> Path:
        """The facts of a scenario of the tree, which has the new wording.

        Where another node still asks in the wording before, facts go along only if they have a
        fault as they are, and none in the new wording.
        """
        told = tuple(facts)
        moved = self.of_turns(told)
        if not self.is_still_asked(tree):
            return moved
        is_mended = fault_of(tree, told) is not None and fault_of(tree, moved) is None
        return moved if is_mended else told

    def is_still_asked(self, tree: Tree) -> bool:
        """Whether another node asks in the wording before."""
        asked = {question.folded for _, question in questions(tree)}
        return fold(self.before) in asked
