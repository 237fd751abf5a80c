import pytest

from apps.snippets.domain.tables import Cell, row_texts

pytestmark = pytest.mark.once  # no database


def head(text: str, columns: int = 1) -> Cell:
    return Cell(text, is_head=True, columns=columns)


def row(*texts: str) -> list[Cell]:
    return [Cell(text) for text in texts]


@pytest.mark.parametrize(
    ("rows", "texts"),
    [
        ([], []),
        ([row("a", "", "b"), row("", "…")], ["a | b"]),
        ([[head("Age:"), head("Fee")], row("5", "free")], ["Age: 5 | Fee: free"]),
        ([[head("Age"), head("")], row("5", "free", "more")], ["Age: 5 | free | more"]),
        ([[head("a"), head("b")], [head("c"), head("d")]], ["a | b", "c | d"]),
        (
            [[head("a"), head("b")], [head("c"), head("d")], row("1", "2")],
            ["a: c | b: d", "a: 1 | b: 2"],
        ),
        ([[head("Only"), Cell("one")], [head("Two"), Cell("two")]], ["Only | one", "Two | two"]),
        (
            [
                [head(""), head("Plan", 2)],
                [head("What"), head("2017"), head("2018")],
                row("Fee", "1", "2"),
            ],
            ["What: Fee | Plan 2017: 1 | Plan 2018: 2"],
        ),
        (
            [[head("Title", 2)], [head("Age"), head("Fee")], row("5", "1")],
            ["Title", "Age | Fee", "5 | 1"],
        ),
        (
            [[head("Age"), head("Fee")], [Cell("All ages", columns=2)], row("5", "1")],
            ["All ages", "Age: 5 | Fee: 1"],
        ),
        (
            [[head("Age"), head("Fee")], [Cell("5", rows=2), Cell("1")], row("2"), row("6", "3")],
            ["Age: 5 | Fee: 1", "Fee: 2", "Age: 6 | Fee: 3"],
        ),
    ],
)
def test_rows(rows: list[list[Cell]], texts: list[str]) -> None:
    assert row_texts(rows) == texts
