"""The document on the snippet bench as safe HTML, each snippet bracketed in its margin, and the
rows of the list beside it.

Built here and not in templates: a document can have thousands of blocks and of snippets.
"""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from itertools import groupby
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from apps.snippets.domain.passages import Line, Passage
from apps.snippets.models import Snippet

_STATES = {state.value: state.label for state in Snippet.State}
# Under the page's h1 and the column's h2.
_HIGHEST_HEADING, _LOWEST_HEADING = 3, 6


def document_markup(
    passages: Iterable[Passage], names: Mapping[int, tuple[int, str]]
) -> SafeString:  # fmt: skip
    """`names`: number and state of each snippet by its key."""
    levels: list[int] = []
    return mark_safe("".join(_passage(one, names, levels) for one in passages))  # noqa: S308


def row_markup(
    snippet: Any, *, number: int, excerpt: str, flags: Iterable[str], swap: str = ""
) -> SafeString:
    """A snippet that is not in focus. `swap`: how htmx puts it into the page."""
    key = snippet.pk
    oob = f' hx-swap-oob="{swap}"' if swap else ""
    notes = "".join(f' <span class="row-flag">{escape(flag)}</span>' for flag in flags)
    notes = notes and f' <span class="row-flags">{notes}</span>'
    return mark_safe(  # noqa: S308 - every text in it is escaped.
        f'<li class="bench-row" id="row-{key}" data-snippet="{key}" data-state="{snippet.state}"'
        f'{oob}><a href="?snippet={key}" hx-get="?snippet={key}">'
        f'<span class="row-number">{number}</span> '
        f'<span class="state">{_STATES[snippet.state]}</span>{notes}'
        f'<span class="row-text" dir="auto">{escape(excerpt)}</span></a></li>'
    )


def _passage(
    passage: Passage, names: Mapping[int, tuple[int, str]], levels: list[int]
) -> str:  # fmt: skip
    blocks = "".join(_blocks(passage.lines, levels))
    if passage.snippet is None:
        return f'<div class="passage" dir="auto">{blocks}</div>'
    key, (number, state) = passage.snippet, names[passage.snippet]
    return (
        f'<div class="passage is-snippet" dir="auto" data-of="{key}" data-state="{escape(state)}">'
        f'<a class="passage-mark" href="?snippet={key}" data-goto="{key}"'
        f' aria-label="Snippet {number}">{number}</a>{blocks}</div>'
    )


def _blocks(lines: Iterable[Line], levels: list[int]) -> Iterator[str]:
    for is_item, group in groupby(lines, key=lambda line: line.is_item):
        if is_item:
            items = "".join(_element("li", line) for line in group)
            yield f"<ul>{items}</ul>"
            continue
        for line in group:
            yield _element(_heading(line, levels) if line.heading_level else "p", line)


def _heading(line: Line, levels: list[int]) -> str:
    """Its element; `levels` are those of the headings that it stands under, and become its own."""
    levels[:] = [*(level for level in levels if level < line.heading_level), line.heading_level]
    return f"h{min(_HIGHEST_HEADING + len(levels) - 1, _LOWEST_HEADING)}"


# Blocks have no `dir`: the passage takes its direction, and its bracket's side, from their letters.
def _element(name: str, line: Line) -> str:
    depth = f' class="depth-{line.mark.count("*")}"' if line.mark.count("*") > 1 else ""
    others = " ".join(map(str, line.snippets[1:]))
    shared = f' data-shared="{others}"' if others else ""
    return f"<{name}{depth}{shared}>{escape(line.text)}</{name}>"
