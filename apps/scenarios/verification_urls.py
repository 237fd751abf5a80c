"""Addresses of the verification, the consistency proof and the text checks."""

from django.urls import path

from apps.scenarios import correction_draft_views, proof_views, verification_views

_ONE = "p/<slug:slug>/verification/<slug:utterance_id>/"

urlpatterns = [
    path("p/<slug:slug>/verification/", verification_views.queue, name="verification"),
    path("p/<slug:slug>/verification/next/", verification_views.verify_next, name="verify_next"),
    path("p/<slug:slug>/verification/expand/", verification_views.expand, name="expand"),
    path(
        "p/<slug:slug>/verification/trees/<slug:tree_id>/",
        verification_views.verify_tree,
        name="verify_tree",
    ),
    path(_ONE, verification_views.verify, name="verify"),
    path(f"{_ONE}accept/", verification_views.accept, name="verify_accept"),
    path(f"{_ONE}keep/", verification_views.keep, name="verify_keep"),
    path(f"{_ONE}correct/", verification_views.correct, name="verify_correct"),
    path(f"{_ONE}correct/draft/", correction_draft_views.draft, name="correction_draft"),
    path(
        f"{_ONE}correct/draft/forget/",
        correction_draft_views.forget,
        name="correction_draft_forget",
    ),
    path(f"{_ONE}drop/", verification_views.drop, name="verify_drop"),
    path(f"{_ONE}reopen/", verification_views.reopen, name="verify_reopen"),
    path("p/<slug:slug>/consistency/", proof_views.consistency, name="consistency"),
    path("p/<slug:slug>/consistency/prove/", proof_views.prove_now, name="prove"),
    path("p/<slug:slug>/consistency/waive/", proof_views.waive_findings, name="waive"),
    path(
        "p/<slug:slug>/consistency/waivers/<int:waiver_id>/withdraw/",
        proof_views.withdraw,
        name="withdraw_waiver",
    ),
    path("p/<slug:slug>/text-checks/", proof_views.text_checks, name="text_checks"),
]
