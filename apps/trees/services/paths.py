"""The end of a worker's walk: its turns become nodes, or the work is given back."""

from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction

from apps.projects.services import audit
from apps.trees.domain.places import parse_slot
from apps.trees.errors import BranchGoneError, PathNotEndedError
from apps.trees.models import Node, PathStep, Tree
from apps.trees.services.checks import end_void_work
from apps.trees.services.derived import refresh
from apps.trees.services.open_work import is_branch_open, lock_tree
from apps.trees.services.steps import carry_steps, typed_in, work_of
from apps.workers.models import Assignment, KeptText
from apps.workers.services.leases import return_work
from apps.workers.services.submits import NotTaken, Submitted, keep_text, submit


def submit_path(assignment: Assignment, *, key: str, now: datetime) -> Submitted | NotTaken:
    """Makes nodes of the walk's turns; the branches that it did not take are open work at once.

    Raises PathNotEndedError; or BranchGoneError when the branch is not there any more, and then
    the lease is over, and the turns are kept.
    """
    content = typed_in(assignment.path_steps.standing())
    try:
        with transaction.atomic():
            tree = lock_tree(assignment.work_id)
            answer = submit(
                assignment.pk, worker=assignment.worker, key=key, content=content,
                take=partial(_write_nodes, tree=tree, now=now), work=work_of(assignment), now=now,
            )  # fmt: skip
            if isinstance(answer, NotTaken) and answer.again is not None:
                _go_on(assignment, answer.again)
            return answer
    except BranchGoneError:
        end_void_work(assignment, content, now=now)
        raise


def _go_on(assignment: Assignment, again: Assignment) -> None:
    """The lease was taken again: its walk stands as it stood. What was in the field is a draft."""
    carry_steps(assignment, again)
    again.draft = assignment.draft
    again.save(update_fields=["draft"])


def _write_nodes(assignment: Assignment, *, tree: Tree, now: datetime) -> dict[str, Any]:
    if not is_branch_open(tree, assignment.part):
        raise BranchGoneError
    steps = list(assignment.path_steps.standing())
    if not steps or not steps[-1].is_final:
        raise PathNotEndedError
    parent_key, branch = parse_slot(assignment.part)
    parent = Node.objects.get(pk=parent_key) if parent_key else None
    for step in steps:
        parent = _write_node(tree, parent, branch, step, assignment)
        branch = Node.Branch(step.answer.lower())
    refresh(tree, actor=assignment.worker, now=now)
    audit.record(
        assignment.worker, "submit path", tree, project=assignment.project, turns=len(steps) - 1
    )
    return {"turns": len(steps) - 1, "answer": steps[-1].answer, "tree_state": tree.state}


def _write_node(
    tree: Tree, parent: Node | None, branch: str, step: PathStep, assignment: Assignment
) -> Node:
    if step.is_final:
        content: dict[str, Any] = {"kind": Node.Kind.ANSWER, "answer": step.answer}
    else:
        content = {
            "kind": Node.Kind.QUESTION, "text": step.text,
            "span_start": step.span_start, "span_end": step.span_end,
        }  # fmt: skip
    node = Node.at(
        tree, parent, branch, created_by=assignment.worker, assignment=assignment,
        created_at=step.at, **content,
    )  # fmt: skip
    node.save(force_insert=True)
    return node


@transaction.atomic
def return_path(assignment: Assignment, *, reason: str, now: datetime) -> bool:
    """Gives the branch back; the turns are kept for the worker. False: the lease had ended."""
    if not return_work(assignment, reason=reason, now=now):
        return False
    if content := typed_in(assignment.path_steps.standing()):
        keep_text(assignment, KeptText.Reason.RETURNED, content, now)
    return True
