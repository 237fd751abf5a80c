"""How the labels are spread over the dataset."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from apps.scenarios.domain.audit.rows import Row

Table = dict[str, Counter[str]]
"""Labels counted by part of the dataset."""


def by_split(rows: Iterable[Row]) -> Table:
    return _counted(rows, lambda row: row.split or "none")


def by_depth(rows: Iterable[Row]) -> Table:
    """By the number of turns in history and evidence."""
    return _counted(rows, lambda row: str(len(row.history) + len(row.evidence)))


def by_position(rows: Iterable[Row]) -> Table:
    """By what a model has before it."""
    return _counted(rows, _position)


def _position(row: Row) -> str:
    told = "with history" if row.history else "no history"
    return f"{told}, {'scenario' if row.scenario else 'no scenario'}"


def _counted(rows: Iterable[Row], part: Callable[[Row], str]) -> Table:
    table: Table = defaultdict(Counter)
    for row in rows:
        table[part(row)][row.label] += 1
    return {name: table[name] for name in sorted(table)}


def majority(rows: Iterable[Row]) -> float | None:
    """The share of the most frequent label; None without rows."""
    labels = Counter(row.label for row in rows)
    total = sum(labels.values())
    return max(labels.values()) / total if total else None


def by_items(sizes: Iterable[tuple[int, int]]) -> dict[str, Counter[str]]:
    """`sizes` are (follow-up questions, list items) of trees: how many trees ask how many
    questions, by the number of items."""
    table: dict[int, Counter[str]] = defaultdict(Counter)
    for asked, items in sorted(sizes):
        table[items][str(asked)] += 1
    return {str(items): table[items] for items in sorted(table)}
