"""The shape of what experts send about utterances, and what they read when it is wrong."""

from collections.abc import Mapping
from typing import Any

from django import forms

from apps.projects.models import Split
from apps.scenarios.domain.corrections import Parts
from apps.scenarios.domain.turns import TURN_KEYS
from apps.scenarios.models import Finding, FindingQuerySet, ScenarioFault, Utterance
from apps.snippets.domain.folding import fold
from apps.trees.domain.tree import Answer, Path, Turn
from apps.trees.models import ANSWERS
from apps.workers.forms import DraftForm

LONGEST_REASON = 500
MOST_TURNS = 100
_WORD = {"dir": "auto", "autocomplete": "off"}


class SeenForm(forms.Form):
    """`seen` is the version of the utterance that stood on the page."""

    seen = forms.IntegerField(min_value=1, widget=forms.HiddenInput)


class WhyForm(SeenForm):
    """A step that a waiver goes with where the answer does not follow."""

    why = forms.CharField(
        label="Why it stays though its answer does not follow",
        required=False,
        max_length=LONGEST_REASON,
        widget=forms.TextInput(attrs=_WORD),
    )

    def clean_why(self) -> str:
        why = str(self.cleaned_data["why"])
        if why and not fold(why):
            raise forms.ValidationError("Say in words why it stays.")
        return why


class DropForm(SeenForm):
    REASONS = (
        "The scenario does not fit the rule.",
        "The rule text cannot answer it.",
        "It says the same as another one.",
    )

    reason = forms.CharField(
        label="Another reason",
        max_length=LONGEST_REASON,
        widget=forms.TextInput(attrs=_WORD),
        error_messages={"required": "Say why it is dropped."},
    )

    def clean_reason(self) -> str:
        reason = str(self.cleaned_data["reason"])
        if not fold(reason):
            raise forms.ValidationError("Say in words why it is dropped.")
        return reason


class TurnForm(forms.Form):
    """One row; an empty question is no turn."""

    follow_up_question = forms.CharField(
        label="Follow-up question",
        required=False,
        max_length=2000,
        widget=forms.TextInput(attrs={**_WORD, "list": "questions"}),
    )
    follow_up_answer = forms.ChoiceField(
        label="Answer", required=False, choices=[("", "—"), *ANSWERS]
    )

    def clean(self) -> dict[str, Any]:
        super().clean()
        question = self.cleaned_data.get("follow_up_question", "")
        answer = self.cleaned_data.get("follow_up_answer", "")
        if fold(question) and not answer:
            self.add_error("follow_up_answer", "Choose Yes or No, or empty the question.")
        return self.cleaned_data

    @property
    def turn(self) -> Turn | None:
        question = self.cleaned_data.get("follow_up_question", "")
        if not fold(question):
            return None
        return Turn(question, Answer(self.cleaned_data["follow_up_answer"]))


TurnFormSet = forms.formset_factory(TurnForm, extra=2, max_num=MOST_TURNS, absolute_max=MOST_TURNS)


class CorrectionForm(WhyForm):
    """All parts of an utterance. `history` and `evidence` are rows of their own."""

    scenario = forms.CharField(
        label="Scenario",
        required=False,
        max_length=20_000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )
    answer = forms.CharField(
        label="Answer",
        max_length=2000,
        help_text="Yes, No, or the follow-up question.",
        widget=forms.TextInput(attrs={**_WORD, "list": "answers"}),
        error_messages={"required": "Say what the answer is: Yes, No, or a follow-up question."},
    )
    field_order = ("scenario", "answer", "why", "seen")

    def __init__(
        self, data: Any = None, *, utterance: Utterance, draft: Mapping[str, str] | None = None
    ) -> None:
        """`draft` is what stood in the fields when it was saved, by their names."""
        self.utterance = utterance
        typed = draft or {}
        initial = {
            "scenario": typed.get("part-scenario", utterance.scenario),
            "answer": typed.get("part-answer", utterance.answer),
            "why": typed.get("part-why", ""),
        }
        super().__init__(data, initial=initial, prefix="part")
        rows = {
            name: turns_of_draft(typed, name) if typed else getattr(utterance, name)
            for name in ("history", "evidence")
        }
        self.history = TurnFormSet(data, initial=rows["history"], prefix="history")
        self.evidence = TurnFormSet(data, initial=rows["evidence"], prefix="evidence")

    @classmethod
    def of_draft(cls, draft: Mapping[str, str], *, utterance: Utterance) -> "CorrectionForm":
        """As if the draft had been submitted."""
        data: dict[str, Any] = {"part-scenario": "", **draft, "part-seen": utterance.version}
        for name in ("history", "evidence"):
            number = len(turns_of_draft(draft, name))
            # As initial ones: a row that is as it was would count as left empty.
            data |= {f"{name}-TOTAL_FORMS": number, f"{name}-INITIAL_FORMS": number}
        return cls(data, utterance=utterance)

    def is_valid(self) -> bool:
        rows = [self.history.is_valid(), self.evidence.is_valid()]
        return super().is_valid() and all(rows)

    def clean_scenario(self) -> str:
        scenario = str(self.cleaned_data["scenario"]).replace("\r\n", "\n")
        return scenario if fold(scenario) or scenario == self.utterance.scenario else ""

    def clean_answer(self) -> str:
        """Yes and No in the one spelling that counts; case 49: no blanks, and never MORE."""
        answer = str(self.cleaned_data["answer"])
        words = {"yes": "Yes", "no": "No", "irrelevant": "Irrelevant"}
        if answer == "MORE" or not fold(answer):
            raise forms.ValidationError("Say Yes or No, or write the follow-up question itself.")
        return words.get(answer.casefold(), answer)

    def parts(self) -> Parts:
        return Parts(
            self.cleaned_data["scenario"], _path(self.history), _path(self.evidence),
            self.cleaned_data["answer"],
        )  # fmt: skip


def turns_of_draft(draft: Mapping[str, str], name: str) -> list[dict[str, str]]:
    """The rows of turns that a draft has something in, up to the last such row."""
    rows = [
        {key: draft.get(f"{name}-{number}-{key}", "") for key in TURN_KEYS}
        for number in range(MOST_TURNS)
    ]
    while rows and not any(rows[-1].values()):
        rows.pop()
    return rows


def _path(rows: forms.BaseFormSet[TurnForm]) -> Path:
    return tuple(turn for row in rows.forms if (turn := row.turn))


class CorrectionDraftForm(DraftForm, SeenForm):
    """What the form of a correction holds, and the version of the utterance beside it."""


class AcceptTreeForm(forms.Form):
    seen = forms.CharField(max_length=40, widget=forms.HiddenInput)


class WaiverForm(forms.Form):
    reason = forms.ChoiceField(choices=Finding.Reason.choices, widget=forms.HiddenInput)
    number = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    utterance = forms.CharField(max_length=40, required=False, widget=forms.HiddenInput)
    why = forms.CharField(
        label="Why they may stay",
        max_length=LONGEST_REASON,
        widget=forms.TextInput(attrs=_WORD),
        error_messages={"required": "Say why they may stay: a waiver is in writing."},
    )

    def clean_why(self) -> str:
        why = str(self.cleaned_data["why"])
        if not fold(why):
            raise forms.ValidationError("Say in words why they may stay.")
        return why


class FindingFilter(forms.Form):
    """Every field may be left out; one that makes no sense filters nothing."""

    reason = forms.ChoiceField(choices=[("", "Any"), *Finding.Reason.choices], required=False)
    state = forms.ChoiceField(
        choices=[
            ("", "All"),
            ("blocks", "Block a release"),
            ("open", "Open"),
            ("imported", "As imported"),
            ("waived", "Waived"),
        ],
        required=False,
    )

    split = forms.ChoiceField(choices=[("", "All"), *Split.choices], required=False)

    def filtered(self, findings: FindingQuerySet) -> FindingQuerySet:
        self.is_valid()
        if split := self.cleaned_data.get("split"):
            findings = findings.in_split(split)
        if reason := self.cleaned_data.get("reason"):
            findings = findings.filter(reason=reason)
        by_state = {
            "blocks": findings.blocking,
            "open": findings.open,
            "imported": findings.as_imported,
            "waived": findings.waived,
        }
        chosen = by_state.get(self.cleaned_data.get("state", ""))
        return chosen() if chosen else findings

    @property
    def is_used(self) -> bool:
        return any(self.cleaned_data.values())


class FaultFilter(forms.Form):
    reason = forms.ChoiceField(choices=[("", "Any"), *ScenarioFault.Reason.choices], required=False)

    @property
    def chosen(self) -> str:
        self.is_valid()
        return str(self.cleaned_data.get("reason") or "")

    @property
    def is_used(self) -> bool:
        return bool(self.chosen)
