"""All that a project's negatives are drawn from, read once: its finished trees and scenarios."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Any

from django.db.models import QuerySet

from apps.projects.models import Project
from apps.scenarios.domain.negatives.pool import Candidate, Pool
from apps.scenarios.models import Scenario
from apps.snippets.domain.folding import fold
from apps.snippets.domain.languages import primary
from apps.trees.models import Node, Tree


class Source:
    """The pool of a project, and the keys of its trees and scenarios in the pool's order."""

    def __init__(
        self, project: Project, *, texts: bool = False, places: bool = False, splits: bool = False
    ) -> None:
        """`texts` of scenarios are needed to draw hard ones, `places` to attach histories. With
        `splits`, only trees of one split lend to each other."""
        self.has_splits = splits
        self.keys = array("q")
        self.questions = array("q")
        self.texts: list[str] = []
        self.scenarios = array("q")
        nodes = Node.objects.live().filter(tree__project=project)
        trees = list(self._trees(project, _follow_ups(nodes), _places(nodes) if places else {}))
        scenario_trees, scenario_texts = self._read_scenarios(project, texts=texts)
        self.pool = Pool(trees, scenario_trees, scenario_texts)

    def _trees(
        self, project: Project, follow_ups: dict[int, str], places: dict[int, tuple[str, ...]]
    ) -> Iterator[Candidate]:
        trees = Tree.objects.finished().filter(project=project).order_by("tree_id")
        rows = trees.values_list(
            "pk", "tree_id", "question", "question__text", "question__snippet__text",
            "question__snippet__document__source_url", "question__snippet__document__domain",
            "question__snippet__document__split", "question__snippet__document__language",
        )  # fmt: skip
        for key, tree_id, question, text, rule_text, url, host, split, said in rows.iterator():
            self.keys.append(key)
            self.questions.append(question)
            self.texts.append(text)
            yield Candidate(
                tree_id, url, fold(text), follow_ups.pop(key, ""), host, rule_text,
                places.pop(key, ()), split if self.has_splits else "",
                primary(said or project.language),
            )  # fmt: skip

    def _read_scenarios(
        self, project: Project, *, texts: bool
    ) -> tuple[Sequence[int], Sequence[str]]:
        place_of = self.place_of_tree
        trees, said = array("l"), []
        scenarios = Scenario.objects.in_force().filter(
            tree__project=project, tree__state=Tree.State.FINISHED
        )
        columns = ("pk", "tree_id", *(["text"] if texts else []))
        rows = scenarios.order_by("tree__tree_id", "text_sha1").values_list(*columns)
        for key, tree, *text in rows.iterator():
            if tree in place_of:  # it may have been finished since the trees were read
                self.scenarios.append(key)
                trees.append(place_of[tree])
                said += text
        return trees, said

    @cached_property
    def place_of_tree(self) -> dict[int, int]:
        return {key: place for place, key in enumerate(self.keys)}

    @cached_property
    def place_of_question(self) -> dict[int, int]:
        return {question: place for place, question in enumerate(self.questions)}

    def numbers_of_scenarios(self, keys: Collection[int]) -> dict[int, int]:
        """The numbers in the pool of those of these scenarios that it has."""
        # Comes with scikit-learn, and only a run that goes on with an earlier one needs it.
        import numpy as np  # noqa: PLC0415

        if not keys or not len(self.scenarios):
            return {}
        order, known = self._scenarios_by_key
        asked = np.fromiter(keys, dtype=np.int64)
        found = np.minimum(np.searchsorted(known, asked), len(known) - 1)
        here = known[found] == asked
        return dict(zip(asked[here].tolist(), order[found[here]].tolist(), strict=True))

    @cached_property
    def _scenarios_by_key(self) -> tuple[Any, Any]:
        import numpy as np  # noqa: PLC0415 - as above

        keys = np.asarray(self.scenarios)
        order = np.argsort(keys)
        return order, keys[order]


def _follow_ups(nodes: QuerySet[Node]) -> dict[int, str]:
    """Of each tree all follow-up questions, a line each."""
    lines: dict[int, list[str]] = defaultdict(list)
    asked = nodes.filter(kind=Node.Kind.QUESTION).order_by("tree", "place")
    for tree, text in asked.values_list("tree_id", "text").iterator():
        lines[tree].append(text)
    return {tree: "\n".join(some) for tree, some in lines.items()}


def _places(nodes: QuerySet[Node]) -> dict[int, tuple[str, ...]]:
    """Of each tree the places below its root."""
    places: dict[int, list[str]] = defaultdict(list)
    below = nodes.exclude(place="").order_by("tree", "place")
    for tree, place in below.values_list("tree_id", "place").iterator():
        places[tree].append(place)
    return {tree: tuple(some) for tree, some in places.items()}
