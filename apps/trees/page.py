"""What the tree page shows, put together from the rows of one tree."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from apps.projects import markdown
from apps.trees.domain.layout import Box, Drawing, Line, draw
from apps.trees.domain.outline import Slot, slots
from apps.trees.domain.reach import leads_through, paths_through
from apps.trees.domain.redundancy import RedundancyReason, highest_redundant
from apps.trees.domain.spans import Span, mark_spans
from apps.trees.domain.tree import OpenBranch, Turn
from apps.trees.models import Node, Tree, build

FOLD_ABOVE = 31
"""A tree with more questions opens folded below its third turn."""

FLAGS = {
    RedundancyReason.ONE_ANSWER: "same answer on both sides",
    RedundancyReason.SAME_BRANCHES: "both sides go on in the same way",
}


@dataclass(frozen=True)
class Place:
    """A slot with all that outline, drawing and panel say about it."""

    slot: Slot
    box: Box
    line: Line | None
    flag: str
    node: Node | None

    @property
    def ends(self) -> range:
        """One step for each nested list that ends here."""
        return range(self.slot.closes)


class TreePage:
    """One tree's rows as places, in the order of the outline; reads the nodes in one query."""

    def __init__(self, tree: Tree) -> None:
        rows = list(tree.nodes.with_provenance())
        live = {str(row.pk): row for row in rows if row.taken_out_at is None}
        shape = build(live.values())
        flags = {str(found.question.key): FLAGS[found.reason] for found in highest_redundant(shape)}
        self.tree = tree
        self.taken_out = [row for row in rows if row.taken_out_at is not None]
        self.drawing: Drawing = draw(
            slots(shape), {name: f"! {flag}" for name, flag in flags.items()}
        )
        lines = {line.slot.name: line for line in self.drawing.lines}
        self.places = [
            Place(
                slot=box.slot,
                box=box,
                line=lines.get(box.slot.name),
                flag=flags.get(box.slot.name, ""),
                node=live.get(box.slot.name),
            )
            for box in self.drawing.boxes
        ]

    @property
    def question_count(self) -> int:
        return sum(1 for place in self.places if place.slot.question)

    @property
    def open_count(self) -> int:
        return sum(1 for place in self.places if isinstance(place.slot.node, OpenBranch))

    @property
    def flag_count(self) -> int:
        return sum(1 for place in self.places if place.flag)

    @property
    def opens_folded(self) -> bool:
        return self.question_count > FOLD_ABOVE

    @property
    def source_url(self) -> str:
        """The address of the source page, when it is one that a browser may be sent to."""
        url = self.tree.question.snippet.document.source_url
        return url if url.startswith(("http://", "https://")) else ""

    def rule_text(self) -> SafeString:
        """The rule text with the sources of the live questions marked."""
        text = self.tree.question.snippet.text
        marked = mark_spans(markdown.render(text), text, self._spans())
        return mark_safe(marked)  # noqa: S308 - sanitised before, and marks escape what they wrap.

    def _spans(self) -> Iterator[Span]:
        for place in self.places:
            node = place.node
            if node and node.span_start is not None and node.span_end is not None:
                yield Span(place.slot.name, node.span_start, node.span_end)

    def place(self, name: str) -> Place:
        """The place of that name; the root when there is none (any more)."""
        return next((place for place in self.places if place.slot.name == name), self.places[0])

    def children(self, place: Place) -> list[Place]:
        return [child for child in self.places if child.slot.parent == place.slot.name]

    def scenarios_through(self, place: Place) -> list[Any]:
        """The tree's scenarios that have facts and lead through the place."""
        paths = paths_through(place.slot.path, place.slot.node)
        scenarios = self.tree.scenarios.prefetch_related("facts").order_by("pk")
        return [one for one in scenarios if leads_through(_turns(one), paths)]


def _turns(scenario: Any) -> list[Turn]:
    # Scenarios belong to an app above this one, so it does not know their class.
    return [fact.turn for fact in scenario.facts.all()]
