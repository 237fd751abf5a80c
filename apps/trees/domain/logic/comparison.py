"""Two finished trees compared by what they answer, not by their shape.

Asking in another order is agreement, and so is a question more, as long as nothing hangs on it.
"""

from apps.trees.domain.logic.choices import Choices, Difference, choices, differences, restricted
from apps.trees.domain.tree import Answer, Path, Tree


def difference(one: Tree, other: Tree) -> Difference | None:
    """What two trees differ on, in as few turns as were found; None if they never differ.

    After these turns both final answers are certain, whatever else is answered, and none of the
    turns can be left out. Raises `UnfinishedTreeError` when a branch is open.
    """
    left, right = choices(one), choices(other)
    shortest = min(differences(left, right), key=lambda found: len(found.turns), default=None)
    return shortest and _as_short_as_possible(left, right, shortest)


def _as_short_as_possible(one: Choices, other: Choices, found: Difference) -> Difference:
    for turn in reversed(found.turns):
        fewer = tuple(kept for kept in found.turns if kept is not turn)
        found = _difference_after(fewer, one, other) or found
    return found


def _difference_after(turns: Path, one: Choices, other: Choices) -> Difference | None:
    """None where the turns leave one of the outcomes open, or both are the same."""
    known = {turn.folded[0]: turn for turn in turns}
    left, right = restricted(one, known), restricted(other, known)
    if isinstance(left, Answer) and isinstance(right, Answer) and left is not right:
        return Difference(turns, left, right)
    return None
