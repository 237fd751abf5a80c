"""The list of trees, and one tree's page. What experts do there: review_edit_views."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from apps.projects.paging import page_of
from apps.projects.permissions import can_administer, get_project_to_read
from apps.projects.requests import HtmxHttpRequest
from apps.trees.forms import TreeFilter
from apps.trees.models import Flag, Tree
from apps.trees.page import TreePage
from apps.trees.review_panel import panel_forms

TREES_ON_PAGE = 25
UTTERANCES_IN_PANEL = 10


@require_safe
@vary_on_headers("HX-Target")
def tree_list(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    form = TreeFilter(request.GET, project=project)
    trees = Tree.objects.visible_to(request.user).filter(project=project)
    page = page_of(
        form.filtered(trees).order_by("pk"),
        trees.with_source().with_counts(),
        asked=request.GET.get("page"),
        size=TREES_ON_PAGE,
    )
    context = {"project": project, "form": form, "page": page}
    if request.htmx.target == "results":
        return render(request, "trees/_results.html", context)
    context["waiting"] = Flag.objects.open().filter(tree__project=project).count()
    return render(request, "trees/list.html", context)


@require_safe
@never_cache
@vary_on_headers("HX-Target")
def tree_detail(request: HtmxHttpRequest, slug: str, tree_id: str) -> HttpResponse:
    tree = get_tree(request, slug, tree_id)
    in_panel = request.htmx.target == "node-panel"
    template = "trees/_panel.html" if in_panel else "trees/detail.html"
    return tree_page(request, tree, asked=request.GET.get("node", ""), template=template)


def get_tree(request: HttpRequest, slug: str, tree_id: str) -> Tree:
    """A tree that the reader may see, inside its own project; 404 otherwise."""
    project = get_project_to_read(request, slug)
    trees = Tree.objects.visible_to(request.user).filter(project=project).with_source()
    return get_object_or_404(trees, tree_id=tree_id)


def tree_page(
    request: HttpRequest, tree: Tree, *, asked: str, template: str = "trees/detail.html",
    **refused: Any,
) -> HttpResponse:  # fmt: skip
    """`refused` are forms, by their name, that come back with what is wrong in them."""
    page = TreePage(tree, asked=asked)
    context = {
        "project": tree.project,
        "tree": tree,
        "page": page,
        "place": page.place,
        "scenarios": page.scenarios(),
        "utterances": page.utterances(UTTERANCES_IN_PANEL),
        "forms": panel_forms(page, refused),
        "refused": next(iter(refused), ""),
        "can_administer": can_administer(request.user, tree.project),
    }
    return render(request, template, context)
