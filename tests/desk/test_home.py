"""Home, and the frame around a project's pages."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.template import Context, Template
from django.urls import reverse

from apps.projects.models import Role
from apps.trees.domain.tree import Answer, FinalAnswer, Question
from tests.factories import (
    make_document,
    make_member,
    make_project,
    make_question,
    make_snippet,
    make_tree,
    make_user,
)
from tests.pages import words

HOME = reverse("desk:home")
ASK = Question("Are you over 18?", FinalAnswer(Answer.YES), FinalAnswer(Answer.NO))


def _steps(answer):
    return [
        " ".join(part.split("</li>")[0].replace("</a>", "").replace("</span>", "").split())
        for part in answer.text.split('aria-label="Steps"')[1].split("</nav>")[0].split("<li>")[1:]
    ]


def test_home_shows_the_projects_of_a_person_with_role_and_numbers(db, client):
    person = make_user()
    mine, theirs, none_of_mine = (make_project(name=name) for name in ("B", "A", "C"))
    make_member(mine, Role.ADMIN, person)
    make_member(theirs, Role.WORKER, person)
    make_tree(mine, ASK)
    make_tree(mine)
    client.force_login(person)

    answer = client.get(HOME)

    cards = [
        (card, role, card.document_count, card.tree_count, card.finished_count)
        for card, role in answer.context["cards"]
    ]
    assert cards == [(theirs, Role.WORKER, 0, 0, 0), (mine, Role.ADMIN, 2, 2, 1)]
    assert "1 of 2 trees finished" in answer.text
    assert none_of_mine.slug not in answer.text


def test_home_says_how_many_snippets_wait_for_a_question(db, client):
    project = make_project()
    make_snippet(make_document(project))
    make_question(make_snippet(make_document(project)))
    expert = make_member(project, Role.EXPERT)
    make_member(make_project(), Role.EXPERT, expert)
    client.force_login(expert)

    home = client.get(HOME).text

    assert home.count("for a first question") == 1
    assert "1 snippet waits for a first question Write questions" in words(home)
    client.force_login(make_member(project, Role.WORKER))
    assert "first question" not in client.get(HOME).text


def test_home_counts_nothing_for_a_worker(db, client):
    project = make_project()
    make_tree(project, ASK)
    client.force_login(make_member(project, Role.WORKER))

    assert "Trees" not in client.get(HOME).text


@pytest.mark.parametrize(
    ("is_staff", "says", "offers"),
    [(True, "No projects yet", True), (False, "You are not in a project yet", False)],
)
def test_an_empty_home_says_what_to_do(db, client, is_staff, says, offers):
    client.force_login(make_user(is_staff=is_staff))

    answer = client.get(HOME)

    assert says in answer.text
    assert (reverse("projects:new") in answer.text) is offers


def test_home_takes_as_many_queries_for_three_projects_as_for_one(
    db, client, django_assert_num_queries
):
    person = make_user()
    client.force_login(person)
    make_member(make_project(), Role.ADMIN, person)
    with django_assert_num_queries(4):
        client.get(HOME)
    for _ in range(2):
        make_member(make_project(), Role.EXPERT, person)
    with django_assert_num_queries(4):
        client.get(HOME)


def test_the_steps_count_this_project_alone(db, client):
    project, other = make_project(), make_project()
    make_tree(project, ASK)
    make_tree(project)
    make_tree(other, ASK)
    client.force_login(make_member(project, Role.ADMIN))

    answer = client.get(reverse("projects:people", args=[project.slug]))

    base = project.get_absolute_url()
    assert _steps(answer)[:4] == [
        f'<a href="{base}documents/">Documents <span class="count">2',
        f'<a href="{base}snippets/">Snippets <span class="count">2',
        f'<a href="{base}questions/">Questions <span class="count">2',
        f'<a href="{base}trees/">Trees <span class="count">1/2',
    ]
    people = reverse("projects:people", args=[project.slug])
    assert _steps(answer)[6] == f'<a href="{people}" aria-current="page">People'
    assert len(_steps(answer)) == 8


def test_an_expert_sees_no_steps_that_are_the_admins(db, client):
    project = make_project()
    client.force_login(make_member(project, Role.EXPERT))

    answer = client.get(reverse("projects:guidelines", args=[project.slug]))

    assert len(_steps(answer)) == 6
    for name in ("projects:people", "projects:settings", "projects:log", "exports:list"):
        assert reverse(name, args=[project.slug]) not in answer.text


def test_a_worker_sees_no_counts_and_no_search(db, client):
    project = make_project()
    make_tree(project, ASK)
    client.force_login(make_member(project, Role.WORKER))

    answer = client.get(reverse("projects:guidelines", args=[project.slug]))

    assert 'aria-label="Steps"' not in answer.text
    assert 'role="search"' not in answer.text


def test_the_switch_lists_a_persons_own_projects(db, client):
    person = make_user()
    here, there = make_project(name="Here"), make_project(name="There")
    hidden = make_project(name="Hidden")
    for project in (here, there):
        make_member(project, Role.EXPERT, person)
    client.force_login(person)

    answer = client.get(reverse("projects:guidelines", args=[here.slug]))

    assert there.get_absolute_url() in answer.text
    assert f'href="{here.get_absolute_url()}" aria-current="true"' in answer.text
    assert hidden.name not in answer.text


@pytest.mark.parametrize(
    ("moment", "html"),
    [
        (
            datetime(2026, 11, 3, 9, 5, 7, tzinfo=UTC),
            '<time datetime="2026-11-03T09:05:07+00:00" data-local>3 Nov 2026, 09:05 UTC</time>',
        ),
        (
            datetime(2026, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=13))),
            '<time datetime="2025-12-31T11:30:00+00:00" data-local>31 Dec 2025, 11:30 UTC</time>',
        ),
        (None, ""),
    ],
)
def test_a_time_is_one_moment_with_its_zone_and_says_utc(moment, html):
    template = Template("{% load studio %}{% local_time moment %}")

    assert template.render(Context({"moment": moment})) == html


def test_the_page_of_a_broken_server_needs_no_database_and_no_request():
    page = Template('{% include "500.html" %}').render(Context())

    assert "Something went wrong inside the studio" in page
    assert 'data-theme="auto"' in page
