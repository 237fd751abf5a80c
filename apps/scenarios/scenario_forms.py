"""The shape of what people send about scenarios: writers, checkers and experts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms

from apps.scenarios.domain.fact_sheet import Sheet, Stated
from apps.scenarios.models import Scenario, ScenarioCheck, ScenarioQuerySet
from apps.scenarios.services.scenario_checks import Reading, Unrelated
from apps.snippets.domain.folding import fold
from apps.trees.path_forms import KeyForm

ANY = "any"
LONGEST_SCENARIO = 4000
SAYS = [
    (Stated.YES.value, "Yes"),
    (Stated.NO.value, "No"),
    (Stated.NOT.value, "Not said, or unclear"),
]
Verdict = ScenarioCheck.Verdict


class WrittenForm(forms.Form):
    """`pasted`: characters that came from the clipboard, as scenario.js counts them; what is no
    number counts as none."""

    text = forms.CharField(
        label="Your text",
        required=False,  # the service has a sentence for it
        max_length=LONGEST_SCENARIO,
        error_messages={
            "max_length": "A scenario has at most %(limit_value)d characters; "
            "this one has %(show_value)d."
        },
    )
    pasted = forms.CharField(required=False)

    def clean_text(self) -> str:
        return str(self.cleaned_data["text"]).replace("\r\n", "\n").strip()

    def clean_pasted(self) -> int:
        told = self.cleaned_data["pasted"]
        return int(told) if told.isascii() and told.isdigit() and len(told) < 7 else 0


class ScenarioForm(KeyForm, WrittenForm):
    """A submit."""


class ContradictForm(KeyForm):
    """Which two of the cards contradict each other: `card-0`, `card-1` and so on, and why."""

    note = forms.CharField(
        label="Why can nobody be both?",
        max_length=500,
        error_messages={"required": "Say in a few words why nobody can be both."},
    )

    def __init__(self, data: Any = None, *, cards: int, initial: Any = None) -> None:
        super().__init__(data, initial=initial)
        self.names = [f"card-{number}" for number in range(cards)]
        for name in self.names:
            # A box that is ticked sends its name, and drafts keep no value of it.
            self.fields[name] = forms.CharField(required=False)

    def clean_note(self) -> str:
        note = str(self.cleaned_data["note"]).strip()
        if not fold(note):
            raise forms.ValidationError("Say in a few words why nobody can be both.")
        return note

    @property
    def chosen(self) -> list[int]:
        """The numbers of the cards that are ticked."""
        here: Mapping[str, Any] = self.data if self.is_bound else self.initial
        return [number for number, name in enumerate(self.names) if name in here]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if len(self.chosen) != 2:
            self.add_error(None, "Choose the two cards that contradict each other.")
        return cleaned

    @property
    def cards(self) -> tuple[int, int]:
        first, second = self.chosen
        return first, second


class SaysForm(forms.Form):
    """What a text says to each of the questions: `says-0` and so on."""

    def __init__(
        self, data: Any = None, *, questions: Sequence[str], asked: int, initial: Any = None
    ) -> None:
        """The first `asked` of them must be answered; the others need not."""
        super().__init__(data, initial=initial)
        self.questions = list(questions)
        for number in range(len(questions)):
            is_asked = number < asked
            self.fields[f"says-{number}"] = forms.ChoiceField(
                choices=SAYS,
                required=is_asked,
                initial=None if is_asked else Stated.NOT.value,
                error_messages={"required": "Say what the text says to this."},
            )
        self.asked = asked

    def groups(self) -> Iterator[tuple[str, forms.BoundField]]:
        for number, question in enumerate(self.questions):
            yield question, self[f"says-{number}"]

    @property
    def asked_groups(self) -> list[tuple[str, forms.BoundField]]:
        return list(self.groups())[: self.asked]

    @property
    def other_groups(self) -> list[tuple[str, forms.BoundField]]:
        return list(self.groups())[self.asked :]

    def says(self) -> dict[str, Stated]:
        """By question."""
        return {
            question: Stated(self.cleaned_data[f"says-{number}"] or Stated.NOT)
            for number, question in enumerate(self.questions)
        }


class CheckForm(KeyForm, SaysForm):
    """`unrelated` is the question of another document that was to slip in; "" where there was
    none, and then nothing is asked about it."""

    unrelated = forms.ChoiceField(
        choices=SAYS, error_messages={"required": "Say what the text says to this."}
    )
    contradicts = forms.ChoiceField(
        label="Does that contradict anything that this rule asks?",
        choices=[("yes", "Yes"), ("no", "No")],
        error_messages={"required": "Say whether it contradicts the rule."},
    )
    own_words = forms.ChoiceField(
        label="Is it in words of its own?",
        choices=[("yes", "Yes"), ("no", "No, it is copied from the questions")],
        error_messages={"required": "Say whether it is in words of its own."},
    )
    verdict = forms.ChoiceField(
        label="May it stay?",
        choices=[
            (Verdict.APPROVES.value, "Approve it"),
            (Verdict.SENDS_BACK.value, "Send it back"),
        ],
        error_messages={"required": "Approve it, or send it back."},
    )
    note = forms.CharField(label="Why is it sent back?", required=False, max_length=500)

    def __init__(
        self, data: Any = None, *, questions: Sequence[str], asked: int, unrelated: str,
        initial: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(data, questions=questions, asked=asked, initial=initial)
        self.fields["unrelated"].label = unrelated
        if not unrelated:
            del self.fields["unrelated"], self.fields["contradicts"]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        is_back = cleaned.get("verdict") == Verdict.SENDS_BACK
        if is_back and not fold(cleaned.get("note", "")):
            self.add_error("note", "Say in words why it is sent back.")
        return cleaned

    def reading(self) -> Reading:
        verdict = Verdict(self.cleaned_data["verdict"])
        return Reading(
            says=self.says(),
            own_words=self.cleaned_data["own_words"] == "yes",
            verdict=verdict,
            reason=self.cleaned_data["note"].strip() if verdict == Verdict.SENDS_BACK else "",
            unrelated=self._unrelated(),
        )

    def _unrelated(self) -> Unrelated | None:
        if "unrelated" not in self.fields:
            return None
        told = self.cleaned_data
        return Unrelated(Stated(told["unrelated"]), contradicts=told["contradicts"] == "yes")


class SeenForm(forms.Form):
    """`seen` is the version of the sheet that the page showed."""

    seen = forms.IntegerField(min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)


class SheetForm(SeenForm, SaysForm):
    """What an expert decides. `sheet` is how it stands now."""

    def __init__(self, data: Any = None, *, questions: Mapping[str, str], sheet: Sheet) -> None:
        super().__init__(data, questions=list(questions.values()), asked=len(questions))
        self.folded = list(questions)
        for number, folded in enumerate(questions):
            self.fields[f"says-{number}"].initial = sheet[folded].value

    def decided(self) -> Sheet:
        return dict(zip(self.folded, self.says().values(), strict=True))


class ReasonForm(forms.Form):
    note = forms.CharField(
        label="Why?",
        max_length=500,
        widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}),
        error_messages={"required": "Say in a few words why."},
    )

    def clean_note(self) -> str:
        note = str(self.cleaned_data["note"]).strip()
        if not fold(note):
            raise forms.ValidationError("Say in a few words why.")
        return note


class BackForm(ReasonForm, SeenForm):
    """An expert sends a scenario back."""


class ScenarioFilter(forms.Form):
    """Every field may be left out; one that makes no sense says so and filters nothing."""

    q = forms.CharField(
        label="Search",
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"type": "search", "dir": "auto", "placeholder": "Its text"}),
    )
    state = forms.ChoiceField(
        choices=[("", "All but sent back"), *Scenario.State.choices, (ANY, "Any")], required=False
    )

    def filtered(self, scenarios: ScenarioQuerySet) -> ScenarioQuerySet:
        self.is_valid()
        if (state := self.cleaned_data.get("state")) != ANY:
            scenarios = scenarios.filter(state=state) if state else scenarios.kept()
        if text := self.cleaned_data.get("q"):
            scenarios = scenarios.filter(text__icontains=text)
        return scenarios

    @property
    def is_used(self) -> bool:
        return any(self.cleaned_data.values())
