"""What goes no further in a project until somebody sees to it, each with where to do that."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.urls import reverse

from apps.projects.models import Project
from apps.scenarios.models import (
    Contradiction,
    Finding,
    Scenario,
    ScenarioFault,
    Utterance,
)
from apps.scenarios.verification_page import VERIFIED_SPLITS
from apps.trees.models import Tree


@dataclass(frozen=True)
class Stuck:
    """`words` go on after the number; `action` is on the button, `about` ends it for who hears."""

    count: int
    words: str
    url: str
    action: str
    about: str


@dataclass(frozen=True)
class _Line:
    step: str  # and part: where the number stands in the counts of the dashboard
    part: str
    one: str
    many: str
    page: str
    query: str
    about: str
    action: str = "Show"


_LINES = (
    _Line("stuck", "flagged", "tree waits for an expert", "trees wait for an expert",
          "trees:to_settle", "", "what waits for an expert", "Settle"),
    _Line("stuck", "contradictions", "report of turns that contradict each other",
          "reports of turns that contradict each other", "scenarios:scenario_list", "",
          "these reports", "Settle"),
    _Line("stuck", "disputed", "scenario in which checkers read something else than its writer was "
          "shown", "scenarios in which checkers read something else than their writers were shown",
          "scenarios:scenario_list", "?state=disputed", "these scenarios"),
    _Line("stuck", "faults", "scenario whose facts give no utterances",
          "scenarios whose facts give no utterances", "scenarios:text_checks", "",
          "these scenarios"),
    _Line("stuck", "findings", "answer that does not follow from its tree; a release waits for it",
          "answers that do not follow from their trees; a release waits for them",
          "scenarios:consistency", "?state=blocks", "these answers"),
    _Line("stuck", "unverified", "utterance of dev and test that an expert has to look at",
          "utterances of dev and test that an expert has to look at", "scenarios:verification",
          "", "these utterances", "Verify"),
    _Line("trees", Tree.State.GROWING, "tree with an open branch", "trees with an open branch",
          "trees:list", "?state=growing", "unfinished trees"),
    _Line("snippets", "proposed", "snippet that nobody has looked at",
          "snippets that nobody has looked at", "snippets:snippets", "?state=proposed",
          "these snippets"),
    _Line("scenarios", "without", "scenario without facts, so the rule gives no utterances for it",
          "scenarios without facts, so the rule gives no utterances for them",
          "scenarios:text_checks", "?reason=no+facts", "these scenarios"),
)  # fmt: skip


def stuck_rows(project: Project) -> Mapping[str, QuerySet[Any]]:
    """What is counted for this alone, by the names of the parts above."""
    scenarios = Scenario.objects.filter(tree__project=project)
    faults = ScenarioFault.objects.filter(scenario__tree__project=project)
    return {
        "flagged": Tree.objects.filter(project=project).flagged(),
        "contradictions": Contradiction.objects.open().filter(prompt__tree__project=project),
        "disputed": scenarios.filter(state=Scenario.State.DISPUTED),
        "faults": faults.exclude(reason=ScenarioFault.Reason.NO_FACTS),
        "findings": Finding.objects.blocking().filter(utterance__project=project),
    }


def unverified(project: Project) -> tuple[QuerySet[Any], Any]:
    """The trees of dev and test, and how to add up what experts have to look at.

    Tree by tree, which an index answers: on SQLite five times as fast as all utterances at once.
    """
    waits = Utterance.objects.filter(tree=OuterRef("pk")).to_verify().order_by()
    number = waits.values("tree").annotate(number=Count("*")).values("number")
    trees = Tree.objects.filter(
        project=project, question__snippet__document__split__in=VERIFIED_SPLITS
    )
    return trees, Sum(Coalesce(Subquery(number), 0))


def stuck_in(project: Project, counts: Mapping[str, Mapping[str, int]]) -> Iterator[Stuck]:
    """By the counts of the dashboard, by step and part."""
    for line in _LINES:
        if number := counts.get(line.step, {}).get(line.part, 0):
            words = line.one if number == 1 else line.many
            url = reverse(line.page, args=[project.slug]) + line.query
            yield Stuck(number, words, url, line.action, line.about)
