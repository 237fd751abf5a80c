"""What the tree page shows, put together from the rows of one tree."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count, Window
from django.utils.safestring import SafeString, mark_safe

from apps.projects import markdown
from apps.trees.domain.layout import Drawing, draw
from apps.trees.domain.outline import Slot, slots
from apps.trees.domain.reach import leads_through, paths_through
from apps.trees.domain.redundancy import RedundancyReason, highest_redundant
from apps.trees.domain.spans import Span, mark_spans
from apps.trees.domain.tree import Turn
from apps.trees.markup import drawing_parts, outline_items
from apps.trees.models import Node, Tree, build

FOLD_ABOVE = 31
"""A tree with more questions opens folded below its third turn."""

FLAGS = {
    RedundancyReason.ONE_ANSWER: "same answer on both sides",
    RedundancyReason.SAME_BRANCHES: "both sides go on in the same way",
}


@dataclass(frozen=True)
class Place:
    """A slot with what the panel says about it."""

    slot: Slot
    flag: str
    node: Node | None


class TreePage:
    """One tree with the place that the panel shows; reads the nodes in one query.

    `asked` is the name of a slot. When there is no such slot (any more), it is the root.
    """

    def __init__(self, tree: Tree, *, asked: str) -> None:
        rows = list(tree.nodes.with_provenance())
        self._live = {str(row.pk): row for row in rows if row.taken_out_at is None}
        shape = build(self._live.values())
        self._flags = {
            str(found.question.key): FLAGS[found.reason] for found in highest_redundant(shape)
        }
        self._slots = {slot.name: slot for slot in slots(shape)}
        self.tree = tree
        self.taken_out = [row for row in rows if row.taken_out_at is not None]
        root = next(iter(self._slots.values()))
        self.place = self._place(self._slots.get(asked, root))

    def _place(self, slot: Slot) -> Place:
        return Place(slot, self._flags.get(slot.name, ""), self._live.get(slot.name))

    def outline(self) -> SafeString:
        return outline_items(self._slots.values(), self._flags, selected=self.place.slot.name)

    @cached_property
    def drawing(self) -> Drawing:
        notes = {name: f"! {flag}" for name, flag in self._flags.items()}
        return draw(self._slots.values(), notes)

    def drawn(self) -> SafeString:
        return drawing_parts(self.drawing, selected=self.place.slot.name)

    @cached_property
    def question_count(self) -> int:
        return sum(1 for slot in self._slots.values() if slot.question)

    @cached_property
    def open_count(self) -> int:
        return sum(1 for slot in self._slots.values() if slot.is_open)

    @property
    def flag_count(self) -> int:
        return len(self._flags)

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
        for name, node in self._live.items():
            if node.span_start is not None and node.span_end is not None:
                yield Span(name, node.span_start, node.span_end)

    @property
    def children(self) -> list[Place]:
        """What the panel's question leads to."""
        parent = self.place.slot.name
        return [self._place(slot) for slot in self._slots.values() if slot.parent == parent]

    def scenarios(self) -> list[Any]:
        """The tree's scenarios that have facts and lead through the panel's place."""
        paths = paths_through(self.place.slot.path, self.place.slot.node)
        scenarios = self.tree.scenarios.prefetch_related("facts").order_by("pk")
        return [one for one in scenarios if leads_through(_turns(one), paths)]

    def utterances(self, limit: int) -> list[Any]:
        """The first utterances of the panel's node; each says how many there are (`total`)."""
        if self.place.node is None:
            return []
        counted = self.place.node.utterances.annotate(total=Window(Count("pk")))
        return list(counted.order_by("-kind", "utterance_id")[:limit])


def _turns(scenario: Any) -> list[Turn]:
    # Scenarios belong to an app above this one, so it does not know their class.
    return [fact.turn for fact in scenario.facts.all()]
