"""How much there is in a project, step by step; derived, never stored.

Of utterances and scenarios those that belong to the dataset, here as on every page.
"""

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from apps.accounts.models import User
from apps.projects.models import Membership, Project
from apps.scenarios.models import Scenario, Utterance
from apps.snippets.models import Document, Question, Snippet
from apps.trees.models import Tree


def cards_of(user: User | AnonymousUser) -> QuerySet[Any]:
    """The user's projects, each with their role in it and what its card shows. One query."""
    memberships = Membership.objects.filter(project=OuterRef("pk"), user__in=[user.pk])
    projects = Project.objects.visible_to(user).annotate(role=Subquery(memberships.values("role")))
    waiting = _number_of(Snippet.objects.waiting_for_question(), "document__project")
    cards: QuerySet[Any] = _with_card_counts(projects).annotate(waiting_count=waiting)
    return cards.order_by("name", "pk")


def counts_of(project: Project) -> Any:
    """The project again, with what its steps show. One query."""
    questions = Question.objects.filter(state=Question.State.ACCEPTED)
    counted = _with_card_counts(Project.objects.filter(pk=project.pk)).annotate(
        snippet_count=_number_of(Snippet.objects.all(), "document__project"),
        question_count=_number_of(questions, "snippet__document__project"),
        scenario_count=_number_of(Scenario.objects.kept(), "tree__project"),
    )
    return counted.get()


def _with_card_counts(projects: QuerySet[Project]) -> QuerySet[Any]:
    return projects.annotate(
        document_count=_number_of(Document.objects.all(), "project"),
        tree_count=_number_of(Tree.objects.all(), "project"),
        finished_count=_number_of(Tree.objects.filter(state=Tree.State.FINISHED), "project"),
        utterance_count=_number_of(Utterance.objects.in_force(), "project"),
    )


def _number_of(rows: QuerySet[Any], project: str) -> Coalesce:
    """The number of `rows` of each project; `project` is their way to it."""
    # Rows and not keys: an index that begins with the project answers that alone.
    of_project = rows.filter(**{project: OuterRef("pk")}).order_by()
    number = of_project.values(project).annotate(number=Count("*")).values("number")
    return Coalesce(Subquery(number), 0)
