"""The list of trees, and one tree's page."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from apps.projects.paging import page_of
from apps.projects.permissions import can_administer, get_project_to_read
from apps.projects.requests import HtmxHttpRequest
from apps.trees.forms import TreeFilter
from apps.trees.models import Tree
from apps.trees.page import TreePage

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
    template = "trees/_results.html" if request.htmx.target == "results" else "trees/list.html"
    return render(request, template, {"project": project, "form": form, "page": page})


@require_safe
@vary_on_headers("HX-Target")
def tree_detail(request: HtmxHttpRequest, slug: str, tree_id: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    trees = Tree.objects.visible_to(request.user).filter(project=project).with_source()
    tree = get_object_or_404(trees, tree_id=tree_id)
    page = TreePage(tree, asked=request.GET.get("node", ""))
    context = {
        "project": project,
        "tree": tree,
        "page": page,
        "place": page.place,
        "scenarios": page.scenarios(),
        "utterances": page.utterances(UTTERANCES_IN_PANEL),
        "can_administer": can_administer(request.user, project),
    }
    in_panel = request.htmx.target == "node-panel"
    return render(request, "trees/_panel.html" if in_panel else "trees/detail.html", context)
