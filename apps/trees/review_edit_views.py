"""What an expert does on a tree's page. A refusal comes back on that page, in its form."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.projects.errors import StudioError
from apps.projects.permissions import signed_in
from apps.trees.domain.places import slot_name
from apps.trees.domain.tree import Answer
from apps.trees.models import Cut, Node, Tree
from apps.trees.review_forms import AnswerForm, CommentForm, GiveForm, TakeOutForm, WordingForm
from apps.trees.services import cuts
from apps.trees.services.edits import change_answer, change_wording, give_branch, take_out
from apps.trees.views import get_tree, tree_page


@require_POST
def wording(request: HttpRequest, slug: str, tree_id: str, node_id: int) -> HttpResponse:
    tree, node = _get_node(request, slug, tree_id, node_id)
    form = WordingForm(request.POST)
    act = partial(change_wording, node, expert=signed_in(request), now=timezone.now())
    if not _done(form, act):
        return tree_page(request, tree, asked=str(node.pk), wording=form)
    messages.success(request, "The question is worded anew; its earlier wording is kept.")
    return _to(tree, str(node.pk))


@require_POST
def answer(request: HttpRequest, slug: str, tree_id: str, node_id: int) -> HttpResponse:
    tree, node = _get_node(request, slug, tree_id, node_id)
    form = AnswerForm(request.POST)

    def act(answer: str, seen: str, reason: str) -> Node:
        return change_answer(
            node, Answer(answer), seen=seen, reason=reason, expert=signed_in(request),
            now=timezone.now(),
        )  # fmt: skip

    if not _done(form, act):
        return tree_page(request, tree, asked=str(node.pk), answer=form)
    messages.success(request, f"The final answer is {form.cleaned_data['answer']} now.")
    return _to(tree, _name_at(node))


@require_POST
def remove(request: HttpRequest, slug: str, tree_id: str, node_id: int) -> HttpResponse:
    tree, node = _get_node(request, slug, tree_id, node_id)
    form = TakeOutForm(request.POST)

    def act(kind: str, seen: str, reason: str) -> Cut:
        return take_out(
            node, Cut.Kind(kind), seen=seen, reason=reason, expert=signed_in(request),
            now=timezone.now(),
        )  # fmt: skip

    if not _done(form, act):
        return tree_page(request, tree, asked=str(node.pk), take_out=form)
    messages.success(request, "The branch is taken out, and open for new work. It can be restored.")
    return _to(tree, _name_at(node))


@require_POST
def restore(request: HttpRequest, slug: str, tree_id: str, cut_id: int) -> HttpResponse:
    tree = get_tree(request, slug, tree_id)
    cut = get_object_or_404(tree.cuts, pk=cut_id)
    try:
        cuts.restore(cut, actor=signed_in(request), now=timezone.now())
    except StudioError as error:
        messages.warning(request, str(error))
        return _to(tree, "")
    messages.success(request, "What was taken out is back in the tree.")
    return _to(tree, _name_of(tree, cut.parent_id, cut.branch))


@require_POST
def give(request: HttpRequest, slug: str, tree_id: str) -> HttpResponse:
    tree = get_tree(request, slug, tree_id)
    form = GiveForm(request.POST, project=tree.project)

    def act(slot: str, worker: Any) -> Any:
        return give_branch(
            tree, slot, worker=worker, expert=signed_in(request), now=timezone.now()
        )  # fmt: skip

    asked = request.POST.get("slot", "")
    if not _done(form, act):
        return tree_page(request, tree, asked=asked, give=form)
    messages.success(request, f"{form.cleaned_data['worker']} has this branch now.")
    return _to(tree, asked)


@require_POST
def comment(request: HttpRequest, slug: str, tree_id: str) -> HttpResponse:
    tree = get_tree(request, slug, tree_id)
    form = CommentForm(request.POST)
    form.instance.tree, form.instance.author = tree, signed_in(request)
    key = request.POST.get("node_key", "")
    if not form.is_valid():
        return tree_page(request, tree, asked=key, comment=form)
    form.instance.node = tree.nodes.filter(pk=form.cleaned_data["node_key"]).first()
    form.save()
    return _to(tree, key)


def _get_node(
    request: HttpRequest, slug: str, tree_id: str, node_id: int
) -> tuple[Tree, Node]:  # fmt: skip
    tree = get_tree(request, slug, tree_id)
    return tree, get_object_or_404(tree.nodes, pk=node_id)


def _done(form: Any, act: Callable[..., Any]) -> bool:
    """Whether the form is right and the service did it; the form says why not."""
    if not form.is_valid():
        return False
    try:
        act(**form.cleaned_data)
    except StudioError as error:
        form.add_error(None, str(error))
        return False
    return True


def _to(tree: Tree, name: str) -> HttpResponse:
    address = reverse("trees:detail", args=[tree.project.slug, tree.tree_id])
    return redirect(f"{address}?node={name}#node-panel" if name else address)


def _name_at(node: Node) -> str:
    return _name_of(node.tree, node.parent_id, node.branch)


def _name_of(tree: Tree, parent: int | None, branch: str) -> str:
    """The name of what is on a branch now: a node, or an open slot."""
    here = tree.nodes.live().filter(parent=parent, branch=branch).first()
    return str(here.pk) if here else slot_name(parent, branch)
