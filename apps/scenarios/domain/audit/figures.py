"""The figures of an audit, each with what a release may usually reach and what one can do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from apps.scenarios.domain.audit.balance import majority
from apps.scenarios.domain.audit.crossing import (
    NEGATIVE_SCENARIO,
    in_two_splits,
    lent_to_another_split,
    near_in_two_splits,
)
from apps.scenarios.domain.audit.order import as_many_questions_as_items, asked_in_text_order
from apps.scenarios.domain.audit.overlap import copied_questions, irrelevant_by_overlap
from apps.scenarios.domain.audit.partial import PARTS, PartialModel
from apps.scenarios.domain.audit.rows import Row, Share, share
from apps.scenarios.domain.audit.shortcuts import find_shortcuts
from apps.snippets.domain.folding import fold
from apps.trees.domain.tree import Tree, paths, questions

NEAR = 0.8
"""From this cosine on two texts are nearly the same, unless the project says otherwise."""


@dataclass(frozen=True)
class AuditedTree:
    """A finished tree with its rule text and the number of its list items."""

    tree_id: str
    shape: Tree
    rule_text: str
    items: int
    split: str = ""

    @property
    def asked(self) -> int:
        """The number of different follow-up questions."""
        return len({question.folded for _, question in questions(self.shape)})


@dataclass(frozen=True)
class Figure:
    """One number of an audit. `value` is from 0 to 1, or None where there is nothing to measure;
    `hits` of `of` where it is a share. `usual` is what a release may reach unless the project
    says otherwise; None: it is shown only.
    """

    code: str
    label: str
    value: float | None
    advice: str
    usual: float | None = None
    hits: int | None = None
    of: int | None = None


def measure(
    rows: Sequence[Row],
    trees: Sequence[AuditedTree],
    models: Sequence[PartialModel],
    near: float = NEAR,
) -> list[Figure]:
    """All figures, as they are shown. From the cosine `near` on texts are nearly the same."""
    return [
        *_shortcut_figures(rows, trees),
        *_model_figures(rows, models),
        *_overlap_figures(rows, trees),
        *_order_figures(trees),
        *_crossing_figures(rows),
        *_near_figures(rows, trees, near),
    ]


def unmeasured() -> list[Figure]:
    """All figures that an audit can have, without values."""
    models = [PartialModel(name, 0.0, 0.0, ()) for name in PARTS]
    return [replace(figure, value=None, hits=None, of=None) for figure in measure([], [], models)]


def _of(code: str, label: str, found: Share, advice: str, usual: float | None = None) -> Figure:
    return Figure(code, label, found.value, advice, usual, found.hits, found.of)


def _shortcut_figures(rows: Sequence[Row], trees: Sequence[AuditedTree]) -> Iterator[Figure]:
    found = find_shortcuts(rows, [tree.shape for tree in trees])
    yield _of(
        "irrelevant_if_empty", "Irrelevant among utterances without history and scenario",
        found.irrelevant_if_empty,
        "Attach irrelevant questions to scenarios and histories, or draw fewer of them.", 0.75,
    )  # fmt: skip
    yield _of(
        "irrelevant_found", "Irrelevant utterances without history and scenario",
        found.irrelevant_found, "Attach irrelevant questions to scenarios and histories.",
    )  # fmt: skip
    yield _of(
        "last_answer", "Final answer that equals the last answer of the history",
        found.last_answer,
        "Ask for negated questions and for rules that mix “and” with “or”.", 0.8,
    )  # fmt: skip
    yield _of(
        "last_evidence", "Final answer that equals the last answer of the evidence",
        found.last_evidence, "Show turns in the middle of a path to writers of scenarios.", 0.9,
    )  # fmt: skip
    yield _of(
        "leaf_is_last_edge", "Leaves that give the answer on their last edge",
        found.leaf_is_last_edge, "Look for rules with “unless”; ask experts for more.", 0.9,
    )  # fmt: skip
    yield _of(
        "trees_of_last_edges", "Trees all of whose leaves give the answer on their last edge",
        found.trees_of_last_edges, "As above, tree by tree.",
    )  # fmt: skip


def _model_figures(rows: Sequence[Row], models: Sequence[PartialModel]) -> Iterator[Figure]:
    yield Figure("majority", "Most frequent label", majority(rows), "What a blind guess reaches.")
    for model in models:
        code = model.name.replace(" ", "_")
        yield Figure(
            f"micro_{code}", f"Model that sees only {model.name}: all utterances", model.micro,
            "Compare it with the most frequent label.",
        )  # fmt: skip
        yield Figure(
            f"macro_{code}", f"Model that sees only {model.name}: mean of the labels", model.macro,
            "See which utterances are easy without the rule, and collect more that are not.", 0.7,
        )  # fmt: skip


def _overlap_figures(rows: Sequence[Row], trees: Sequence[AuditedTree]) -> Iterator[Figure]:
    texts: Mapping[str, str] = {tree.tree_id: tree.rule_text for tree in trees}
    told = irrelevant_by_overlap([row for row in rows if row.tree in texts], texts)
    yield Figure(
        "irrelevant_by_overlap", "Irrelevant told by shared words alone", told.balanced_accuracy,
        "Prefer negatives of the same domain with many shared words.", 0.95,
    )  # fmt: skip
    yield _of(
        "copied_questions", "Scenarios that copy four words in a row from a question",
        copied_questions(rows), "Send them back: a scenario says it in other words.", 0.1,
    )  # fmt: skip


def _order_figures(trees: Sequence[AuditedTree]) -> Iterator[Figure]:
    in_order = [
        flag
        for tree in trees
        for flag in asked_in_text_order(
            [[turn.follow_up_question for turn in path] for path, _ in paths(tree.shape)],
            tree.rule_text,
        )
    ]
    yield _of(
        "text_order", "Pairs of questions asked in the order of the rule text", share(in_order),
        "Ask workers to begin where the rule decides most, not at its top.",
    )  # fmt: skip
    yield _of(
        "one_per_item", "Trees with as many questions as their rule has list items",
        as_many_questions_as_items((tree.asked, tree.items) for tree in trees),
        "Choose more snippets whose rule is not a list.",
    )  # fmt: skip


def _crossing_figures(rows: Sequence[Row]) -> Iterator[Figure]:
    yield _of(
        "scenarios_in_two_splits", "Scenarios that stand in two splits",
        in_two_splits(_scenarios(rows)),
        "Put their documents into one split, or drop one of them.", 0.0,
    )  # fmt: skip
    asked = ((turn.follow_up_question, row.split) for row in rows for turn in row.history)
    yield _of(
        "questions_in_two_splits", "Follow-up questions that stand in two splits",
        in_two_splits(asked),
        "Look at the pages of one domain that share their rules.", 0.2,
    )  # fmt: skip
    yield _of(
        "lent_scenarios", "Irrelevant scenarios that were written for a tree of another split",
        lent_to_another_split(rows),
        "Draw them anew within each split: in train, nobody should read those of dev and test.",
    )  # fmt: skip


def _near_figures(
    rows: Sequence[Row], trees: Sequence[AuditedTree], near: float
) -> Iterator[Figure]:
    rules = [(fold(tree.rule_text), tree.split) for tree in trees]
    one_split = "Put their documents into one split: pin one of them."
    yield _of(
        "rules_in_two_splits", "Rule texts that stand in two splits", in_two_splits(rules),
        one_split, 0.0,
    )  # fmt: skip
    yield _of(
        "near_rules_in_two_splits", "Rule texts with a near-duplicate in another split",
        near_in_two_splits(rules, near), one_split, 0.05,
    )  # fmt: skip
    yield _of(
        "near_scenarios_in_two_splits", "Scenarios with a near-duplicate in another split",
        near_in_two_splits(_scenarios(rows), near),
        "Ask for other words; look whether one person wrote them from a pattern.", 0.1,
    )  # fmt: skip


def _scenarios(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """Each with its split, but for those that were lent to other trees."""
    for row in rows:
        if row.scenario and row.kind != NEGATIVE_SCENARIO:
            yield row.scenario, row.split
