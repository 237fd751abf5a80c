"""What the tree page shows, put together from the rows of one tree."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count, Window
from django.utils.safestring import SafeString, mark_safe

from apps.projects import markdown
from apps.trees.domain.changes import fingerprint, with_final_answer
from apps.trees.domain.layout import Drawing, draw
from apps.trees.domain.logic.classes import Logic, logic
from apps.trees.domain.outline import Slot, slots
from apps.trees.domain.places import slot_name
from apps.trees.domain.reach import leads_through, paths_through
from apps.trees.domain.spans import Span, mark_spans
from apps.trees.domain.tree import Answer, Turn
from apps.trees.markup import drawing_parts, outline_items, plain_outline
from apps.trees.models import Cut, Flag, Node, Tree, build
from apps.trees.services.derived import flags_of
from apps.workers.models import Assignment, Kind

FOLD_ABOVE = 31
"""A tree with more questions opens folded below its third turn."""

FLAGS = {kind: kind.label[0].lower() + kind.label[1:] for kind in Flag.Kind}


@dataclass(frozen=True)
class Place:
    """A slot with what the panel says about it."""

    slot: Slot
    flag: str
    node: Node | None


@dataclass(frozen=True)
class CutPart:
    """What was taken out together. `can_return`: its branch is open now."""

    cut: Cut
    count: int
    outline: SafeString
    where: Slot | None
    can_return: bool


@dataclass(frozen=True)
class FlagChange:
    """What a change would do to the flags: the question, and what is found about it."""

    question: str
    flag: str


class TreePage:
    """One tree with the place that the panel shows; reads the nodes in one query.

    `asked` is the name of a slot. When there is no such slot (any more), it is the root.
    """

    def __init__(self, tree: Tree, *, asked: str) -> None:
        rows = list(tree.nodes.with_provenance())
        self._live = {str(row.pk): row for row in rows if row.taken_out_at is None}
        self._shape = build(self._live.values())
        self._standing = list(tree.flags.standing().select_related("settled_by", "other"))
        self._flags = _remarks(self._standing, self._live.values())
        self._slots = {slot.name: slot for slot in slots(self._shape)}
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
        return sum(flag.state == Flag.State.OPEN for flag in self._standing)

    @property
    def first_flag(self) -> int:
        """The first one that waits for an expert, for a link to it."""
        return next(flag.pk for flag in self._standing if flag.state == Flag.State.OPEN)

    @property
    def opens_folded(self) -> bool:
        return self.question_count > FOLD_ABOVE

    @cached_property
    def logic(self) -> Logic | None:
        """What the tree says as a rule, once it is finished."""
        return None if self.open_count else logic(self._shape)

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

    # The panel --------------------------------------------------------------------------------

    @property
    def children(self) -> list[Place]:
        """What the panel's question leads to."""
        parent = self.place.slot.name
        return [self._place(slot) for slot in self._slots.values() if slot.parent == parent]

    def scenarios(self) -> list[Any]:
        """The tree's scenarios that have facts and lead through the panel's place; those that were
        sent back are none of it any more."""
        paths = paths_through(self.place.slot.path, self.place.slot.node)
        scenarios = self.tree.scenarios.kept().prefetch_related("facts").order_by("pk")
        return [one for one in scenarios if leads_through(_turns(one), paths)]

    def utterances(self, limit: int) -> list[Any]:
        """The first utterances of the panel's node that belong to the dataset; each says how many
        there are (`total`)."""
        if self.place.node is None:
            return []
        counted = self.place.node.utterances.in_force().annotate(total=Window(Count("pk")))
        return list(counted.order_by("-kind", "utterance_id")[:limit])

    def wordings(self) -> list[Any]:
        """How the panel's question was worded before, newest first."""
        node = self.place.node
        if node is None or not node.text:
            return []
        return list(node.wordings.select_related("replaced_by"))

    def comments(self) -> list[Any]:
        """All of the tree's, oldest first."""
        return list(self.tree.comments.select_related("author", "node"))

    def flags_here(self) -> list[Flag]:
        """Those of the panel's question, the kept ones too."""
        node = self.place.node
        return [flag for flag in self._standing if node and flag.node_id == node.pk]

    @property
    def was_taken_out(self) -> bool:
        """Whether something stood on the panel's branch that is out now."""
        name = self.place.slot.name
        return any(slot_name(row.parent_id, row.branch) == name for row in self.taken_out)

    def lease(self) -> Assignment | None:
        """Whoever goes on at the panel's open branch just now."""
        if not self.place.slot.is_open:
            return None
        leases = Assignment.objects.leased().of_work(Kind.PATH, self.tree.pk)
        return leases.filter(part=self.place.slot.name).select_related("worker").first()

    @property
    def seen(self) -> str:
        """The fingerprint of the panel's node and all below it."""
        place = self.place.node.place if self.place.node else ""
        below = (row for row in self._live.values() if row.place.startswith(place))
        return fingerprint((row.pk, str(row)) for row in below)

    @property
    def count_below(self) -> int:
        """The nodes that go when the panel's node is taken out."""
        place = self.place.node.place if self.place.node else ""
        return sum(1 for row in self._live.values() if row.place.startswith(place))

    @property
    def other_answer(self) -> str:
        """What the panel's final answer is not."""
        return Answer.NO if self.place.slot.answer == Answer.YES else Answer.YES

    def what_if(self) -> dict[str, Any]:
        """What the other final answer would do to flags and logic, said before it is given."""
        node = self.place.node
        if node is None or not node.answer:
            return {}
        changed = with_final_answer(self._shape, node.pk, Answer(self.other_answer))
        before, after = (set(flags_of(shape)) for shape in (self._shape, changed))
        finished = not self.open_count
        return {
            "gone": self._changes(before - after),
            "raised": self._changes(after - before) if finished else [],
            "logic": logic(changed) if finished else None,
        }

    def _changes(self, found: set[Any]) -> list[FlagChange]:
        in_order = sorted(found, key=lambda one: (self._live[str(one.node)].place, one.kind))
        return [FlagChange(str(self._live[str(one.node)]), FLAGS[one.kind]) for one in in_order]

    # What was taken out -------------------------------------------------------------------------

    def cuts(self) -> list[CutPart]:
        """Newest first. One more query."""
        by_cut: dict[int | None, list[Node]] = {}
        for row in self.taken_out:
            by_cut.setdefault(row.cut_id, []).append(row)
        cuts = self.tree.cuts.in_force().select_related("by").order_by("-pk")
        return [self._cut_part(cut, by_cut[cut.pk]) for cut in cuts if cut.pk in by_cut]

    def _cut_part(self, cut: Cut, rows: list[Node]) -> CutPart:
        top = min(rows, key=lambda row: len(row.place))
        shape = build(rows, top=top.pk)
        parent = self._live.get(str(cut.parent_id)) if cut.parent_id else None
        hangs = parent is not None or cut.parent_id is None
        taken = {(row.parent_id, row.branch) for row in self._live.values()}
        return CutPart(
            cut, len(rows), plain_outline(shape), self._slots.get(str(cut.parent_id)),
            hangs and (cut.parent_id, cut.branch) not in taken,
        )  # fmt: skip


def _remarks(flags: list[Flag], nodes: Any) -> dict[str, str]:
    """What is said beside a question, by the name of its slot."""
    remarks: dict[str, list[str]] = {}
    for flag in flags:
        if flag.state == Flag.State.OPEN:
            remarks.setdefault(str(flag.node_id), []).append(FLAGS[Flag.Kind(flag.kind)])
    for node in nodes:
        if node.disputed_at is not None:
            remarks.setdefault(str(node.pk), []).append("in dispute")
    return {name: "; ".join(said) for name, said in remarks.items()}


def _turns(scenario: Any) -> list[Turn]:
    # Scenarios belong to an app above this one, so it does not know their class.
    return [fact.turn for fact in scenario.facts.all()]
