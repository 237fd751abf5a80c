"""The forms of the snippet bench: one for each step on the focused snippet."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.http import QueryDict

from apps.accounts.models import User
from apps.projects.fields import WordsField
from apps.snippets.domain.reshaping import Repeat, places_to_split
from apps.snippets.models import Snippet
from apps.snippets.services import bench

LONGEST_TEXT = 100_000
WORDS_OF_A_PLACE = 60


class StepForm(forms.Form):
    """`seen`: what the snippet was on the page; see services/bench.py."""

    # Without an id: a snippet has several of these forms on one page.
    seen = forms.CharField(widget=forms.HiddenInput(attrs={"id": False}), max_length=40)

    def take(self, snippet: Snippet, *, expert: User, now: datetime) -> None:
        """Does the step. Raises BenchError."""
        raise NotImplementedError

    def _common(self, expert: User, now: datetime) -> dict[str, Any]:
        return {"seen": self.cleaned_data["seen"], "expert": expert, "now": now}


class AcceptForm(StepForm):
    def take(self, snippet: Snippet, *, expert: User, now: datetime) -> None:
        bench.accept(snippet, **self._common(expert, now))


class ReopenForm(StepForm):
    def take(self, snippet: Snippet, *, expert: User, now: datetime) -> None:
        bench.reopen(snippet, **self._common(expert, now))


class MergeForm(StepForm):
    def take(self, snippet: Snippet, *, expert: User, now: datetime) -> None:
        bench.merge_with_next(snippet, **self._common(expert, now))


class DiscardForm(StepForm):
    reason = forms.ChoiceField(
        choices=Snippet.DiscardReason.choices,
        error_messages={
            "required": "Choose a reason.", "invalid_choice": "Choose one of the reasons.",
        },
    )  # fmt: skip
    note = WordsField(required=False, max_length=500, label="Note (for another reason)")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("reason") == Snippet.DiscardReason.OTHER and not cleaned.get("note"):
            self.add_error("note", "Say in a few words which other reason.")
        return cleaned

    def take(self, snippet: Snippet, *, expert: User, now: datetime) -> None:
        bench.discard(
            snippet, reason=self.cleaned_data["reason"], note=self.cleaned_data["note"],
            **self._common(expert, now),
        )  # fmt: skip


class EditForm(StepForm):
    """Has the snippet's key as prefix, so that drafts of several snippets go side by side."""

    text = WordsField(
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 8, "dir": "auto", "spellcheck": "true"}),
        label="Text of the snippet, in Markdown",
        error_messages={"required": "The text needs a word at least. To take it out, discard it."},
    )

    def clean_text(self) -> str:
        """Browsers send a line break as two characters; offsets count it as one."""
        text: str = self.cleaned_data["text"]
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def take(self, snippet: Snippet, *, expert: User, now: datetime) -> None:
        bench.edit_text(snippet, text=self.cleaned_data["text"], **self._common(expert, now))

    @staticmethod
    def draft_name(snippet_key: int) -> str:
        """Of the text field, and so of its draft."""
        return bench.draft_name(snippet_key)


class SplitForm(StepForm):
    """`at` is set by the script from the cursor; `place` is chosen from a list without it."""

    at = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput())
    place = forms.IntegerField(required=False, min_value=0, label="The second half begins with")
    repeat = forms.ChoiceField(
        choices=[
            (Repeat.CONTEXT.value, "repeats heading and lead-in"),
            (Repeat.NOTHING.value, "begins there, without them"),
        ],
        widget=forms.RadioSelect,
        label="The second half",
    )

    def __init__(self, *args: Any, snippet: Snippet, **options: Any) -> None:
        super().__init__(*args, **options)
        text = snippet.text
        self.fields["place"].widget = forms.Select(
            choices=[
                (place, " ".join(text[place : place + WORDS_OF_A_PLACE].split()))
                for place in places_to_split(text)
            ]
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("at") is None and cleaned.get("place") is None:
            self.add_error("place", "Choose where the second half begins.")
        return cleaned

    def take(self, snippet: Snippet, *, expert: User, now: datetime) -> None:
        at = self.cleaned_data["at"]
        bench.split_at(
            snippet, at=self.cleaned_data["place"] if at is None else at,
            repeat=Repeat(self.cleaned_data["repeat"]), **self._common(expert, now),
        )  # fmt: skip


class LeaveForm(forms.Form):
    reason = forms.CharField(required=False, max_length=500)


_FORMS: dict[str, type[StepForm]] = {
    "accept": AcceptForm, "reopen": ReopenForm, "merge": MergeForm, "discard": DiscardForm,
}  # fmt: skip


def form_for(action: str, snippet: Snippet, data: QueryDict | None = None, **initial: Any) -> Any:
    """The form of a step: empty, or with what was sent."""
    if action == "edit":
        return EditForm(data, prefix=str(snippet.pk), initial=initial)
    if action == "split":
        return SplitForm(data, snippet=snippet, initial=initial)
    return _FORMS[action](data, initial=initial)
