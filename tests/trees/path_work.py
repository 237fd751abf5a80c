"""A worker's way along a path, through the services and through the pages. For several files."""

from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Project
from apps.trees.domain.tree import Answer, OpenBranch, Question
from apps.trees.models import Node, Tree
from apps.trees.services.paths import submit_path
from apps.trees.services.walks import ask, give_final_answer
from apps.workers.models import Assignment
from apps.workers.services.next_work import take_work
from tests.factories import make_document, make_question, make_snippet, make_tree
from tests.pages import words_of_main

RULE = "# Cargo bikes\n\nYou can borrow one if:\n\n* you are over 18\n* 👩\u200d👧 é have a helmet"
OVER_18 = Question("Are you over 18?", OpenBranch(), OpenBranch())
HTMX = {"HX-Request": "true", "HX-Target": "path"}


def growing_tree(project: Project, shape: Any = OVER_18, **fields: Any) -> Tree:
    """A tree on cargo bikes; the turns of its shape are nobody's. Each asks something else."""
    snippet = make_snippet(make_document(project, language="en"), text=RULE)
    number = project.trees.count()
    which = f" of kind {number}" if number else ""
    question = make_question(snippet, text=f"Can I borrow a cargo bike{which}?")
    return make_tree(project, shape, question=question, **fields)


def take(project: Project, worker: User) -> Assignment:
    work = take_work(project, worker=worker, now=timezone.now())
    assert work is not None
    return work


def walk(work: Assignment, *questions: str, answer: Answer = Answer.YES) -> None:
    """Asks these, gives the final answer, and submits."""
    now = timezone.now()
    for position, text in enumerate(questions):
        ask(work, position=position, text=text, span=None, now=now)
    give_final_answer(work, position=len(questions), answer=answer, now=now)
    submit_path(work, key=f"key {work.pk}", now=now)


def node(tree: Tree, place: str) -> Node:
    return Node.objects.live().get(tree=tree, place=place)


def path_address(work: Assignment, step: str = "") -> str:
    name = f"trees:path_{step}" if step else "trees:path"
    return reverse(name, args=[work.project.slug, work.pk])


def send(client: Client, work: Assignment, step: str = "", **data: Any) -> Any:
    """As a browser without scripts: the page that it ends up on."""
    return client.post(path_address(work, step), data, follow=True)


def send_htmx(client: Client, work: Assignment, step: str, **data: Any) -> Any:
    return client.post(path_address(work, step), data, headers=HTMX)


def shown(response: Any) -> str:
    assert response.status_code == 200
    return words_of_main(response.content.decode())
