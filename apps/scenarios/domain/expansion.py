"""One tree, expanded into the utterances of its nodes.

What a scenario tells is never asked again, and what is in the history is not evidence (Saeidi et
al. 2018, section 3.3 and the official dev set). A branch that is open gives no utterance: no
history ends in a question that nobody has continued.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from apps.trees.domain.tree import (
    Answer,
    Path,
    Question,
    Tree,
    Turn,
    contradictions,
    fold_answer,
    follow,
    next_text,
    nodes,
)

IRRELEVANT = "Irrelevant"


@dataclass(frozen=True)
class Expanded:
    """The part of an utterance that comes from the tree, in the tree's own spelling.

    `answer` is "Yes", "No", a follow-up question, or IRRELEVANT.
    """

    history: Path
    evidence: Path
    answer: str

    @property
    def content(self) -> Hashable:
        return content_of(self.history, self.evidence, self.answer)


def content_of(history: Path, evidence: Path, answer: str) -> Hashable:
    """What two utterances of one tree and scenario share when they are the same, after folding."""
    told = tuple(turn.folded for turn in history)
    return told, frozenset(turn.folded for turn in evidence), fold_answer(answer)


class ExpansionError(Exception):
    """A scenario whose facts give no utterances.

    ExpansionError
      NoFactsError
      ContradictoryFactsError
      FactsNotOnOnePathError

    `reason` is the same for all scenarios that are refused for it; the message names the facts.
    """

    reason: str


class NoFactsError(ExpansionError):
    reason = "no facts"

    def __init__(self) -> None:
        super().__init__("The scenario has no facts, so no node of its tree is ruled out by it.")


class ContradictoryFactsError(ExpansionError):
    """`contradicting` are the facts that answer a question the other way than a fact before."""

    reason = "facts that answer both Yes and No to one question"

    def __init__(self, contradicting: Iterable[Turn]) -> None:
        self.contradicting = tuple(contradicting)
        super().__init__(
            f"The scenario's facts answer both Yes and No to {_named(self.contradicting)}."
        )


class FactsNotOnOnePathError(ExpansionError):
    reason = "facts that are not on one path of its tree"

    def __init__(self, facts: Iterable[Turn]) -> None:
        self.facts = tuple(facts)
        super().__init__(f"No path of the tree has all of the facts {_named(self.facts)}.")


def expand_plain(tree: Tree) -> Iterator[Expanded]:
    """The utterances without a scenario: each node's history, and what comes next there."""
    for path, node in nodes(tree):
        if (answer := next_text(node)) is not None:
            yield Expanded(path, (), answer)


def expand_negative_scenario(tree: Tree) -> Iterator[Expanded]:
    """The utterances with another tree's scenario: it tells nothing here, so nothing changes."""
    return expand_plain(tree)


def expand_negative_question(tree: Tree, place: str) -> Expanded:
    """The one utterance with another tree's question. Its history is the way to `place` (y or n
    for each turn), as far as the tree goes there; usually it has none."""
    path: list[Turn] = []
    node = tree
    for letter in place:
        if not isinstance(node, Question):
            break
        answer = Answer.YES if letter == "y" else Answer.NO
        path.append(node.turn(answer))
        node = node.branch(answer)
    return Expanded(tuple(path), (), IRRELEVANT)


def expand_scenario(tree: Tree, facts: Iterable[Turn]) -> Iterator[Expanded]:
    """The utterances of a scenario in which the user tells `facts`.

    The facts are turns of one path in any order, compared after folding; the path may have other
    turns before and between them. It ends at the last of them. Its nodes and those below its end
    are expanded; all other nodes are unreachable for this user. Where several paths have all of
    the facts, the scenario leaves open which of them the user is on, and each is expanded. (No
    scenario of the official dev set has such facts, so this is our reading.)

    Raises an `ExpansionError` at the call, before the first utterance is drawn: no facts, facts
    that contradict each other, or facts that no path has all of.
    """
    told = tuple(facts)
    known = _known(told)
    ends = list(_ends(tree, frozenset(known.items())))
    if not ends:
        raise FactsNotOnOnePathError(told)
    return _expand_along(tree, ends, known)


def _known(facts: Path) -> dict[str, Answer]:
    """Folded questions and their answers."""
    if not facts:
        raise NoFactsError
    if contradicting := tuple(contradictions(facts)):
        raise ContradictoryFactsError(contradicting)
    return dict(fact.folded for fact in facts)


def _ends(tree: Tree, facts: frozenset[tuple[str, Answer]]) -> Iterator[Path]:
    """The paths that have all of the facts, each ending at the last of them."""
    waiting: list[tuple[Path, Tree, frozenset[tuple[str, Answer]]]] = [((), tree, facts)]
    while waiting:
        path, node, missing = waiting.pop()
        if not missing:
            yield path
        elif isinstance(node, Question):
            for turn in map(node.turn, Answer):
                branch = node.branch(turn.follow_up_answer)
                waiting.append(((*path, turn), branch, missing - {turn.folded}))


def _expand_along(tree: Tree, ends: list[Path], known: Mapping[str, Answer]) -> Iterator[Expanded]:
    for path, node in nodes(tree):
        if any(_is_on_or_below(path, end) for end in ends):
            taken, stop = follow(node, known)
            if (answer := next_text(stop)) is not None:
                yield Expanded(path, _new(taken, path), answer)


def _is_on_or_below(path: Path, end: Path) -> bool:
    shared = min(len(path), len(end))
    return path[:shared] == end[:shared]


def _new(taken: Path, history: Path) -> Path:
    """The turns taken that nobody has told yet: in a tree that repeats itself, not all of them."""
    told = {turn.folded for turn in history}
    new: list[Turn] = []
    for turn in taken:
        if turn.folded not in told:
            told.add(turn.folded)
            new.append(turn)
    return tuple(new)


def _named(turns: Iterable[Turn]) -> str:
    return ", ".join(f"“{turn.follow_up_question}” {turn.follow_up_answer}" for turn in turns)
