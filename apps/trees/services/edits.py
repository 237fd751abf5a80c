"""What an expert changes on a tree: a wording, a final answer, what stands on a branch, and who
goes on there. Nothing is deleted; each change is in the log.
"""

from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from apps.accounts.models import User
from apps.projects.models import Membership
from apps.projects.services import audit
from apps.trees.domain.places import parse_slot
from apps.trees.domain.tree import Answer
from apps.trees.errors import (
    BranchDisputedError,
    BranchGoneError,
    BranchHeldError,
    NodeGoneError,
    NotQualifiedError,
    SameAsBeforeError,
    TreeChangedError,
)
from apps.trees.models import Cut, Flag, Node, Tree, Wording
from apps.trees.services import cuts
from apps.trees.services.derived import refresh
from apps.trees.services.flags import end_flags
from apps.trees.services.open_work import branch_for, is_branch_open, lock_tree
from apps.trees.services.seen import refuse_changed
from apps.trees.services.wording import refuse_text
from apps.workers.errors import NotAMemberError
from apps.workers.models import Assignment, Kind
from apps.workers.services.leases import release_all, take_slot
from apps.workers.services.qualification import barred_kinds

GIVEN_AWAY = "an expert gave the branch to another person"


@transaction.atomic
def change_wording(node: Node, text: str, *, seen: str, expert: User, now: datetime) -> None:
    """Another wording of a follow-up question; what stands below it stays, and what tells
    of it by its text goes along.

    `seen` is the wording that the page showed. Raises NodeGoneError, TreeChangedError,
    SameAsBeforeError, EmptyQuestionError or LooksLikeAnswerError.
    """
    text = text.strip()
    refuse_text(text)
    tree, node = _locked(node)
    if node.text != seen:
        raise TreeChangedError
    if text == node.text:
        raise SameAsBeforeError
    Wording.objects.create(node=node, text=node.text, replaced_by=expert, replaced_at=now)
    Node.objects.filter(pk=node.pk).update(text=text)
    refresh(tree, actor=expert, now=now)
    audit.record(expert, "change wording", node, project=tree.project, before=node.text, now=text)
    follow = import_string(settings.FOLLOW_WORDING)
    follow(tree, before=node.text, text=text, by=expert)


@transaction.atomic
def change_answer(
    node: Node, answer: Answer, *, seen: str, expert: User, reason: str, now: datetime
) -> Node:
    """Another final answer; the one before is kept as taken out.

    `seen` is the fingerprint that the page showed, as below. Raises NodeGoneError,
    TreeChangedError or SameAsBeforeError.
    """
    _, node = _locked(node)
    refuse_changed(node, seen)
    if node.answer == answer:
        raise SameAsBeforeError
    reason = reason or f"The final answer is {answer}."
    _, leaf = cuts.put_answer(node, answer, actor=expert, reason=reason, now=now)
    return leaf


@transaction.atomic
def take_out(
    node: Node, kind: Cut.Kind, *, seen: str, expert: User, reason: str, now: datetime
) -> Cut:
    """Takes a node and all below it out, as wrong or as needless; the branch is open at once.

    Raises NodeGoneError or TreeChangedError.
    """
    _, node = _locked(node)
    refuse_changed(node, seen)
    if kind == Cut.Kind.PRUNED:
        flags = Flag.objects.standing().filter(node=node)
        end_flags(flags, Flag.State.PRUNED, actor=expert, reason=reason, now=now)
    return cuts.take_out(node, kind=kind, actor=expert, reason=reason, now=now)


@transaction.atomic
def give_branch(tree: Tree, slot: str, *, worker: User, expert: User, now: datetime) -> Assignment:
    """Leases an open branch to this person, and takes it back from whoever has it.

    Raises NotAMemberError; BranchGoneError when it is not open any more; BranchDisputedError; or
    BranchHeldError when the person wrote above it, has it, or had it before; NotQualifiedError.
    """
    members = Membership.objects.select_for_update().filter(project=tree.project_id, user=worker)
    if not members.exists():
        raise NotAMemberError
    if Kind.PATH in barred_kinds(tree.project, worker=worker, now=now):
        raise NotQualifiedError
    tree = lock_tree(tree.pk)
    if not is_branch_open(tree, slot):
        raise BranchGoneError
    _refuse_disputed(tree, slot)
    held = Assignment.objects.leased().of_work(Kind.PATH, tree.pk).filter(part=slot)
    if held.filter(worker=worker).exists():
        raise BranchHeldError("This person has the branch in hand already.")
    release_all(held, actor=expert, now=now, reason=GIVEN_AWAY)
    work = branch_for(tree, slot, worker=worker)
    lease = work and take_slot(work, slot=0, project=tree.project, worker=worker, now=now)
    if not lease:
        raise BranchHeldError
    audit.record(
        expert, "give branch", lease, project=tree.project, worker=worker.username, branch=slot
    )
    return lease


def _refuse_disputed(tree: Tree, slot: str) -> None:
    parent, _ = parse_slot(slot)
    if parent is None:
        return
    above = tree.nodes.live().on_path_to(tree.nodes.get(pk=parent).place)
    if above.filter(disputed_at__isnull=False).exists():
        raise BranchDisputedError


def _locked(node: Node) -> tuple[Tree, Node]:
    """The tree, locked, and the node as it is now. Raises NodeGoneError."""
    tree = lock_tree(node.tree_id)
    live = Node.objects.live().select_related("tree__project", "parent").filter(pk=node.pk).first()
    if live is None:
        raise NodeGoneError
    return tree, live
