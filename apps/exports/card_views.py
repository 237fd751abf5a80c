"""What the dataset card says that nobody can count. For admins."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from apps.exports.card_forms import CardForm
from apps.exports.models import DatasetCard
from apps.exports.services.about import about
from apps.exports.services.cards import save_card
from apps.projects.models import Split
from apps.projects.permissions import get_project_to_administer, signed_in


@require_http_methods(["GET", "POST"])
def card(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_administer(request, slug)
    stored = DatasetCard.objects.filter(project=project).first() or DatasetCard(project=project)
    form = CardForm(request.POST or None, instance=stored)
    if form.is_valid():
        save_card(stored, changed=form.changed_data, actor=signed_in(request))
        messages.success(request, "Saved: the next export says it.")
        return redirect("exports:card", slug)
    context = {"project": project, "form": form, "about": about(project, list(Split))}
    return render(request, "exports/card.html", context)
