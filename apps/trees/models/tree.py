"""Trees and their nodes. The database itself keeps them trees (see migrations 0002 and 0004)."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from django.db import models
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Length
from django.urls import reverse

from apps.accounts.models import User
from apps.projects.models import Project
from apps.snippets.models import Question
from apps.trees.domain import tree as domain
from apps.trees.domain.logic.classes import LogicClass
from apps.trees.domain.places import place_below
from apps.trees.domain.simulated_user import SEED_BYTES
from apps.workers.models import Provenance

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

ANSWERS = [(answer.value, answer.value) for answer in domain.Answer]


class TreeQuerySet(models.QuerySet["Tree"]):
    def visible_to(self, user: User | AnonymousUser) -> TreeQuerySet:
        """Trees that the user may read as expert or admin; workers see only their own work."""
        return self.filter(project__in=Project.objects.readable_by(user))

    def with_source(self) -> TreeQuerySet:
        """Each with its question, snippet and document, in the same query."""
        return self.select_related("question__snippet__document", "project")

    def with_live_nodes(self) -> TreeQuerySet:
        """Each with only its live nodes as `nodes.all()`, for `build`; one more query for all."""
        return self.prefetch_related(models.Prefetch("nodes", Node.objects.live()))

    def with_counts(self) -> TreeQuerySet:
        """Each with `question_count` (live follow-up questions), `utterance_count` and
        `flag_count` (questions that wait for an expert)."""
        is_asked = Q(nodes__kind=Node.Kind.QUESTION, nodes__taken_out_at__isnull=True)
        return self.annotate(
            question_count=_count_of_tree(Count("nodes", filter=is_asked)),
            utterance_count=_count_of_tree(Count("utterances")),
            flag_count=_count_of_tree(Count("flags", filter=Q(flags__state="open"))),
        )

    def growing(self) -> TreeQuerySet:
        return self.filter(state=Tree.State.GROWING)

    def finished(self) -> TreeQuerySet:
        return self.filter(state=Tree.State.FINISHED)

    def in_split(self, split: str) -> TreeQuerySet:
        return self.filter(question__snippet__document__split=split)

    def saying(self, text: str) -> TreeQuerySet:
        """Trees that have the text in rule text, question or a live follow-up question."""
        asking = Node.objects.live().filter(text__icontains=text)
        return self.filter(
            Q(question__snippet__text__icontains=text)
            | Q(question__text__icontains=text)
            | Q(pk__in=asking.values("tree"))
        )

    def flagged(self, *kinds: str) -> TreeQuerySet:
        """Trees with a question that waits for an expert; for one of these reasons, if any."""
        fields: dict[str, Any] = {"flags__kind__in": kinds} if kinds else {}
        flagged = Tree.objects.order_by().filter(flags__state="open", **fields)
        return self.filter(pk__in=flagged.values("pk"))

    def disputed(self) -> TreeQuerySet:
        """Trees with a turn that somebody rejected, and that more have to look at."""
        nodes = Node.objects.live().filter(disputed_at__isnull=False)
        return self.filter(pk__in=nodes.values("tree"))


def _count_of_tree(count: Count) -> Subquery:
    """The count for each row of a page alone: joined in, it would be for the whole list."""
    same_tree = Tree.objects.filter(pk=OuterRef("pk")).order_by()
    return Subquery(same_tree.annotate(number=count).values("number"))


def draw_seed() -> str:
    return secrets.token_hex(SEED_BYTES)


class Tree(Provenance):
    """A snippet, its question and the binary tree of follow-up questions."""

    class State(models.TextChoices):
        GROWING = "growing", "Growing"  # at least one branch is open
        FINISHED = "finished", "Finished"  # every leaf is a final answer

    project = models.ForeignKey(Project, models.CASCADE, related_name="trees")
    tree_id = models.CharField(max_length=40)
    question = models.OneToOneField(Question, models.CASCADE, related_name="tree")
    state = models.CharField(max_length=10, choices=State.choices, default=State.GROWING)
    # Frozen when the tree starts: a changed setting moves no running tree.
    max_depth = models.PositiveSmallIntegerField()
    spans_required = models.BooleanField(default=False)
    rejection_votes = models.PositiveSmallIntegerField(default=1)
    rejection_voters = models.PositiveSmallIntegerField(default=1)
    # Of the simulated user. Never leaves the server: who knows it knows every answer.
    seed = models.CharField(max_length=32, default=draw_seed)
    logic_class = models.CharField(
        max_length=20, blank=True, help_text="Of a finished tree, as a truth function."
    )
    near_looked_at = models.DateTimeField(
        null=True, help_text="When its finished nodes were searched for near questions."
    )

    TRANSITIONS: ClassVar = {
        State.GROWING: {State.FINISHED},  # the last open branch was closed
        State.FINISHED: {State.GROWING},  # something was taken out
    }

    objects = TreeQuerySet.as_manager()

    class Meta(Provenance.Meta):
        ordering = ["pk"]
        constraints = [
            *Provenance.Meta.constraints,
            models.UniqueConstraint(fields=["project", "tree_id"], name="tree_id_once"),
            models.CheckConstraint(
                condition=Q(tree_id__regex=r"^[0-9a-f]{40}$"), name="tree_id_is_sha1"
            ),
        ]
        indexes = [
            models.Index(fields=["project", "state"], name="tree_by_state"),
            models.Index(fields=["project", "logic_class"], name="tree_by_logic_class"),
            models.Index(
                fields=["id"],
                condition=Q(state="finished", near_looked_at__isnull=True),
                name="tree_not_looked_at",
            ),
        ]

    def __str__(self) -> str:
        return self.tree_id[:8]

    def get_absolute_url(self) -> str:
        return reverse("trees:detail", args=[self.project.slug, self.tree_id])

    @property
    def logic_in_words(self) -> str:
        """What kind of rule it is; "" while it grows."""
        return LogicClass[self.logic_class.upper()].value if self.logic_class else ""

    def to_domain(self) -> domain.Tree:
        """The live nodes as a decision tree; each node's key is its primary key. One query."""
        return build(self.nodes.live())


class CutQuerySet(models.QuerySet["Cut"]):
    def in_force(self) -> CutQuerySet:
        return self.filter(restored_at__isnull=True)


class Cut(models.Model):
    """A node and all below it, taken out together. Nothing is deleted: a cut can be undone."""

    class Kind(models.TextChoices):
        REJECTED = "rejected", "Rejected"  # by workers, or by an expert
        PRUNED = "pruned", "Pruned"  # redundant; the branch is annotated anew
        SETTLED = "settled", "Settled"  # redundant; an expert gave the final answer instead

    tree = models.ForeignKey(Tree, models.CASCADE, related_name="cuts")
    # Where it hung; no parent: it was the root.
    parent = models.ForeignKey("Node", models.CASCADE, null=True, related_name="+")
    branch = models.CharField(max_length=3, blank=True)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    reason = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField()
    by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    restored_at = models.DateTimeField(null=True)
    restored_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")

    objects = CutQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.kind} in {self.tree}"


class NodeQuerySet(models.QuerySet["Node"]):
    def live(self) -> NodeQuerySet:
        return self.filter(taken_out_at__isnull=True)

    def questions(self) -> NodeQuerySet:
        return self.filter(kind=Node.Kind.QUESTION)

    def on_path_to(self, place: str) -> NodeQuerySet:
        """The nodes from the root to this place, that one included; in this order."""
        return self.filter(place__in=[place[:end] for end in range(len(place) + 1)]).order_by(
            Length("place")
        )

    def below(self, place: str) -> NodeQuerySet:
        """The nodes at this place and under it."""
        return self.filter(place__startswith=place)

    def with_provenance(self) -> NodeQuerySet:
        """Each with who made it, by which assignment or import, and who took it out."""
        return self.select_related("created_by", "assignment", "job", "cut__by")


class Node(Provenance):
    """A follow-up question, or a final answer at a leaf. Taken-out nodes are kept."""

    class Kind(models.TextChoices):
        QUESTION = "question", "Follow-up question"  # has a YES and a NO branch
        ANSWER = "answer", "Final answer"  # a leaf

    class Branch(models.TextChoices):
        ROOT = "", "Root"  # hangs on no question
        YES = "yes", "Yes"  # where the follow-up question is answered Yes
        NO = "no", "No"  # where it is answered No

    tree = models.ForeignKey(Tree, models.CASCADE, related_name="nodes")
    parent = models.ForeignKey("self", models.CASCADE, null=True, related_name="children")
    branch = models.CharField(max_length=3, choices=Branch.choices, blank=True)
    place = models.CharField(
        max_length=200, blank=True, help_text="The way from the root: y or n for each turn."
    )
    kind = models.CharField(max_length=10, choices=Kind.choices)
    text = models.TextField(blank=True, help_text="The follow-up question.")
    answer = models.CharField(max_length=3, choices=ANSWERS, blank=True)
    span_start = models.PositiveIntegerField(
        null=True, help_text="Where its source begins in the rule text, in code points."
    )
    span_end = models.PositiveIntegerField(null=True, help_text="One past the end.")
    taken_out_at = models.DateTimeField(null=True)
    cut = models.ForeignKey(Cut, models.PROTECT, null=True, related_name="nodes")
    disputed_at = models.DateTimeField(
        null=True, help_text="Somebody rejected it, and more have to look before that counts."
    )

    objects = NodeQuerySet.as_manager()

    class Meta(Provenance.Meta):
        constraints = [
            *Provenance.Meta.constraints,
            models.UniqueConstraint(
                fields=["parent", "branch"],
                condition=Q(taken_out_at__isnull=True),
                name="node_one_live_per_branch",
            ),
            models.UniqueConstraint(
                fields=["tree"],
                condition=Q(parent__isnull=True, taken_out_at__isnull=True),
                name="node_one_live_root",
            ),
            models.CheckConstraint(
                condition=Q(parent__isnull=True, branch="")
                | Q(parent__isnull=False, branch__in=["yes", "no"]),
                name="node_branch_fits_parent",
            ),
            models.CheckConstraint(
                condition=(Q(kind="question", answer="") & ~Q(text__in=["", "Yes", "No"]))
                | Q(kind="answer", text="", answer__in=["Yes", "No"]),
                name="node_question_or_answer",
            ),
            models.CheckConstraint(
                condition=Q(span_start__isnull=True, span_end__isnull=True)
                | Q(
                    span_start__isnull=False,
                    span_end__isnull=False,
                    span_end__gt=models.F("span_start"),
                ),
                name="node_span_has_both_ends",
            ),
        ]
        indexes = [
            models.Index(fields=["tree", "created_by"], name="node_by_author"),
            models.Index(
                fields=["tree"], condition=Q(disputed_at__isnull=False), name="node_disputed"
            ),
            # For the look at all open branches, when nothing is open for somebody.
            models.Index(
                fields=["tree", "id", "place"],
                condition=Q(kind="question", taken_out_at__isnull=True),
                name="node_live_question",
            ),
        ]

    @classmethod
    def at(cls, tree: Tree, parent: Node | None, branch: str, **fields: Any) -> Node:
        """A new node on the branch under `parent`, or the root; not saved."""
        place = place_below(parent.place, branch) if parent else ""
        return cls(tree=tree, parent=parent, branch=branch, place=place, **fields)

    def __str__(self) -> str:
        return self.text or self.answer


def build(nodes: Iterable[Node], *, top: int | None = None) -> domain.Tree:
    """The nodes of one tree, all live, as a decision tree; a missing child is an open branch.

    `top` is the key of the node to begin with, if not with the root.
    """
    rows = list(nodes)
    children = {(row.parent_id, row.branch): row for row in rows}
    built: dict[int, domain.Tree] = {}

    def below(row: Node, branch: Node.Branch) -> domain.Tree:
        child = children.get((row.pk, branch))
        return domain.OpenBranch() if child is None else built[child.pk]

    for row in _children_first(rows):
        if row.kind == Node.Kind.ANSWER:
            built[row.pk] = domain.FinalAnswer(domain.Answer(row.answer), key=row.pk)
        else:
            yes, no = below(row, Node.Branch.YES), below(row, Node.Branch.NO)
            built[row.pk] = domain.Question(row.text, yes, no, key=row.pk)
    if top is not None:
        return built[top]
    root = children.get((None, Node.Branch.ROOT))
    return domain.OpenBranch() if root is None else built[root.pk]


def _children_first(rows: list[Node]) -> list[Node]:
    parents = {row.pk: row.parent_id for row in rows}

    def level(row: Node) -> int:
        steps, parent = 0, row.parent_id
        while parent is not None:
            steps, parent = steps + 1, parents.get(parent)
        return steps

    return sorted(rows, key=level, reverse=True)
