"""The tree as markup, twice: nested lists for screen readers and keys, and a drawing for the eye.

Written here and not in templates, which would take half a second for 255 questions. Whatever
people typed goes through `escape`.
"""

from collections.abc import Iterable, Iterator
from html import escape

from django.utils.safestring import SafeString, mark_safe

from apps.trees.domain.layout import Box, Drawing, Line, TextLine
from apps.trees.domain.outline import Slot, slots
from apps.trees.domain.tree import Tree


def outline_items(slots: Iterable[Slot], flags: dict[str, str], *, selected: str) -> SafeString:
    """The items of the list with role="tree": links, so that each works without scripts.

    `flags` are remarks on questions by the slot's name; `selected` is the slot in the panel.
    """
    parts = (_item(slot, flags.get(slot.name, ""), selected) for slot in slots)
    return mark_safe("\n".join(parts))  # noqa: S308 - every text in it is escaped.


def plain_outline(tree: Tree) -> SafeString:
    """A tree, or a part of one, as nested lists to be read, without links."""
    parts = (_plain_item(slot) for slot in slots(tree))
    items = "\n".join(parts)
    return mark_safe(f'<ul class="outline plain-outline">{items}</ul>')  # noqa: S308 - as above.


def drawing_parts(drawing: Drawing, *, selected: str) -> SafeString:
    """What stands inside <svg>: the lines, then the boxes above them."""
    lines = "".join(_line(line) for line in drawing.lines)
    boxes = "".join(_box(box, selected) for box in drawing.boxes)
    return mark_safe(f"<g>{lines}</g><g>{boxes}</g>")  # noqa: S308 - every text is escaped.


# The outline --------------------------------------------------------------------------------


def _item(slot: Slot, flag: str, selected: str) -> str:
    words = "".join(_item_words(slot, flag, has_toggle=bool(slot.question)))
    link = f"<a {' '.join(_item_attributes(slot, selected))}>{words}</a>"
    if slot.question:
        return f'<li role="none">{link}<ul role="group" id="below-{slot.name}">'
    return f'<li role="none">{link}</li>{"</ul></li>" * slot.closes}'


def _plain_item(slot: Slot) -> str:
    words = "".join(_item_words(slot, "", has_toggle=False))
    if slot.question:
        return f"<li>{words}<ul>"
    return f"<li>{words}</li>{'</ul></li>' * slot.closes}"


def _item_attributes(slot: Slot, selected: str) -> Iterator[str]:
    place = f"?node={slot.name}"
    yield f'role="treeitem" id="slot-{slot.name}" class="outline-item" href="{place}"'
    yield f'data-slot="{slot.name}" data-parent="{slot.parent}"'
    yield f'aria-level="{slot.level}" aria-setsize="{2 if slot.branch else 1}"'
    yield f'aria-posinset="{2 if slot.branch == "No" else 1}"'
    yield f'aria-selected="{"true" if slot.name == selected else "false"}"'
    yield f'hx-get="{place}" hx-target="#node-panel" hx-push-url="true"'
    if slot.is_open:
        yield "data-open"
    if slot.question:
        yield f'aria-expanded="true" aria-owns="below-{slot.name}"'


def _item_words(slot: Slot, flag: str, *, has_toggle: bool) -> Iterator[str]:
    if has_toggle:
        yield '<span class="outline-toggle" aria-hidden="true"></span>'
    if slot.branch:
        yield f'<span class="branch {slot.branch.lower()}">{slot.branch.upper()}</span> '
    if slot.question:
        number = f'<span class="quiet">({slot.number})</span>'
        yield f'<span class="outline-text">{number} <bdi>{escape(slot.question)}</bdi></span>'
    elif slot.is_open:
        yield '<em class="open-end">open</em>'
    else:
        yield f'<strong class="end {slot.answer.lower()}">= {slot.answer}</strong>'
    if flag:
        yield f' <span class="flag">! {escape(flag)}</span>'


# The drawing --------------------------------------------------------------------------------


def _line(line: Line) -> str:
    word = line.slot.branch or ""
    return (
        f'<g class="line {word.lower()}" data-line="{line.slot.name}">'
        f'<path d="{line.path}" fill="none"/>'
        f'<text x="{line.label_x}" y="{line.y2 + 4}" text-anchor="middle">{word.upper()}</text></g>'
    )


def _box(box: Box, selected: str) -> str:
    slot = box.slot
    look = "question" if slot.question else "open" if slot.is_open else slot.answer.lower()
    states = " flagged" * bool(box.note) + " is-selected" * (slot.name == selected)
    rounding = 8 if slot.question else box.half_height if slot.answer == "Yes" else 2
    inside = _question(box) if slot.question else _end(box)
    return (
        f'<a class="box {look}{states}" href="?node={slot.name}" data-box="{slot.name}"'
        f' tabindex="-1" transform="translate({box.x} {box.y})">'
        f'<rect width="{box.width}" height="{box.height}" rx="{rounding}"/>{inside}</a>'
    )


def _end(box: Box) -> str:
    word = "open" if box.slot.is_open else f"= {box.slot.answer}"
    return f'<text x="{box.half_width}" y="22" text-anchor="middle">{word}</text>'


def _question(box: Box) -> str:
    anchor = ' text-anchor="end"' if box.direction == "rtl" else ""
    return (
        f'<text class="box-number" x="{box.number_x}" y="25"{anchor}>{box.slot.number}</text>'
        f'<text direction="{box.direction}">{_lines(box.lines, box.text_x)}</text>'
        f'<text class="box-note">{_lines(box.note, box.note_x)}</text>'
        f'<g class="fold" data-fold="{box.slot.name}"'
        f' transform="translate({box.width} {box.half_height})">'
        '<circle r="9"/><path d="M-4 0H4" fill="none"/>'
        '<path class="fold-plus" d="M0 -4V4" fill="none"/>'
        '<text class="fold-count" x="16" y="5"></text></g>'
    )


def _lines(lines: Iterable[TextLine], x: int) -> str:
    return "".join(f'<tspan x="{x}" y="{line.y}">{escape(line.text)}</tspan>' for line in lines)
