"""A tree from its plain utterances.

A plain utterance (no scenario, no evidence) is one node: its history is the path to the node, its
answer is what the node holds. ShARC publishes trees in this form only.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from apps.snippets.domain.folding import fold
from apps.trees.domain.tree import (
    Answer,
    FinalAnswer,
    OpenBranch,
    Path,
    Question,
    Tree,
    contradictions,
    fold_answer,
)

# Far above any depth that a project allows, and far below where comparing two trees with `==`
# would run into Python's own limit.
MAX_DEPTH = 200
IDS_NAMED = 5


@dataclass(frozen=True)
class PlainUtterance:
    """One node of a tree. `answer` is "Yes" or "No" at a leaf, else the follow-up question."""

    utterance_id: str
    history: Path
    answer: str


@dataclass(frozen=True)
class RebuiltTree:
    """The tree, and every spelling of the questions that are spelled in more than one way.

    Each node's `key` is the id of the utterance that the node was made of. `spellings` maps a
    folded question to its spellings, in answers and in histories.
    """

    tree: Tree
    spellings: Mapping[str, frozenset[str]]


class TreeError(Exception):
    """Utterances that are not the nodes of one tree.

    TreeError
      NoRootError
      TooDeepError
      ContradictingHistoryError
      ConflictingAnswersError
      OrphanHistoryError
        MissingParentError
        BelowFinalAnswerError
        OtherQuestionError

    `utterance_ids` are the ones at fault, sorted; the message names the first of them.
    """

    reason: str

    def __init__(self, utterances: Iterable[PlainUtterance]) -> None:
        self.utterance_ids = tuple(sorted({found.utterance_id for found in utterances}))
        named = ", ".join(self.utterance_ids[:IDS_NAMED]) or "no utterances"
        unnamed = len(self.utterance_ids) - IDS_NAMED
        more = f" and {unnamed} more" if unnamed > 0 else ""
        super().__init__(f"{self.reason}: {named}{more}.")


class NoRootError(TreeError):
    reason = "No plain utterance has an empty history, so the tree has no first question"


class TooDeepError(TreeError):
    reason = f"Plain utterances have a history of more than {MAX_DEPTH} turns"


class ContradictingHistoryError(TreeError):
    reason = "Plain utterances have a history that answers one question both Yes and No"


class ConflictingAnswersError(TreeError):
    reason = "Plain utterances have the same history and different answers"


class OrphanHistoryError(TreeError):
    """A history that no other utterance leads to; each subclass says why."""


class MissingParentError(OrphanHistoryError):
    reason = "Plain utterances have a history whose last question no plain utterance asks"


class BelowFinalAnswerError(OrphanHistoryError):
    reason = "Plain utterances have a history that goes on after a final answer"


class OtherQuestionError(OrphanHistoryError):
    reason = "Plain utterances have a history whose last question is not the one asked there"


_FoldedPath: TypeAlias = tuple[tuple[str, Answer], ...]
_Groups: TypeAlias = dict[_FoldedPath, list[PlainUtterance]]


def rebuild_tree(utterances: Iterable[PlainUtterance]) -> RebuiltTree:
    """The tree whose nodes the utterances are, in whatever order they come.

    Texts are compared after folding. Where several utterances are one node, the one with the
    smallest id gives its spelling and key. Branches without an utterance are open.

    Raises a `TreeError`: no root, a history that is too long or contradicts itself, two answers at
    one node, or a node that hangs on nothing.
    """
    found = sorted(utterances, key=_order)
    _refuse_unusable(found)
    groups = _by_folded_history(found)
    _refuse_conflicts(groups)
    _refuse_orphans(groups)
    return RebuiltTree(_assemble(groups), _spellings(found))


def _order(utterance: PlainUtterance) -> tuple[int, str, str, _FoldedPath]:
    history = _folded_history(utterance)
    return len(history), utterance.utterance_id, utterance.answer, history


def _folded_history(utterance: PlainUtterance) -> _FoldedPath:
    return tuple(turn.folded for turn in utterance.history)


def _refuse_unusable(found: list[PlainUtterance]) -> None:
    if not found or found[0].history:
        raise NoRootError(found)
    if too_deep := [one for one in found if len(one.history) > MAX_DEPTH]:
        raise TooDeepError(too_deep)
    if contradicting := [one for one in found if any(contradictions(one.history))]:
        raise ContradictingHistoryError(contradicting)


def _by_folded_history(found: list[PlainUtterance]) -> _Groups:
    groups: _Groups = defaultdict(list)
    for utterance in found:
        groups[_folded_history(utterance)].append(utterance)
    return dict(groups)


def _refuse_conflicts(groups: _Groups) -> None:
    for group in groups.values():
        if len({fold_answer(utterance.answer) for utterance in group}) > 1:
            raise ConflictingAnswersError(group)


def _refuse_orphans(groups: _Groups) -> None:
    for history, group in groups.items():
        if history:
            _refuse_orphan(group, history[-1][0], groups.get(history[:-1]))


def _refuse_orphan(
    group: list[PlainUtterance], question: str, parent: list[PlainUtterance] | None
) -> None:
    if parent is None:
        raise MissingParentError(group)
    asked = fold_answer(parent[0].answer)
    if isinstance(asked, Answer):
        raise BelowFinalAnswerError(group)
    if asked != question:
        raise OtherQuestionError(group)


def _assemble(groups: _Groups) -> Tree:
    built: dict[_FoldedPath, Tree] = {}
    for history in sorted(groups, key=len, reverse=True):  # children first
        built[history] = _node(groups[history][0], history, built)
    return built[()]


def _node(
    utterance: PlainUtterance, history: _FoldedPath, built: dict[_FoldedPath, Tree]
) -> Question | FinalAnswer:
    held = fold_answer(utterance.answer)
    if isinstance(held, Answer):
        return FinalAnswer(held, utterance.utterance_id)
    return Question(
        utterance.answer,
        yes=built.get((*history, (held, Answer.YES)), OpenBranch()),
        no=built.get((*history, (held, Answer.NO)), OpenBranch()),
        key=utterance.utterance_id,
    )


def _spellings(found: list[PlainUtterance]) -> dict[str, frozenset[str]]:
    spellings: dict[str, set[str]] = defaultdict(set)
    for question in _questions(found):
        spellings[fold(question)].add(question)
    return {key: frozenset(texts) for key, texts in sorted(spellings.items()) if len(texts) > 1}


def _questions(found: Iterable[PlainUtterance]) -> Iterator[str]:
    for utterance in found:
        yield from (turn.follow_up_question for turn in utterance.history)
        if not isinstance(fold_answer(utterance.answer), Answer):
            yield utterance.answer
