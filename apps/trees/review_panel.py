"""The forms of a tree page's panel: what an expert may do about the place that it shows."""

from collections.abc import Mapping
from typing import Any

from apps.trees.page import TreePage
from apps.trees.review_forms import (
    AnswerForm,
    CommentForm,
    GiveForm,
    SeenForm,
    TakeOutForm,
    WordingForm,
)


def panel_forms(page: TreePage, refused: Mapping[str, Any]) -> dict[str, Any]:
    """By name; those in `refused` take the place of empty ones."""
    forms = {**_forms(page), **refused}
    for name, form in refused.items():
        if isinstance(form, SeenForm):
            # What was typed stays; what the page shows now is what the next try is about.
            form.show_again(seen=_seen(page, name))
    return forms


def _seen(page: TreePage, name: str) -> str:
    return page.place.slot.question if name == "wording" else page.seen


def _forms(page: TreePage) -> dict[str, Any]:
    slot, node = page.place.slot, page.place.node
    comment = CommentForm(initial={"node_key": node.pk if node else None})
    if node is None:
        give = GiveForm(initial={"slot": slot.name}, project=page.tree.project)
        return {"give": give, "comment": comment}
    forms: dict[str, Any] = {
        "take_out": TakeOutForm(initial={"seen": page.seen}), "comment": comment,
    }  # fmt: skip
    if slot.question:
        forms["wording"] = WordingForm(initial={"seen": slot.question, "text": slot.question})
    else:
        forms["answer"] = AnswerForm(initial={"seen": page.seen, "answer": page.other_answer})
    return forms
