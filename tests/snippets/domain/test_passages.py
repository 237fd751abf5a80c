"""A document's lines with the snippets that they are in."""

from apps.snippets.domain.passages import Line, Passage, Place, passages

BODY = (
    "# Grants\n\nNot in any.\n\nYou can apply if:\n\n* you are over 18\n** or married\n"
    "* you live \\# here\n\nOne sentence. Another one."
)


def place(snippet: int, words: str) -> Place:
    return Place(BODY.index(words), BODY.index(words) + len(words), snippet)


def test_every_line_is_there_whether_or_not_a_snippet_has_it():
    assert list(passages("# A\n\nOne.\n\n* two", [])) == [
        Passage(None, (Line("# ", "A", ()), Line("", "One.", ()), Line("* ", "two", ())))
    ]


def test_lines_are_together_by_their_snippet_and_what_is_repeated_is_the_firsts():
    found = list(
        passages(
            BODY,
            [
                place(7, "Grants"), place(7, "You can apply if:"), place(7, "you are over 18"),
                place(9, "Grants"), place(9, "You can apply if:"), place(9, "or married"),
                place(9, "you live \\# here"),
            ],
        )
    )  # fmt: skip
    assert found == [
        Passage(7, (Line("# ", "Grants", (7, 9)),)),
        Passage(None, (Line("", "Not in any.", ()),)),
        Passage(
            7,
            (Line("", "You can apply if:", (7, 9)), Line("* ", "you are over 18", (7,))),
        ),
        Passage(9, (Line("** ", "or married", (9,)), Line("* ", "you live # here", (9,)))),
        Passage(None, (Line("", "One sentence. Another one.", ()),)),
    ]


def test_a_paragraph_is_cut_where_its_snippets_are():
    *_, first, second = passages(BODY, [place(4, "One sentence."), place(5, "Another one.")])
    assert first == Passage(4, (Line("", "One sentence.", (4,)),))
    assert second == Passage(5, (Line("", "Another one.", (5,)),))


def test_lines_say_what_they_are():
    heading, item, paragraph = Line("## ", "A", ()), Line("** ", "B", ()), Line("", "C", ())
    assert [heading.heading_level, item.heading_level, paragraph.heading_level] == [2, 0, 0]
    assert [heading.is_item, item.is_item, paragraph.is_item] == [False, True, False]
