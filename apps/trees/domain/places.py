"""Where a node stands in its tree, in two spellings.

A *place* is the way from the root: "y" or "n" for each turn, "" for the root. It never changes.
A *slot name* says which branch somebody continues: the key of the question above it and the
answer ("12-yes"), or "root" where nobody has begun.
"""

from apps.trees.domain.tree import Answer

OPEN_ROOT = "root"


def place_below(place: str, branch: str) -> str:
    """The place of what hangs under a question on the branch "yes" or "no"."""
    return place + branch[0]


def answers_on(place: str) -> list[Answer]:
    """The answers on the way from the root to the place."""
    return [Answer.YES if letter == "y" else Answer.NO for letter in place]


def slot_name(parent: object, branch: str) -> str:
    """The name of the branch under the question with this key; "root" without one."""
    return OPEN_ROOT if parent is None else f"{parent}-{branch}"


def parse_slot(name: str) -> tuple[int | None, str]:
    """The key of the question above, and the branch; (None, "") for the root."""
    if name == OPEN_ROOT:
        return None, ""
    key, _, branch = name.partition("-")
    return int(key), branch
