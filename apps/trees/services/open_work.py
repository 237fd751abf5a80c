"""Open work on trees. It is derived from their state each time somebody asks, and never stored.

A branch is open when its tree grows and nobody has continued it. For one worker, it is left out
where they wrote anything above it or the first question, had it or gave it back before, wrote what
was taken out there, or where a turn above it is in dispute.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from apps.accounts.models import User
from apps.projects.models import Project
from apps.snippets.models import Question
from apps.trees.domain.identifiers import tree_id
from apps.trees.domain.places import OPEN_ROOT, parse_slot, slot_name
from apps.trees.models import Cut, Node, NodeCheck, Tree
from apps.trees.services.open_branches import (
    OpenBranch,
    branches_under,
    open_branches,
    reopened_branches,
)
from apps.workers.models import Assignment, AssignmentQuerySet, Kind
from apps.workers.services.leases import Work

State = Assignment.State
CHUNK = 50
"""Rows looked at in one go for a free slot: more than people who ask at the same moment."""


@dataclass(frozen=True)
class PathWork(Work):
    """A branch to be continued: `work_id` is the tree, `part` the name of the slot."""

    def is_open(self) -> bool:
        """Locks the tree, so that nothing above the branch is taken out meanwhile."""
        tree = lock_tree(self.work_id)
        return is_branch_open(tree, self.part) and self.round == _rounds_so_far(self)


@dataclass(frozen=True)
class NodeCheckWork(Work):
    """A turn in dispute: `work_id` is the node."""

    def is_open(self) -> bool:
        node = Node.objects.filter(pk=self.work_id).first()
        if node is None:
            return False
        lock_tree(node.tree_id)
        disputed = Node.objects.live().filter(pk=node.pk, disputed_at__isnull=False)
        return self.round in with_check_round(disputed).values_list("round", flat=True)


@dataclass(frozen=True)
class NewTreeWork(Work):
    """A first question whose tree begins when somebody takes it."""

    project: int = 0
    question: int = 0

    def for_certain(self) -> PathWork | None:
        """The root of the new tree, where the project may have one more that grows."""
        # Whoever starts a tree does so one after the other, or they could start too many.
        project = Project.objects.select_for_update(no_key=True).filter(pk=self.project).first()
        if project is None:  # deleted meanwhile
            return None
        question = waiting_questions(project).filter(pk=self.question).first()
        if question is None or not has_room(project) or has_twin(question, project=project):
            return None
        return PathWork(Kind.PATH, start_tree(question, project=project).pk, OPEN_ROOT)


def lock_tree(key: int) -> Tree:
    """The tree, locked: whoever changes its nodes does so one after the other."""
    # NO KEY: rows that point to the tree can be added meanwhile.
    return Tree.objects.select_for_update(no_key=True).get(pk=key)


def is_branch_open(tree: Tree, slot: str) -> bool:
    """Whether the slot hangs under a live question (or is the root) and nothing stands there."""
    parent, branch = parse_slot(slot)
    live = tree.nodes.live()
    if live.filter(parent=parent, branch=branch).exists():
        return False
    return parent is None or live.questions().filter(pk=parent).exists()


def _rounds_so_far(work: Work) -> int:
    """How often the branch was submitted before; after each time that it was opened again."""
    same = Assignment.objects.of_work(work.kind, work.work_id).filter(part=work.part)
    return same.filter(state=State.SUBMITTED).count()


# Sources of work, in the order of design 4.9 --------------------------------------------------


def reannotations(project: Project, *, worker: User) -> Iterator[Work]:
    """Branches that were open once before: something that stood there was taken out."""
    cuts = Cut.objects.in_force().filter(tree__project=project, tree__state=Tree.State.GROWING)
    if not cuts.exists():  # mostly so
        return
    yield from map(_path_work, reopened_branches(project, worker=worker))
    of_roots = cuts.filter(parent=None)
    yield from _roots(_open_roots(project, worker).filter(pk__in=of_roots.values("tree")))


def started_branches(project: Project, *, worker: User) -> Iterator[Work]:
    """The other open branches of trees that have been started, the oldest trees first."""
    yield from map(_path_work, open_branches(project, worker=worker))
    yield from _roots(_open_roots(project, worker))


def _path_work(branch: OpenBranch) -> PathWork:
    part = slot_name(branch.question, branch.branch)
    return PathWork(Kind.PATH, branch.tree, part, branch.round)


def node_checks(project: Project, *, worker: User) -> Iterator[Work]:
    """Turns in dispute that the worker neither wrote nor has voted on."""
    disputed = with_check_round(_disputed(project, worker))
    rows = disputed.values_list("pk", "tree__rejection_voters", "round")
    for key, voters, number in _one_by_one(rows):
        yield NodeCheckWork(Kind.NODE_CHECK, key, round=number, needs=voters - 1)


def new_trees(project: Project, *, worker: User) -> Iterator[Work]:
    """First questions whose trees can begin, the oldest first."""
    if not has_room(project):
        return
    for questions in in_chunks(waiting_questions(project).exclude(created_by=worker)):
        ids = {question.pk: tree_id(question.snippet.text, question.text) for question in questions}
        here = Tree.objects.filter(project=project, tree_id__in=ids.values())
        twins = set(here.values_list("tree_id", flat=True))
        for question in questions:
            if ids[question.pk] not in twins:
                yield NewTreeWork(Kind.PATH, 0, OPEN_ROOT, project=project.pk, question=question.pk)


def has_room(project: Project) -> bool:
    """Whether one more tree may grow."""
    return Tree.objects.growing().filter(project=project).count() < project.active_trees


def waiting_questions(project: Project) -> QuerySet[Question]:
    """Accepted first questions without a tree, the oldest first."""
    accepted = Question.objects.filter(
        snippet__document__project=project, state=Question.State.ACCEPTED, tree__isnull=True
    )
    return accepted.select_related("snippet").order_by("pk")


def has_twin(question: Question, *, project: Project) -> bool:
    """Whether the same question on the same rule text has a tree: both would have one id."""
    return Tree.objects.filter(
        project=project, tree_id=tree_id(question.snippet.text, question.text)
    ).exists()


def start_tree(question: Question, *, project: Project) -> Tree:
    """A new tree with the limits that the project has now; nobody has begun it."""
    return Tree.objects.create(
        project=project, question=question,
        tree_id=tree_id(question.snippet.text, question.text), max_depth=project.max_depth,
        spans_required=project.spans_required, rejection_votes=project.rejection_votes,
        rejection_voters=project.rejection_voters, created_by=question.created_by,
    )  # fmt: skip


def branch_for(tree: Tree, slot: str, *, worker: User) -> PathWork | None:
    """The open branch as work of this person; None: it is held, or they may not have it."""
    parent, _ = parse_slot(slot)
    found: Iterator[PathWork]
    if parent is None:
        found = _roots(_open_roots(tree.project, worker).filter(pk=tree.pk))
    else:
        found = map(_path_work, branches_under(parent, tree.project, worker=worker))
    return next((work for work in found if work.part == slot), None)


# Queries --------------------------------------------------------------------------------------


def open_questions(project: Project) -> QuerySet[Node]:
    """Live follow-up questions of growing trees with an open branch."""
    questions = Node.objects.live().questions()
    growing = questions.filter(tree__project=project, tree__state=Tree.State.GROWING)
    return growing.filter(Q(~_child("yes")) | Q(~_child("no")))


def _child(branch: str) -> Exists:
    return Exists(Node.objects.live().filter(parent=OuterRef("pk"), branch=branch))


def _not_held(work: AssignmentQuerySet, worker: User) -> list[Any]:
    """Nobody has the work, and this worker never had it to its end."""
    done = work.filter(worker=worker, state__in=[State.SUBMITTED, State.RETURNED])
    return [~Exists(work.leased()), ~Exists(done)]


def _rounds(work: AssignmentQuerySet) -> Coalesce:
    submitted = work.filter(state=State.SUBMITTED).order_by().values("work_id")
    return Coalesce(Subquery(submitted.annotate(number=Count("pk")).values("number")), 0)


def _open_roots(project: Project, worker: User) -> QuerySet[Tree]:
    """Started trees whose root is open, and free for the worker."""
    root = Node.objects.live().filter(tree=OuterRef("pk"), parent=None)
    written = Node.objects.filter(tree=OuterRef("pk"), parent=None, created_by=worker)
    work = Assignment.objects.of_work(Kind.PATH, OuterRef("pk")).filter(part=OPEN_ROOT)
    open_trees = Tree.objects.growing().filter(
        ~Exists(root), ~Exists(written), *_not_held(work, worker), project=project
    )
    return open_trees.exclude(question__created_by=worker).order_by("pk")


def _roots(trees: QuerySet[Tree]) -> Iterator[PathWork]:
    work = Assignment.objects.of_work(Kind.PATH, OuterRef("pk")).filter(part=OPEN_ROOT)
    rows: Any = trees.annotate(round=_rounds(work)).values_list("pk", "round")
    for tree, number in _one_by_one(rows):
        yield PathWork(Kind.PATH, tree, OPEN_ROOT, number)


def _disputed(project: Project, worker: User) -> QuerySet[Node]:
    said = NodeCheck.objects.filter(node=OuterRef("pk"), checker=worker)
    voted = said.votes(since=OuterRef("disputed_at"))
    work = Assignment.objects.of_work(Kind.NODE_CHECK, OuterRef("pk"))
    given_back = work.filter(worker=worker, state=State.RETURNED)
    disputed = Node.objects.live().filter(disputed_at__isnull=False, tree__project=project)
    others = disputed.exclude(created_by=worker).exclude(tree__question__created_by=worker)
    # Those who went on below it before have a say too, but their eyes are not fresh.
    open_to: QuerySet[Node] = others.filter(~Exists(voted), ~Exists(given_back))
    return open_to.order_by(Exists(said), "disputed_at", "pk")


def with_check_round(disputed: QuerySet[Node]) -> QuerySet[Any]:
    """Each with `round`: how many votes there were in earlier disputes about it."""
    work = Assignment.objects.of_work(Kind.NODE_CHECK, OuterRef("pk"))
    rows: QuerySet[Any] = disputed.annotate(
        round=_rounds(work.filter(ended_at__lt=OuterRef("disputed_at")))
    )
    return rows


def in_chunks(rows: QuerySet[Any], size: int = CHUNK) -> Iterator[list[Any]]:
    """The rows some at once, each chunk looked up when it is wanted."""
    for start in count(0, size):
        chunk = list(rows[start : start + size])
        yield chunk
        if len(chunk) < size:
            return


def _one_by_one(rows: QuerySet[Any]) -> Iterator[Any]:
    return chain.from_iterable(in_chunks(rows))
