"""Drafts of corrections, for drafts.js; see there for what it does with each answer."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.projects.permissions import signed_in
from apps.scenarios.errors import UtteranceChangedError
from apps.scenarios.services.correction_drafts import (
    forget_correction_draft,
    save_correction_draft,
)
from apps.scenarios.verification_forms import CorrectionDraftForm, CorrectionForm
from apps.scenarios.verification_views import get_utterance
from apps.workers.errors import StaleDraftError


@require_POST
def draft(request: HttpRequest, slug: str, utterance_id: str) -> JsonResponse:
    """Saves what the form of a correction holds."""
    utterance = get_utterance(request, slug, utterance_id)
    form = CorrectionDraftForm({**request.POST.dict(), "seen": request.GET.get("seen", "")})
    if not form.is_valid():
        return JsonResponse({"errors": form.errors}, status=400)
    told, now = form.cleaned_data, timezone.now()
    typed = CorrectionForm.of_draft(told["content"], utterance=utterance)
    try:
        is_current = save_correction_draft(
            utterance, by=signed_in(request), seen=told["seen"], version=told["version"],
            content=told["content"], parts=typed.parts() if typed.is_valid() else None, now=now,
        )  # fmt: skip
    except StaleDraftError as refusal:
        return JsonResponse({"version": refusal.version, "content": refusal.content}, status=409)
    if not is_current:
        return JsonResponse({"state": "changed", "error": str(UtteranceChangedError())}, status=410)
    return JsonResponse({"version": told["version"], "saved_at": now.isoformat()})


@require_POST
def forget(request: HttpRequest, slug: str, utterance_id: str) -> HttpResponse:
    """Throws away what the reader had begun to correct."""
    utterance = get_utterance(request, slug, utterance_id)
    forget_correction_draft(utterance, by=signed_in(request))
    return redirect("scenarios:verify", slug, utterance_id)
