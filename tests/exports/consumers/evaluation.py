"""evaluate_predictions against other people's tokens, counts and accuracies.

The public evaluator of ShARC takes spaCy's tokens, and adds one to the matches of each order.
"""

import json
import math
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.exports.consumers.common import must


def evaluation_spacy(folder: Path) -> str:
    """ShARC's measures by spaCy's tokens, nltk's counts and scikit-learn's accuracies."""
    inside = folder / "evaluation"
    expected = json.loads((inside / "scores.json").read_text())
    said = {one["utterance_id"]: one["answer"]
            for one in json.loads((inside / "predictions.json").read_text())}  # fmt: skip
    gold_rows = json.loads((inside / "gold.json").read_text())
    tokenizer = import_module("spacy").blank("en").tokenizer
    pairs = [(words(tokenizer, one["answer"]), words(tokenizer, said[one["utterance_id"]]))
             for one in gold_rows]  # fmt: skip
    found = {**accuracies(pairs), **bleu_scores(pairs)}
    for name, value in found.items():
        must(f"{value:.4f}" == f"{expected[name]:.4f}", f"{name}: {value} is not {expected[name]}")
    shown = ", ".join(f"{name} {value:.4f}" for name, value in found.items())
    return f"{len(pairs):,} made-up predictions: {shown}, as evaluate_predictions has it"


def words(tokenizer: Any, answer: str) -> list[str]:
    return [part for token in tokenizer(answer) for part in token.text.lower().split()]


def label(answer: list[str]) -> str:
    return answer[0] if answer in (["yes"], ["no"], ["irrelevant"]) else "more"


def accuracies(pairs: list[tuple[list[str], list[str]]]) -> dict[str, float]:
    metrics = import_module("sklearn.metrics")
    right, predicted = ([label(pair[side]) for pair in pairs] for side in (0, 1))
    return {"micro_accuracy": metrics.accuracy_score(right, predicted),
            "macro_accuracy": metrics.balanced_accuracy_score(right, predicted)}  # fmt: skip


def bleu_scores(pairs: list[tuple[list[str], list[str]]]) -> dict[str, float]:
    """With one more match and one more possible match for each order (Lin and Och 2004)."""
    bleu = import_module("nltk.translate.bleu_score")
    ngrams = import_module("nltk.util").ngrams
    asked = [pair for pair in pairs if all(is_follow_up(one) for one in pair)]
    lengths = [sum(len(pair[side]) for pair in asked) for side in (0, 1)]
    logs, scores = [], {}
    for order in (1, 2, 3, 4):
        groups = [[Counter(ngrams(one, order)) for one in pair] for pair in asked]
        matches = sum((right & one).total() for right, one in groups)
        possible = sum(one.total() for _, one in groups)
        logs.append(math.log((matches + 1) / (possible + 1)))
        mean = math.exp(sum(logs) / order)
        scores[f"bleu_{order}"] = mean * bleu.brevity_penalty(*lengths)
    return scores


def is_follow_up(answer: list[str]) -> bool:
    return " ".join(answer) not in {"yes", "no", "more", "irrelevant"}
