"""Rows of tables as list items."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from apps.snippets.domain.words import has_words


@dataclass(frozen=True, slots=True)
class Cell:
    """`columns` and `rows`: how many it spans."""

    text: str
    is_head: bool = False
    columns: int = 1
    rows: int = 1


Row = list[tuple[int, Cell]]
"""Cells, each with the column that it begins in."""


def row_texts(rows: Sequence[Sequence[Cell]]) -> list[str]:
    """A text for each row, its cells with the labels of their columns: "Age: 5 to 6 | Year: 1".

    So a row is clear without those above. The labels are the first row, if it has only heads, with
    the one below when it spans columns. Cells without a word are left out, and so are rows of them.
    """
    placed = list(_placed(rows))
    heads = _heads(placed)
    labels: dict[int, str] = {}
    for column, cell in (pair for row in heads for pair in row):
        for spanned in range(column, column + cell.columns):
            labels[spanned] = f"{labels.get(spanned, '')} {cell.text}".strip()
    return [text for row in placed[len(heads) :] if (text := _row_text(row, labels))]


def _heads(rows: Sequence[Row]) -> Sequence[Row]:
    heads = list(takewhile(_is_head, rows))
    if len(heads) == len(rows):  # Nothing is left to label.
        return []
    spanning = takewhile(lambda row: any(cell.columns > 1 for _, cell in row), heads)
    return heads[: len(list(spanning)) + 1]


def _placed(rows: Sequence[Sequence[Cell]]) -> Iterator[Row]:
    """Each cell in its column: cells of rows above may reach down and push it to the right."""
    taken: dict[int, int] = {}  # by column, the number of rows that a cell above still covers
    for cells in rows:
        row: Row = []
        reaching: dict[int, int] = {}
        column = 0
        for cell in cells:
            while column in taken:
                column += 1
            row.append((column, cell))
            spanned = range(column, column + cell.columns)
            reaching |= dict.fromkeys(spanned, cell.rows - 1)
            column += cell.columns
        left = {column: rows - 1 for column, rows in taken.items()}
        taken = {column: rows for column, rows in (left | reaching).items() if rows > 0}
        yield row


def _is_head(row: Row) -> bool:
    return len(row) > 1 and all(cell.is_head or not has_words(cell.text) for _, cell in row)


def _row_text(row: Row, labels: dict[int, str]) -> str:
    return " | ".join(
        _labelled(labels.get(column, "") if cell.columns == 1 else "", cell.text)
        for column, cell in row
        if has_words(cell.text)
    )


def _labelled(label: str, text: str) -> str:
    return f"{label.rstrip(':').rstrip()}: {text}" if has_words(label) else text
