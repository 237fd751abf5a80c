"""The shape of what workers send from the page of a path and of a check."""

from typing import Any
from uuid import uuid4

from django import forms

from apps.snippets.domain.folding import fold
from apps.trees.domain.tree import Answer
from apps.trees.models import NodeCheck
from apps.trees.services.checks import Rejection
from apps.workers.forms import SecondsForm

LONGEST_QUESTION = 1000
LONGEST_PATH = 100  # far above the deepest tree


def new_key() -> str:
    """One per form that is shown: a submit that is sent twice counts once."""
    return uuid4().hex


class StepForm(SecondsForm):
    """`position` is the number of the step that the page was at."""

    position = forms.IntegerField(min_value=0, max_value=LONGEST_PATH)


class AskForm(StepForm):
    """`span` is what was selected, as "12-40" in code points; without scripts, the words are
    copied into `words` instead."""

    text = forms.CharField(
        label="Your question",
        required=False,  # the service has a sentence for it
        max_length=LONGEST_QUESTION,
        error_messages={
            "max_length": "A question has at most %(limit_value)d characters; "
            "this one has %(show_value)d."
        },
    )
    span = forms.RegexField(
        r"^\d{1,9}-\d{1,9}$",
        required=False,
        error_messages={"invalid": "Select the words of the rule text anew."},
    )
    words = forms.CharField(required=False, max_length=10_000)

    def __init__(self, data: Any = None, *, rule_text: str, initial: Any = None) -> None:
        self.rule_text = rule_text
        super().__init__(data, initial=initial)

    def clean_text(self) -> str:
        return " ".join(str(self.cleaned_data["text"]).split())

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        words = cleaned.get("words")
        if words and not cleaned.get("span"):
            start = self.rule_text.find(words)
            if start < 0:
                self.add_error("words", "These words are not in the rule text; copy them from it.")
            cleaned["span"] = f"{start}-{start + len(words)}"
        return cleaned

    def asked(self) -> dict[str, Any]:
        """What the service wants: the span as two numbers, or None."""
        start, _, end = self.cleaned_data["span"].partition("-")
        asked = {name: self.cleaned_data[name] for name in ("position", "text")}
        return {**asked, "span": (int(start), int(end)) if start else None}


class UndoForm(StepForm):
    """`text` stood in the field when the turn before it was taken back."""

    text = forms.CharField(required=False, strip=False)


class AnswerForm(UndoForm):
    answer = forms.TypedChoiceField(
        choices=[(answer.value, answer.value) for answer in Answer],
        coerce=Answer,
        error_messages={"required": "Answer with Yes or with No."},
    )


class KeyForm(SecondsForm):
    key = forms.CharField(max_length=64, initial=new_key)


class ReasonForm(KeyForm):
    """Why a turn is wrong."""

    reason = forms.ChoiceField(
        label="What is wrong with it?",
        choices=NodeCheck.Reason.choices,
        error_messages={"required": "Choose what is wrong with it."},
    )
    note = forms.CharField(
        label="More about it, for who wrote it (may stay empty)",
        required=False,
        max_length=500,
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        is_other = cleaned.get("reason") == NodeCheck.Reason.OTHER
        if is_other and not fold(cleaned.get("note", "")):
            self.add_error("note", "Say in words what is wrong with it.")
        return cleaned

    def rejection(self) -> Rejection:
        return Rejection(
            NodeCheck.Reason(self.cleaned_data["reason"]), self.cleaned_data["note"].strip()
        )


class RejectForm(ReasonForm):
    """`turn` is the key of the turn, one of `turns`."""

    turn = forms.TypedChoiceField(
        label="Which turn is wrong?",
        coerce=int,
        error_messages={
            "required": "Choose the turn that is wrong.",
            "invalid_choice": "This turn is not on the path any more. Choose one of these.",
        },
    )
    field_order = ("turn", "reason", "note")

    def __init__(self, data: Any = None, *, turns: list[int], initial: Any = None) -> None:
        super().__init__(data, initial=initial)
        self.fields["turn"].choices = [(key, str(key)) for key in turns]  # type: ignore[attr-defined]
