"""Measures files that models have written, and how well words alone find a response."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from apps.exports.domain.evaluation import Scores, evaluate
from apps.exports.domain.retrieval import Corpus, Example, accuracy
from apps.exports.errors import ExportFaultError
from apps.exports.formats.checks import FieldError, FormatError, any_text, text
from apps.exports.formats.conversational import Example as Found
from apps.exports.formats.files import locating
from apps.exports.formats.json_items import JsonError, read_items
from apps.exports.formats.registry import FORMATS


def evaluate_predictions(gold: Path, predictions: Path) -> Scores:
    """Raises ExportFaultError, also where an utterance has no prediction, or two."""
    expected, said = _answers(gold), _answers(predictions)
    for utterance_id in expected:
        if utterance_id not in said:
            raise ExportFaultError(f"{predictions}: has no answer for {utterance_id}")
    if not expected:
        raise ExportFaultError(f"{gold}: holds no utterances")
    return evaluate((answer, said[key]) for key, answer in expected.items())


def _answers(path: Path) -> dict[str, str]:
    answers: dict[str, str] = {}
    for where, value in _items(path):
        try:
            with locating(str(path), where):
                _check(value, answers)
        except FormatError as error:
            raise ExportFaultError(str(error)) from error
        answers[value["utterance_id"]] = value["answer"]
    return answers


def _items(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        with path.open("rb") as stream:
            yield from read_items(stream)
    except OSError as error:
        raise ExportFaultError(f"{path}: {error.strerror}") from error
    except JsonError as error:
        raise ExportFaultError(f"{path}: {error}") from error


def _check(value: Any, answers: dict[str, str]) -> None:
    if not isinstance(value, dict):
        raise FieldError("", "must be an object with utterance_id and answer")
    text(value.get("utterance_id"), "utterance_id")
    any_text(value.get("answer"), "answer")
    if value["utterance_id"] in answers:
        raise FieldError("utterance_id", "has an answer before, too")


def evaluate_responses(folder: Path, *, seed: int) -> dict[str, dict[str, float | None]]:
    """1-of-100 accuracy by split and method. Raises ExportFaultError."""
    by_split: dict[str, list[Example]] = {}
    try:
        for name in ("conversational-json", "conversational-tfrecord"):
            one = FORMATS[name]
            if any(next(folder.glob(mark), None) for mark in one.MARKS):
                for found in one.read(folder):
                    by_split.setdefault(found.split, []).append(_example(found.value))
                break
    except FormatError as error:
        raise ExportFaultError(str(error)) from error
    if not by_split:
        raise ExportFaultError(f"{folder}: holds no conversational examples")
    return {split: _measures(examples, seed) for split, examples in by_split.items()}


def _example(value: Any) -> Example:
    example: Found = value
    return example["context"], example["response"]


def _measures(examples: list[Example], seed: int) -> dict[str, float | None]:
    corpus = Corpus(response for _, response in examples)
    methods = {"TF-IDF": corpus.tf_idf, "BM25": corpus.bm25}
    return {name: accuracy(examples, weigh, seed) for name, weigh in methods.items()}


def as_json(scores: Scores) -> str:
    bleu = {f"bleu_{order}": score for order, score in enumerate(scores.bleu, 1)}
    value = {"count": scores.count, "micro_accuracy": scores.micro, "follow_ups": scores.follow_ups,
             "macro_accuracy": scores.macro, "class_accuracy": scores.by_class, **bleu}  # fmt: skip
    return json.dumps(value, indent=2)
