"""Pages about one tree that change nothing: its history, and its comparison with another."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.trees.domain.logic.classes import logic
from apps.trees.domain.logic.comparison import difference
from apps.trees.forms import TreeChoice
from apps.trees.models import Tree
from apps.trees.review_history import history_of
from apps.trees.views import get_tree

CHOICES_SHOWN = 20


@require_safe
def history(request: HttpRequest, slug: str, tree_id: str) -> HttpResponse:
    tree = get_tree(request, slug, tree_id)
    context = {"project": tree.project, "tree": tree, "events": history_of(tree)}
    return render(request, "trees/history.html", context)


@require_safe
def compare(request: HttpRequest, slug: str, tree_id: str) -> HttpResponse:
    """With another finished tree of the project, by what they answer."""
    tree = get_tree(request, slug, tree_id)
    finished = Tree.objects.visible_to(request.user).filter(project=tree.project).finished()
    others = finished.exclude(pk=tree.pk).with_source()
    form = TreeChoice(request.GET)
    other = others.filter(tree_id=request.GET.get("other", "")[:40].replace("\0", "")).first()
    context = {"project": tree.project, "tree": tree, "form": form, "other": other}
    if other is not None and tree.state == Tree.State.FINISHED:
        one, two = tree.to_domain(), other.to_domain()
        context |= {"logic": logic(one), "other_logic": logic(two), "found": difference(one, two)}
    context["others"] = form.filtered(others, tree)[:CHOICES_SHOWN]
    return render(request, "trees/compare.html", context)
