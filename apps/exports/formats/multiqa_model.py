"""The strict model of MultiQA's lines: fields, counts, and offsets that find their texts."""

from __future__ import annotations

import json
from typing import Any

from apps.exports.formats.checks import (
    Check,
    FieldError,
    Increasing,
    any_text,
    boolean,
    hex40,
    list_of,
    number,
    object_of,
    one_of,
    path_of,
    same,
    text,
    turns,
    url,
)
from apps.exports.formats.multiqa_contexts import PART, model_input, open_ended
from apps.exports.formats.rows import UtteranceRow
from apps.exports.formats.tokens import token_range

_TEXTS = (
    "dataset_name", "version", "flavor", "split", "dataset_url", "license", "data_source",
    "context_answer_detection_source", "tokenization_source", "text_type", "readme",
    "multiqa_version",
)  # fmt: skip
_COUNTS = ("number_of_qas", "number_of_qas_with_gold_answers", "number_of_contexts", "file_num")
_HEADER = object_of({"header": object_of({
    **dict.fromkeys(_TEXTS, any_text), **dict.fromkeys(_COUNTS, number),
    "full_schema": object_of({}), "next_file_exists": boolean,
})})  # fmt: skip


def _token(value: Any, field: str) -> None:
    if not isinstance(value, list) or list(map(type, value)) != [str, int]:
        raise FieldError(field, "must be a text and where it begins")


_TOKENS = list_of(_token)
_SUPPORT: dict[str, Check] = {
    "doc_id": one_of(0), "part": one_of(PART), "start_byte": number, "text": text,
}  # fmt: skip
_INSTANCE = object_of({**_SUPPORT, "token_inds": list_of(number)})
_EXTRACTIVE = object_of({"answer": text, "instances": list_of(_INSTANCE)})
_SINGLE = object_of(
    {}, {"yesno": one_of("yes", "no"), "generated_text": text, "extractive": _EXTRACTIVE}
)
_OPEN_ENDED = object_of({}, {
    "cannot_answer": one_of("yes"),
    "annotators_answer_candidates": list_of(object_of({"single_answer": _SINGLE})),
})  # fmt: skip
_QA = object_of({
    "qid": text, "question": text, "question_tokens": _TOKENS,
    "supporting_context": list_of(object_of(_SUPPORT)),
    "metadata": object_of({
        "utterance_id": hex40, "tree_id": hex40, "source_url": text, "question": text,
        "scenario": any_text, "history": turns, "evidence": turns, "answer": text,
    }),
    "answers": object_of({"open-ended": _OPEN_ENDED}),
})  # fmt: skip
_DOCUMENT = object_of(
    {PART: text, "metadata": object_of({"tree_id": hex40, "source_url": text}),
     "tokens": object_of({PART: _TOKENS}, {"title": _TOKENS})},
    {"title": text, "url": url},
)  # fmt: skip
_CONTEXT = object_of({
    "id": text, "context": object_of({"documents": list_of(_DOCUMENT)}), "qas": list_of(_QA),
})  # fmt: skip


class Counts:
    """What the header says of the contexts that follow it; also their order."""

    def __init__(self) -> None:
        self.contexts = 0
        self.qas = 0
        self.order = Increasing("id")

    def add(self, qas: int) -> None:
        self.contexts += 1
        self.qas += qas

    def compare(self, header: dict[str, Any]) -> None:
        same(header["number_of_contexts"], self.contexts, "header.number_of_contexts")
        for key in ("number_of_qas", "number_of_qas_with_gold_answers"):
            same(header[key], self.qas, f"header.{key}")


def check_header(value: Any, name: str, split: str) -> dict[str, Any]:
    _HEADER(value, "")
    header: dict[str, Any] = value["header"]
    expected = {"dataset_name": name, "split": split, "multiqa_version": "0.1.0",
                "file_num": 1, "next_file_exists": False}  # fmt: skip
    for key, one in expected.items():
        same(header[key], one, f"header.{key}")
    return header


def check_context(value: Any, name: str, counts: Counts) -> None:
    """Raises FieldError. Counts the context."""
    _CONTEXT(value, "")
    documents = value["context"]["documents"]
    if len(documents) != 1:
        raise FieldError("context.documents", f"must be one, not {len(documents)}")
    (document,) = documents
    _check_document(document)
    tree_id = document["metadata"]["tree_id"]
    same(value["id"], f"{name}_{tree_id}", "id")
    counts.order.check(value["id"])
    counts.add(len(value["qas"]))
    order = Increasing("qid")
    for index, qa in enumerate(value["qas"]):
        try:
            _check_qa(qa, name, document, tree_id)
            order.check(qa["qid"])
        except FieldError as error:
            raise FieldError("", f"qas[{index}].{error}") from None


def _check_document(document: dict[str, Any]) -> None:
    parts = {part for part in (PART, "title") if part in document}
    if {*document["tokens"]} != parts:
        raise FieldError("context.documents[0].tokens", "must be those of title and text")
    for part in parts:
        field = f"context.documents[0].tokens.{part}"
        check_tokens(document["tokens"][part], document[part], field)


def check_tokens(tokens: list[Any], whole: str, field: str) -> None:
    """Each token stands where it says, after the one before; none is white space."""
    end = 0
    for index, (token, start) in enumerate(tokens):
        if start < end or whole[start : start + len(token)] != token or not token.strip():
            raise FieldError(f"{field}[{index}]", f"the text has no “{token}” at {start}")
        if whole[end:start].strip():
            raise FieldError(f"{field}[{index}]", "something of the text is in no token before it")
        end = start + len(token)
    if whole[end:].strip():
        raise FieldError(field, "the end of the text is in no token")


def _check_qa(qa: dict[str, Any], name: str, document: dict[str, Any], tree_id: str) -> None:
    row = _row(qa["metadata"], document)
    same(qa["qid"], f"{name}_q_{row.utterance_id}", "qid")
    same(row.tree_id, tree_id, "metadata.tree_id")
    same(qa["question"], model_input(row), "question")
    check_tokens(qa["question_tokens"], qa["question"], "question_tokens")
    for index, support in enumerate(qa["supporting_context"]):
        _check_span(support, document, f"supporting_context[{index}]")
    field = "answers.open-ended"
    found = qa["answers"]["open-ended"]
    span = _first_span(found)
    if span is not None:
        _check_span(span, document, f"{field}.extractive")
        inds = token_range(document["tokens"][PART], span["start_byte"], _end(span))
        same(span["token_inds"], inds, f"{field}.extractive.token_inds")
    expected = open_ended(row.answer, span)
    if found != expected:
        raise FieldError(field, f"must be {json.dumps(expected, ensure_ascii=False)[:200]}")


def _first_span(found: dict[str, Any]) -> dict[str, Any] | None:
    for candidate in found.get("annotators_answer_candidates", []):
        extractive = candidate["single_answer"].get("extractive", {"instances": []})
        for instance in extractive["instances"]:
            span: dict[str, Any] = instance
            return span
    return None


def _check_span(span: dict[str, Any], document: dict[str, Any], field: str) -> None:
    if document[PART][span["start_byte"] : _end(span)] != span["text"]:
        raise FieldError(f"{field}.text", f"is not in the rule text at {span['start_byte']}")


def _end(span: dict[str, Any]) -> int:
    return int(span["start_byte"]) + len(span["text"])


def rows_of(value: dict[str, Any]) -> tuple[UtteranceRow, ...]:
    (document,) = value["context"]["documents"]
    return tuple(_row(qa["metadata"], document) for qa in value["qas"])


def _row(metadata: dict[str, Any], document: dict[str, Any]) -> UtteranceRow:
    return UtteranceRow(
        metadata["utterance_id"], metadata["tree_id"], metadata["source_url"], document[PART],
        metadata["question"], metadata["scenario"], metadata["answer"],
        path_of(metadata["history"]), path_of(metadata["evidence"]),
    )  # fmt: skip
