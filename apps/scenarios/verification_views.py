"""The verification: one utterance per screen, as a model would see it."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.projects.models import Project
from apps.projects.permissions import (
    can_administer,
    get_project_to_administer,
    get_project_to_read,
    signed_in,
)
from apps.scenarios.errors import VerificationError
from apps.scenarios.models import Utterance
from apps.scenarios.services import verification
from apps.scenarios.services.expansion import queue_expansion
from apps.scenarios.verification_forms import (
    AcceptTreeForm,
    CorrectionForm,
    DropForm,
    SeenForm,
    WhyForm,
)
from apps.scenarios.verification_page import bench, next_to_verify, queue_page, tree_page
from apps.trees.models import Tree


@require_safe
def queue(request: HttpRequest, slug: str) -> HttpResponse:
    """How much waits, and where to begin."""
    project = get_project_to_read(request, slug)
    context = {
        **queue_page(project, signed_in(request)),
        "can_administer": can_administer(request.user, project),
    }
    return render(request, "scenarios/verification.html", context)


@require_safe
@never_cache
def verify_next(request: HttpRequest, slug: str) -> HttpResponse:
    """Goes to the next that waits, after the one that is named."""
    project = get_project_to_read(request, slug)
    known = _utterances(request, project)
    after = known.filter(utterance_id=request.GET.get("after", "")).first()
    return _to_next(request, project, after)


@require_safe
@never_cache
def verify(request: HttpRequest, slug: str, utterance_id: str) -> HttpResponse:
    return _bench(request, get_utterance(request, slug, utterance_id))


@require_POST
def accept(request: HttpRequest, slug: str, utterance_id: str) -> HttpResponse:
    return _decide_why(request, get_utterance(request, slug, utterance_id), verification.accept)


@require_POST
def keep(request: HttpRequest, slug: str, utterance_id: str) -> HttpResponse:
    """It stays though its tree no longer gives it."""
    return _decide_why(request, get_utterance(request, slug, utterance_id), verification.keep)


@require_POST
def correct(request: HttpRequest, slug: str, utterance_id: str) -> HttpResponse:
    utterance = get_utterance(request, slug, utterance_id)
    form = CorrectionForm(request.POST, utterance=utterance)
    if not form.is_valid():
        return _bench(request, utterance, correction_form=form)
    step = partial(verification.correct, parts=form.parts(), why=form.cleaned_data["why"])
    return _decide(request, utterance, form, step, correction_form=form)


@require_POST
def drop(request: HttpRequest, slug: str, utterance_id: str) -> HttpResponse:
    utterance = get_utterance(request, slug, utterance_id)
    form = DropForm(request.POST)
    if not form.is_valid():
        return _bench(request, utterance, drop_form=form)
    step = partial(verification.drop, reason=form.cleaned_data["reason"])
    return _decide(request, utterance, form, step, drop_form=form)


@require_POST
def reopen(request: HttpRequest, slug: str, utterance_id: str) -> HttpResponse:
    """What was accepted or dropped is to be looked at again; stays on its page."""
    utterance = get_utterance(request, slug, utterance_id)
    form = SeenForm(request.POST)
    if not form.is_valid():
        return _bench(request, utterance)
    seen, reader = form.cleaned_data["seen"], signed_in(request)
    try:
        verification.reopen(utterance, seen=seen, by=reader, now=timezone.now())
    except VerificationError as error:
        messages.warning(request, str(error))
    return redirect("scenarios:verify", slug, utterance_id)


@require_POST
def expand(request: HttpRequest, slug: str) -> HttpResponse:
    """Brings the utterances in line with the trees, in the background."""
    project = get_project_to_administer(request, slug)
    return redirect(queue_expansion(project, author=signed_in(request)))


@require_http_methods(["GET", "POST"])
@never_cache
def verify_tree(request: HttpRequest, slug: str, tree_id: str) -> HttpResponse:
    """All that waits of one tree, to look at; POST accepts what stood there."""
    project = get_project_to_read(request, slug)
    trees = Tree.objects.visible_to(request.user).filter(project=project).with_source()
    tree = get_object_or_404(trees, tree_id=tree_id)
    form = AcceptTreeForm(request.POST)
    reader = signed_in(request)
    if request.method != "POST" or not form.is_valid():
        return render(request, "scenarios/verify_tree.html", tree_page(tree, reader))
    seen = form.cleaned_data["seen"]
    try:
        number = verification.accept_tree(tree, seen=seen, by=reader, now=timezone.now())
    except VerificationError as error:
        context = {**tree_page(tree, reader), "refusal": error}
        return render(request, "scenarios/verify_tree.html", context)
    messages.success(request, f"{number:,} utterances of the tree were accepted.")
    return _to_next(request, project, None)


# Parts of the views --------------------------------------------------------------------------


def _utterances(request: HttpRequest, project: Project) -> Any:
    utterances = Utterance.objects.visible_to(request.user).filter(project=project)
    return utterances.with_source().select_related("verified_by", "job")


def get_utterance(request: HttpRequest, slug: str, utterance_id: str) -> Utterance:
    project = get_project_to_read(request, slug)
    found: Utterance = get_object_or_404(_utterances(request, project), utterance_id=utterance_id)
    return found


def _bench(request: HttpRequest, utterance: Utterance, **forms: Any) -> HttpResponse:
    context = bench(utterance, signed_in(request), **forms)
    return render(request, "scenarios/verify.html", context)


def _decide_why(
    request: HttpRequest, utterance: Utterance, service: Callable[..., None]
) -> HttpResponse:
    form = WhyForm(request.POST)
    if not form.is_valid():
        return _bench(request, utterance, accept_form=form)
    step = partial(service, why=form.cleaned_data["why"])
    return _decide(request, utterance, form, step, accept_form=form)


def _decide(
    request: HttpRequest, utterance: Utterance, form: SeenForm, step: Callable[..., None],
    **forms: Any,
) -> HttpResponse:  # fmt: skip
    """Takes the step and goes on to the next, or comes back with the refusal."""
    try:
        step(
            utterance, seen=form.cleaned_data["seen"], by=signed_in(request), now=timezone.now()
        )  # fmt: skip
    except VerificationError as error:
        form.add_error(None, str(error))
        now = get_utterance(request, utterance.project.slug, utterance.utterance_id)
        return _bench(request, now, **forms)
    return _to_next(request, utterance.project, utterance)


def _to_next(request: HttpRequest, project: Project, after: Utterance | None) -> HttpResponse:
    found = next_to_verify(project, signed_in(request), after=after, now=timezone.now())
    if found is None:
        messages.info(request, "No utterance of dev and test waits for an expert now.")
        return redirect("scenarios:verification", project.slug)
    return redirect("scenarios:verify", project.slug, found)
