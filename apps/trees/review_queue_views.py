"""What waits for an expert, one after the other; and all redundant questions at once."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.models import User
from apps.projects.models import Project
from apps.projects.permissions import (
    can_administer,
    get_project_to_administer,
    get_project_to_read,
    signed_in,
)
from apps.trees.domain.tree import Answer
from apps.trees.errors import GrowingError
from apps.trees.models import Flag
from apps.trees.review_forms import KEEP, PRUNE, DecisionForm, PruneAllForm
from apps.trees.review_queue import counts_of, next_flag, settling, with_details
from apps.trees.services.flags import keep, prune, settle
from apps.trees.services.pruning import preview_of, queue_pruning

DONE = {
    PRUNE: "Taken out: the branch is open for new work.",
    KEEP: "Kept, with your reason.",
    Answer.YES: "Settled with Yes.",
    Answer.NO: "Settled with No.",
}


@require_safe
@never_cache
def to_settle(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project_to_read(request, slug)
    kind = _kind(request.GET.get("kind", ""))
    after = request.GET.get("after", "")
    flag = next_flag(project, kind=kind, after=int(after) if _is_key(after) else 0)
    return _page(request, project, flag, kind=kind)


@require_POST
def decide(request: HttpRequest, slug: str, flag_id: int) -> HttpResponse:
    """Does what the expert decided, and goes on to the next."""
    project = get_project_to_read(request, slug)
    flags = Flag.objects.visible_to(request.user).filter(tree__project=project)
    flag = get_object_or_404(with_details(flags), pk=flag_id)
    form, kind = DecisionForm(request.POST), _kind(request.POST.get("kind", ""))
    if not form.is_valid() and flag.state == Flag.State.OPEN:
        return _page(request, project, flag, kind=kind, form=form)
    try:
        _decide(flag, form.cleaned_data, expert=signed_in(request))
        messages.success(request, DONE[form.cleaned_data["decision"]])
    except GrowingError as error:
        messages.warning(request, f"“{flag.node}”: {error}")
    return _to_next(project, kind, flag.pk)


def _decide(flag: Flag, said: dict[str, Any], *, expert: User) -> None:
    now, decision = timezone.now(), said.get("decision", KEEP)
    acts: dict[str, Any] = {
        PRUNE: prune, KEEP: keep,
        Answer.YES: partial(settle, answer=Answer.YES),
        Answer.NO: partial(settle, answer=Answer.NO),
    }  # fmt: skip
    acts[decision](
        flag, seen=said.get("seen", ""), reason=said.get("reason", ""), expert=expert, now=now
    )


@require_http_methods(["GET", "POST"])
@never_cache
def prune_all(request: HttpRequest, slug: str) -> HttpResponse:
    """A preview of what goes when all redundant questions are pruned; POST does it."""
    project = get_project_to_administer(request, slug)
    form = PruneAllForm(request.POST)
    if request.method == "POST" and form.is_valid():
        last = form.cleaned_data["last"]
        return redirect(queue_pruning(project, last=last, author=signed_in(request)))
    context = {"project": project, "preview": preview_of(project)}
    return render(request, "trees/prune_all.html", context)


def _page(
    request: HttpRequest, project: Project, flag: Flag | None, *, kind: str,
    form: DecisionForm | None = None,
) -> HttpResponse:  # fmt: skip
    shown = settling(flag) if flag else None
    if shown and form:
        form.show_again(seen=shown.seen)
    context = {
        "project": project, "counts": counts_of(project), "kind": kind, "shown": shown,
        "form": form or DecisionForm(initial={"seen": shown and shown.seen, "kind": kind}),
        "can_administer": can_administer(request.user, project),
    }  # fmt: skip
    return render(request, "trees/to_settle.html", context)


def _to_next(project: Project, kind: str, after: int) -> HttpResponse:
    query = {"after": after} | ({"kind": kind} if kind else {})
    return redirect(f"{reverse('trees:to_settle', args=[project.slug])}?{urlencode(query)}")


def _kind(asked: str) -> str:
    return asked if asked in Flag.Kind.values else ""


def _is_key(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 18
