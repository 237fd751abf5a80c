"""Addresses of the qualification: its test, its settings, its people, and a worker's try."""

from django.urls import path

from apps.workers import attempt_views, qualification_views

_HERE = "p/<slug:slug>/qualification/"
_QUESTION = f"{_HERE}questions/<int:test_question_id>/"
_PERSON = f"{_HERE}people/<int:member>/"

urlpatterns = [
    path(_HERE, qualification_views.qualification, name="qualification"),
    path(
        f"{_HERE}settings/",
        qualification_views.qualification_settings,
        name="qualification_settings",
    ),
    path(f"{_HERE}questions/new/", qualification_views.test_question_new, name="test_question_new"),
    path(_QUESTION, qualification_views.test_question, name="test_question"),
    path(
        f"{_QUESTION}remove/",
        qualification_views.test_question_remove,
        name="test_question_remove",
    ),
    path(f"{_HERE}revise/", qualification_views.test_revise, name="test_revise"),
    path(f"{_HERE}publish/", qualification_views.test_publish, name="test_publish"),
    path(f"{_HERE}discard/", qualification_views.test_discard, name="test_discard"),
    path(f"{_HERE}people/", qualification_views.qualified, name="qualified"),
    path(f"{_PERSON}give/", qualification_views.qualify, name="qualify"),
    path(f"{_PERSON}revoke/", qualification_views.disqualify, name="disqualify"),
    path(f"{_HERE}begin/", attempt_views.attempt_begin, name="attempt_begin"),
    path(f"{_HERE}attempts/<int:attempt_id>/", attempt_views.attempt, name="attempt"),
]
