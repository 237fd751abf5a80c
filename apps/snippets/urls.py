"""Addresses of documents, the snippet bench and the question bench."""

from django.urls import path

from apps.snippets import bench_urls, document_urls, question_views
from apps.snippets import question_check_views as checks

app_name = "snippets"
urlpatterns = [
    *document_urls.urlpatterns,
    *bench_urls.urlpatterns,
    path("p/<slug:slug>/questions/", question_views.question_list, name="questions"),
    path("p/<slug:slug>/questions/next/", question_views.question_next, name="question_next"),
    path("p/<slug:slug>/questions/<int:question_id>/", question_views.question, name="question"),
    path(
        "p/<slug:slug>/questions/take/<int:snippet_id>/",
        question_views.question_take,
        name="question_take",
    ),
    path(
        "p/<slug:slug>/questions/work/<int:assignment_id>/",
        question_views.question_work,
        name="question_work",
    ),
    path(
        "p/<slug:slug>/questions/work/<int:assignment_id>/skip/",
        question_views.question_skip,
        name="question_skip",
    ),
    path(
        "p/<slug:slug>/questions/work/<int:assignment_id>/no-rule/",
        question_views.question_no_rule,
        name="question_no_rule",
    ),
    path(
        "p/<slug:slug>/questions/work/<int:assignment_id>/hints/",
        question_views.question_hints,
        name="question_hints",
    ),
    path("p/<slug:slug>/questions/checks/next/", checks.check_next, name="check_next"),
    path(
        "p/<slug:slug>/questions/checks/<int:assignment_id>/",
        checks.question_check,
        name="question_check",
    ),
    path(
        "p/<slug:slug>/questions/checks/<int:assignment_id>/send-back/",
        checks.question_send_back,
        name="question_send_back",
    ),
    path(
        "p/<slug:slug>/questions/checks/<int:assignment_id>/skip/",
        checks.check_skip,
        name="check_skip",
    ),
]
