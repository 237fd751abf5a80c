"""The drawing of a tree: where each box and each line goes, in pixels.

The tree grows to the right, one column per turn, the YES branch above the NO branch. Every subtree
has a band of its own, as high as its boxes need, and a question stands in the middle of its two
branches: so nothing overlaps, and the ends of the tree are evenly spaced wherever the questions
above them have room. tree.js moves the same boxes by the same rule when a branch is folded.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from apps.trees.domain.outline import Slot
from apps.trees.domain.wrapping import base_direction, wrap

MARGIN = 16
QUESTION_WIDTH = 212
END_WIDTH = 76
END_HEIGHT = 34
COLUMN_GAP = 66
ROW_GAP = 14
LINE_HEIGHT = 18
TEXT_LEFT = 36
NUMBER_LEFT = 11
TEXT_RIGHT = 16
TEXT_PADDING = 11
MAX_LINES = 7
FIRST_BASELINE = 14


@dataclass(frozen=True)
class TextLine:
    """A line of text; `y` is its base line, within the box."""

    text: str
    y: int


@dataclass(frozen=True)
class Box:
    """A slot in the drawing. `x` and `y` are its upper left corner."""

    slot: Slot
    x: int
    y: int
    width: int
    height: int
    lines: tuple[TextLine, ...]
    direction: str
    note: tuple[TextLine, ...] = ()

    @property
    def text_x(self) -> int:
        """Where its lines start: from the right in a right-to-left script."""
        return self.width - TEXT_LEFT if self.direction == "rtl" else TEXT_LEFT

    @property
    def note_x(self) -> int:
        """Where the note starts; it is English, whatever the question is."""
        return TEXT_LEFT

    @property
    def number_x(self) -> int:
        """Where its number starts, or in a right-to-left script ends: before the lines."""
        return self.width - NUMBER_LEFT if self.direction == "rtl" else NUMBER_LEFT

    @property
    def half_width(self) -> int:
        return self.width // 2

    @property
    def half_height(self) -> int:
        return self.height // 2

    @property
    def middle_y(self) -> int:
        return self.y + self.half_height


@dataclass(frozen=True)
class Line:
    """The line from a question to what one of its answers leads to."""

    slot: Slot
    x1: int
    y1: int
    x2: int
    y2: int

    @property
    def path(self) -> str:
        """SVG path data: out to the right, up or down, and on to the right."""
        turn = self.x1 + COLUMN_GAP // 3
        return f"M{self.x1} {self.y1}H{turn}V{self.y2}H{self.x2}"

    @property
    def label_x(self) -> int:
        """The middle of YES or NO, on the part of the line that belongs to it alone."""
        return (self.x1 + COLUMN_GAP // 3 + self.x2) // 2


@dataclass(frozen=True)
class Drawing:
    width: int
    height: int
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]


def draw(slots: Iterable[Slot], notes: Mapping[str, str]) -> Drawing:
    """The drawing of a tree from all its slots, parents first (`outline.slots`).

    `notes` are remarks on questions, by the slot's name; they stand below the question's text.
    """
    unplaced = [_unplaced(slot, notes.get(slot.name, "")) for slot in slots]
    placed = _placed(unplaced)
    by_name = {box.slot.name: box for box in placed}
    lines = tuple(
        _line(by_name[box.slot.parent], box) for box in placed if box.slot.branch is not None
    )
    return Drawing(
        width=max(box.x + box.width for box in placed) + MARGIN,
        height=max(box.y + box.height for box in placed) + MARGIN,
        boxes=tuple(placed),
        lines=lines,
    )


def _unplaced(slot: Slot, note: str) -> Box:
    x = MARGIN + (slot.level - 1) * (QUESTION_WIDTH + COLUMN_GAP)
    if not slot.question:
        return Box(slot, x, 0, END_WIDTH, END_HEIGHT, (), "ltr")
    text = _text_lines(slot.question, from_line=0)
    remark = _text_lines(note, from_line=max(len(text), 1))
    height = 2 * TEXT_PADDING + max(len(text) + len(remark), 1) * LINE_HEIGHT
    return Box(slot, x, 0, QUESTION_WIDTH, height, text, base_direction(slot.question), remark)


def _text_lines(text: str, *, from_line: int) -> tuple[TextLine, ...]:
    room = QUESTION_WIDTH - TEXT_LEFT - TEXT_RIGHT
    first = TEXT_PADDING + FIRST_BASELINE + from_line * LINE_HEIGHT
    lines = wrap(text, width=room, max_lines=MAX_LINES)
    return tuple(TextLine(line, first + index * LINE_HEIGHT) for index, line in enumerate(lines))


def _placed(boxes: list[Box]) -> list[Box]:
    """The boxes in their bands. A band is as high as the box, or as both branches' bands."""
    children: dict[str, list[Box]] = {}
    for box in boxes:
        children.setdefault(box.slot.parent, []).append(box)
    bands: dict[str, int] = {}
    for box in reversed(boxes):  # children first
        below = [bands[child.slot.name] for child in children.get(box.slot.name, ())]
        bands[box.slot.name] = max(box.height, sum(below) + ROW_GAP * max(len(below) - 1, 0))
    tops = {boxes[0].slot.name: MARGIN}
    for box in boxes:  # parents first
        _place_children(box, children.get(box.slot.name, []), bands, tops)
    middles = _middles(boxes, children, bands, tops)
    return [_moved(box, middles[box.slot.name]) for box in boxes]


def _place_children(
    box: Box, children: list[Box], bands: dict[str, int], tops: dict[str, int]
) -> None:
    """Stacks the bands of the branches in the middle of the question's own band."""
    needed = sum(bands[child.slot.name] for child in children) + ROW_GAP * max(len(children) - 1, 0)
    top = tops[box.slot.name] + (bands[box.slot.name] - needed) // 2
    for child in children:
        tops[child.slot.name] = top
        top += bands[child.slot.name] + ROW_GAP


def _middles(
    boxes: list[Box], children: dict[str, list[Box]], bands: dict[str, int], tops: dict[str, int]
) -> dict[str, int]:
    """Each box's middle: between those of its branches, as far as its band lets it."""
    middles: dict[str, int] = {}
    for box in reversed(boxes):
        name = box.slot.name
        below = [middles[child.slot.name] for child in children.get(name, ())]
        wanted = sum(below) // len(below) if below else tops[name] + bands[name] // 2
        lowest = tops[name] + bands[name] - (box.height - box.height // 2)
        middles[name] = max(tops[name] + box.height // 2, min(wanted, lowest))
    return middles


def _moved(box: Box, middle: int) -> Box:
    return replace(box, y=middle - box.height // 2)


def _line(parent: Box, child: Box) -> Line:
    return Line(child.slot, parent.x + parent.width, parent.middle_y, child.x, child.middle_y)
