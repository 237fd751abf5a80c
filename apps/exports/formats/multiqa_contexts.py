"""A tree as a context of MultiQA: its document, its questions, answers and spans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from apps.exports.formats.checks import is_url
from apps.exports.formats.rows import NodeRow, TreeRow, UtteranceRow
from apps.exports.formats.tokens import Token, token_range, tokenize
from apps.scenarios.domain.turns import turns_as_json
from apps.snippets.domain.folding import fold

PART = "text"


def context_of(tree: TreeRow, name: str) -> dict[str, Any]:
    document = _document(tree)
    spans = _Spans(tree, document["tokens"][PART])
    return {
        "id": f"{name}_{tree.tree_id}",
        "context": {"documents": [document]},
        "qas": [_qa(row, name, spans) for row in tree.utterances],
    }


def _document(tree: TreeRow) -> dict[str, Any]:
    titled = {"title": tree.title} if tree.title else {}
    addressed = {"url": tree.source_url} if is_url(tree.source_url) else {}
    parts = {**titled, PART: tree.snippet}
    return {
        **parts,
        **addressed,
        "metadata": {"tree_id": tree.tree_id, "source_url": tree.source_url},
        "tokens": {part: tokenize(text) for part, text in parts.items()},
    }


class _Spans:
    """Where the tree's follow-up questions come from in its rule text."""

    def __init__(self, tree: TreeRow, tokens: list[Token]) -> None:
        self._rule_text = tree.snippet
        self._tokens = tokens
        asked = [node for node in tree.nodes if node.kind == "question"]
        self._by_fold = {fold(node.text): node for node in reversed(asked) if _has_span(node)}
        self._by_text = {node.text: node for node in reversed(asked) if _has_span(node)}

    def of(self, question: str) -> dict[str, Any] | None:
        """The span of the question as an instance; none where nobody marked one."""
        node = self._by_text.get(question) or self._by_fold.get(fold(question))
        if node is None:
            return None
        start, end = node.span_start or 0, node.span_end or 0
        return {"doc_id": 0, "part": PART, "start_byte": start, "text": self._rule_text[start:end],
                "token_inds": token_range(self._tokens, start, end)}  # fmt: skip

    def supporting(self, questions: Iterable[str]) -> Iterator[dict[str, Any]]:
        for question in dict.fromkeys(questions):
            if span := self.of(question):
                del span["token_inds"]
                yield span


def _has_span(node: NodeRow) -> bool:
    return node.span_start is not None


def _qa(row: UtteranceRow, name: str, spans: _Spans) -> dict[str, Any]:
    question = model_input(row)
    told = [turn.follow_up_question for turn in (*row.history, *row.evidence)]
    return {
        "qid": f"{name}_q_{row.utterance_id}",
        "question": question,
        "question_tokens": tokenize(question),
        "supporting_context": list(spans.supporting(told)),
        "metadata": metadata_of(row),
        "answers": {"open-ended": open_ended(row.answer, spans.of(row.answer))},
    }


def model_input(row: UtteranceRow) -> str:
    """What a model reads besides the rule text, in one line."""
    scenario = f" Scenario: {row.scenario}" if row.scenario else ""
    told = "".join(
        f" Follow-up question: {turn.follow_up_question} Answer: {turn.follow_up_answer}"
        for turn in row.history
    )
    return " ".join(f"{row.question}{scenario}{told}".split())


def metadata_of(row: UtteranceRow) -> dict[str, Any]:
    return {
        "utterance_id": row.utterance_id,
        "tree_id": row.tree_id,
        "source_url": row.source_url,
        "question": row.question,
        "scenario": row.scenario,
        "history": turns_as_json(row.history),
        "evidence": turns_as_json(row.evidence),
        "answer": row.answer,
    }


def open_ended(answer: str, span: dict[str, Any] | None) -> dict[str, Any]:
    if answer == "Irrelevant":
        return {"cannot_answer": "yes"}
    single: dict[str, Any] = {"yesno": answer.lower()}
    if answer not in ("Yes", "No"):
        extractive = {"answer": span["text"], "instances": [span]} if span else None
        single = {"generated_text": answer} | ({"extractive": extractive} if extractive else {})
    return {"annotators_answer_candidates": [{"single_answer": single}]}
