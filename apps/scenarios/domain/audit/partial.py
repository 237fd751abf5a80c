"""What a model reaches that sees only a part of the input: the less, the better for the dataset.

Logistic regression on TF-IDF, with folds grouped by tree: no tree is in training and test at once.
Macro is the mean over the classes that occur, as ShARC's evaluator has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.scenarios.domain.audit.rows import CLASSES, Row
from apps.snippets.domain.similarity import terms

FOLDS = 5

FLAGS = "flags"
PARTS: dict[str, Callable[[Row], str]] = {
    FLAGS: lambda row: _flags(row),
    "question": lambda row: row.question,
    "scenario": lambda row: row.scenario,
    "all but the rule": lambda row: " ".join(
        [row.question, row.scenario, *map(_turn_text, row.history), _flags(row)]
    ),
}
"""What each partial model sees, as text."""


def _turn_text(turn: Any) -> str:
    return f"{turn.follow_up_question} {turn.follow_up_answer}"


def _flags(row: Row) -> str:
    """The history's answers, and whether there is a scenario, as words."""
    answers = [f"flag{number}{turn.follow_up_answer}" for number, turn in enumerate(row.history)]
    last = [f"flaglast{row.history[-1].follow_up_answer}"] if row.history else ["flagnohistory"]
    return " ".join([*answers, *last, "flagscenario" if row.scenario else "flagnoscenario"])


@dataclass(frozen=True)
class PartialModel:
    """How right a partial model is: micro and macro accuracy, and per row."""

    name: str
    micro: float
    macro: float
    right: tuple[bool, ...]


def run_partial_models(rows: Sequence[Row]) -> list[PartialModel]:
    """Each partial model, cross-validated; none with fewer than two trees or labels."""
    labels = [row.label for row in rows]
    if len({row.tree for row in rows}) < 2 or len(set(labels)) < 2:
        return []
    return [_run(name, [part(row) for row in rows], rows, labels) for name, part in PARTS.items()]


def _run(name: str, texts: list[str], rows: Sequence[Row], labels: list[str]) -> PartialModel:
    guessed = _cross_validate(texts, labels, [row.tree for row in rows])
    right = tuple(guess == label for guess, label in zip(guessed, labels, strict=True))
    return PartialModel(name, sum(right) / len(right), macro_accuracy(labels, right), right)


def _cross_validate(texts: list[str], labels: list[str], trees: list[str]) -> list[str]:
    # Take a second to import, and only this function needs them.
    import numpy as np  # noqa: PLC0415
    from sklearn.dummy import DummyClassifier  # noqa: PLC0415
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    from sklearn.model_selection import GroupKFold  # noqa: PLC0415

    guessed = np.empty(len(texts), dtype=object)
    all_texts, all_labels = np.array(texts, dtype=object), np.array(labels, dtype=object)
    folds = GroupKFold(n_splits=min(FOLDS, len(set(trees))))
    for train, test in folds.split(all_texts, groups=trees):
        known = all_labels[train]
        has_words = any(terms(text) for text in all_texts[train])
        if len(set(known)) < 2 or not has_words:
            model: Any = DummyClassifier().fit(np.zeros((len(train), 1)), known)
            guessed[test] = model.predict(np.zeros((len(test), 1)))
            continue
        vectorizer = TfidfVectorizer(analyzer=terms, sublinear_tf=True)
        model = LogisticRegression(C=10.0, max_iter=1000)
        model.fit(vectorizer.fit_transform(all_texts[train]), known)
        guessed[test] = model.predict(vectorizer.transform(all_texts[test]))
    return [str(guess) for guess in guessed]


def macro_accuracy(labels: Sequence[str], right: Sequence[bool]) -> float:
    """The mean of the accuracy on each label that occurs."""
    of_label = [
        [hit for label, hit in zip(labels, right, strict=True) if label == one] for one in CLASSES
    ]
    shares = [sum(hits) / len(hits) for hits in of_label if hits]
    return sum(shares) / len(shares)


def hard_rows(models: Sequence[PartialModel], rows: Sequence[Row]) -> list[str]:
    """The ids of utterances that no partial model gets right."""
    return [
        row.utterance_id
        for place, row in enumerate(rows)
        if models and not any(model.right[place] for model in models)
    ]
