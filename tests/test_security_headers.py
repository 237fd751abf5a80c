"""What every answer tells the browser, pages that fail included."""

import re

import pytest
from django.urls import reverse

from apps.projects.models import Role
from apps.trees.domain.tree import Answer, FinalAnswer, Question
from tests.factories import make_member, make_project, make_tree

pytestmark = pytest.mark.django_db

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}
INLINE = re.compile(r"<style|<script(?![^>]*\bsrc=)|\s(?:style|on\w+)=", re.IGNORECASE)


def policy(header: str) -> dict[str, str]:
    return dict(directive.strip().split(" ", 1) for directive in header.split(";"))


def check(response, *, status: int) -> None:
    assert response.status_code == status
    assert policy(response["Content-Security-Policy"]) == POLICY
    assert {name: response[name] for name in ("X-Content-Type-Options", "X-Frame-Options",
                                              "Referrer-Policy", "Cross-Origin-Opener-Policy")} == {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
    }  # fmt: skip
    assert INLINE.findall(response.content.decode()) == []


def test_pages_of_a_stranger(client):
    check(client.get(reverse("accounts:login")), status=200)
    check(client.get("/no/such/page/"), status=404)


def test_every_page_of_a_project(client):
    project = make_project()
    shape = Question("Are you over 18?", FinalAnswer(Answer.YES), FinalAnswer(Answer.NO))
    tree = make_tree(project, shape)
    client.force_login(make_member(project, Role.ADMIN))
    for page in PAGES_OF_A_PROJECT:
        check(client.get(reverse(page, args=[project.slug])), status=200)
    check(client.get(reverse("trees:detail", args=[project.slug, tree.tree_id])), status=200)
    check(client.get(reverse("trees:detail", args=[project.slug, "0" * 40])), status=404)


PAGES_OF_A_PROJECT = (
    "desk:project", "trees:list", "scenarios:utterances", "exports:list", "exports:import",
    "exports:splits", "exports:split_documents", "exports:card", "snippets:licences",
    "projects:settings", "projects:guidelines", "projects:people", "projects:log",
    "snippets:documents", "snippets:snippets", "snippets:upload", "snippets:paste",
    "snippets:segmentation", "snippets:numbers",
)  # fmt: skip


def test_pages_of_a_person(client):
    client.force_login(make_member(make_project(), Role.WORKER))
    for page in ("desk:home", "accounts:profile", "accounts:password"):
        check(client.get(reverse(page)), status=200)


def test_behind_https_cookies_are_secure_and_plain_http_is_sent_on(client, settings):
    settings.SECURE_SSL_REDIRECT = True
    answer = client.get(reverse("accounts:login"))
    assert (answer.status_code, answer["Location"]) == (301, "https://testserver/accounts/log-in/")
